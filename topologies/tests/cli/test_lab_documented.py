"""docs/networks/lab.md and the help texts: every command and option is there, and what they show works.

With PHB_RECORD=1 the outputs below the commands are written anew; they are for people and not compared.
"""

import inspect
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from phb_lab.cli import app

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = ROOT / "docs" / "networks" / "lab.md"
SHARED = "Options of several commands"
# Sections that are about something else than a command.
OTHERS = {SHARED, "The results file", "The page"}
LINES = 25  # of an output that are shown

COMMANDS = typer.main.get_command(app).commands
BLOCK = re.compile(r"^```\n\$ (phb-lab .*)\n([^`]*)```$", re.MULTILINE)


def sections():
    parts = re.split(r"^## (.*)\n", DOCUMENT.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def examples(command):
    """What stands below "Examples:" in a command's help, each as one line."""
    text = inspect.getdoc(command.callback).partition("Examples:")[2]
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def phb_lab(*arguments, cwd, **environment):
    command = [sys.executable, "-m", "phb_lab", *arguments]
    known = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "FORCE_COLOR", "COLUMNS"}}
    known["PYTHONPATH"] = os.pathsep.join(sys.path)
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=known | environment)


def test_every_command_has_its_section_and_nothing_else_does():
    assert set(sections()) == {*(f"phb-lab {name}" for name in COMMANDS), *OTHERS}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_documented_and_an_example_shown(name):
    section = sections()[f"phb-lab {name}"]
    options = {option for each in COMMANDS[name].params if each.param_type_name == "option" for option in each.opts}
    known = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", section + sections()[SHARED]))
    assert options - known - {"--help", "-h"} == set()
    assert f"$ phb-lab {name}" in section


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_examples_that_the_command_understands(name):
    found = examples(COMMANDS[name])
    assert found
    for example in found:
        words = shlex.split(example)
        assert words[:2] == ["phb-lab", name], example
        with COMMANDS[name].make_context(name, words[2:], resilient_parsing=False) as context:
            assert context.args == []


def test_every_documented_command_runs(tmp_path):
    text = DOCUMENT.read_text()
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    blocks = BLOCK.findall(text)
    assert len(blocks) >= len(COMMANDS)
    for command, shown in blocks:
        done = phb_lab(*shlex.split(command)[1:], cwd=tmp_path, COLUMNS="110")
        assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        if os.environ.get("PHB_RECORD"):
            text = text.replace(f"$ {command}\n{shown}```", f"$ {command}\n{_shortened(done.stdout)}```")
    assert (tmp_path / "s390.html").read_text().startswith("<!doctype html>")
    if os.environ.get("PHB_RECORD"):
        DOCUMENT.write_text(text)


def _shortened(output):
    lines = [line.rstrip() for line in re.sub(r"took [0-9.]+ s", "took 0.1 s", output).strip("\n").splitlines()]
    more = [f"... {len(lines) - LINES} more lines"] if len(lines) > LINES + 1 else []
    return "".join(f"{line}\n" for line in (lines[:LINES] if more else lines) + more)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_commands_and_options(tmp_path, shell):
    variable = {"_PHB_LAB_COMPLETE": f"complete_{shell}", "_TYPER_COMPLETE_ARGS": "phb-lab comp"}
    variable |= {"COMP_WORDS": "phb-lab comp", "COMP_CWORD": "1", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    code = "import sys; sys.argv[0] = 'phb-lab'; from phb_lab.__main__ import main; main()"
    known = os.environ | variable | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=known, cwd=tmp_path, check=False
    )
    assert "compare" in done.stdout, done.stderr
    assert "sweep" not in done.stdout


def test_colour_is_for_terminals_only(tmp_path):
    (tmp_path / "r.json").write_text(
        '{"network": "s390", "mode": "virtual", "seed": 1, "wall_s": 1, "simulated_s": 1, "figures": '
        '[{"test": "t", "quantity": "q", "unit": "s", "measured": 1, "published": 2, "low": 3}]}'
    )
    assert "\x1b[" not in phb_lab("compare", "r.json", cwd=tmp_path).stdout
    assert "\x1b[1;31m" in phb_lab("compare", "r.json", cwd=tmp_path, FORCE_COLOR="1", TERM="xterm").stdout


def test_the_version_is_printed(tmp_path):
    assert re.fullmatch(r"phb-lab \d+\.\d+\.\d+\n", phb_lab("--version", cwd=tmp_path).stdout)
