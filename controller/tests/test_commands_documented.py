"""docs/operate/commands.md: every command and option is in it, and every command in it runs.

With PHB_RECORD=1 the outputs below the commands are written anew; they are for people and not compared, because entries
change with the program.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from phb.cli.commands import app

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "operate" / "commands.md"
ADDRESS = "192.0.2.1:9559"
LINES = 25  # of an output that are shown


def commands():
    """Every command by name, with all its options' names."""

    def walk(command, name):
        if hasattr(command, "commands"):
            for word, inner in command.commands.items():
                yield from walk(inner, f"{name} {word}")
        else:
            options = {option for each in command.params for option in each.opts if each.param_type_name == "option"}
            yield name, options

    return dict(walk(typer.main.get_command(app), "phb"))


def sections():
    """The document's sections by heading."""
    parts = re.split(r"^## (.*)\n", DOCUMENT.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", commands())
def test_every_command_and_option_is_documented(name):
    documented = sections()
    assert name in documented
    known = set(
        re.findall(r"(?<![\w-])--?[a-z][a-z0-9-]*", documented[name] + documented["Options of several commands"])
    )
    assert commands()[name] <= known
    assert f"$ {name}" in documented[name]


def test_nothing_else_is_documented():
    assert set(sections()) == {*commands(), "Options of several commands"}


def test_every_documented_command_runs(run_switch, tmp_path):
    text = DOCUMENT.read_text()
    address = run_switch().address
    (tmp_path / "network.yaml").write_text(
        "phb-inventory: 1\nswitches:\n"
        f"  - {{name: c3640, address: '{address}', policies: [examples/s390/c3640.yaml], groups: [edge]}}\n"
    )
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    paths = os.pathsep.join(sys.path)
    environment = os.environ | {"PYTHONPATH": paths, "PHB_STATE": str(tmp_path / "state.sqlite"), "COLUMNS": "110"}
    blocks = re.findall(r"^```\n\$ (phb .*)\n([^`]*)```$", text, flags=re.MULTILINE)
    assert blocks
    for command, shown in blocks:
        words = [sys.executable, "-m", *shlex.split(command.replace(ADDRESS, address))]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path)
        if command.startswith(("phb watch", "phb router")):
            output, last = "", "in-sync" if command.startswith("phb watch") else "primary"
            while last not in output and (line := process.stdout.readline()):
                output += line
            process.send_signal(signal.SIGTERM)
            process.stdout.read()
        else:
            output = process.stdout.read()
        process.stdout.close()
        assert process.wait() == 0, command
        if os.environ.get("PHB_RECORD"):
            text = text.replace(f"$ {command}\n{shown}```", f"$ {command}\n{_neutral(output, address)}```")
    if os.environ.get("PHB_RECORD"):
        DOCUMENT.write_text(text)


def _neutral(output, address):
    """Without what differs from one run to the next."""
    output = output.replace(address, ADDRESS)
    output = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?=Z)", "2026-11-21T09:00:00", output)
    output = re.sub(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(Z|\+00:00)", "2026-11-21T09:00:00.000Z", output)
    output = re.sub(r"\S+@[^\s)]+", "ann@office", output)
    lines = [line.rstrip() for line in output.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    more = [f"... {len(lines) - LINES} more lines"] if len(lines) > LINES else []
    return "".join(f"{line}\n" for line in lines[:LINES] + more)
