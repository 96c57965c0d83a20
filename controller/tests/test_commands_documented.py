"""docs/operate/commands.md: every command and option is in it, and every command in it runs.

With PHB_RECORD=1 the outputs below the commands are written anew; they are for people and not compared, because entries
change with the program.
"""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest
import typer

from controller.tests.monitor.made_up_history import write_history
from controller.tests.terminal import Terminal
from phb.cli.commands import app

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "operate" / "commands.md"
ADDRESS = "192.0.2.1:9559"
REFLECTOR = "192.0.2.1:862"
LINES = 25  # of an output that are shown
_UNTIL = {"phb watch": "in-sync", "phb router": "primary", "phb stamp reflect": "reflecting"}
"""What those say that run until a signal."""
_DIFFERS = "phb diff"
"""What is shown with a difference, which is its exit code."""
_DRAWS = {"phb top": "class-default"}
"""What those show that draw on a terminal until somebody quits; the text below them is written by hand."""


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


@pytest.fixture
def reflector():
    """Addresses for two reflectors; at the first one runs."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(2)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        first, second = (f"127.0.0.1:{each.getsockname()[1]}" for each in sockets)
    command = [sys.executable, "-m", "phb", "stamp", "reflect", "--bind", first]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout.readline() == f"reflecting at {first}\n"
        yield first, second
        process.terminate()


def test_every_documented_command_runs(run_switch, reflector, tmp_path):
    text = DOCUMENT.read_text()
    address = run_switch().address
    (tmp_path / "network.yaml").write_text(
        "phb-inventory: 1\nswitches:\n"
        f"  - {{name: c3640, address: '{address}', policies: [examples/s390/c3640.yaml], groups: [edge]}}\n"
    )
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    write_history(tmp_path / "history.sqlite")
    paths = os.pathsep.join(sys.path)
    environment = os.environ | {"PYTHONPATH": paths, "PHB_STATE": str(tmp_path / "state.sqlite"), "COLUMNS": "110"}
    environment["PHB_HISTORY"] = str(tmp_path / "history.sqlite")
    blocks = re.findall(r"^```\n\$ (phb .*)\n([^`]*)```$", text, flags=re.MULTILINE)
    assert blocks
    for command, shown in blocks:
        near, other = reflector
        far = other if command.startswith("phb stamp reflect") else near
        words = [sys.executable, "-m", *shlex.split(command.replace(ADDRESS, address).replace(REFLECTOR, far))]
        if drawn := next((word for start, word in _DRAWS.items() if command.startswith(start)), None):
            with Terminal(words, environment, tmp_path, columns=100) as terminal:
                terminal.until(drawn)
                terminal.press("q")
                assert terminal.ended() == (0, True), command
            continue
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path)
        if last := next((word for start, word in _UNTIL.items() if command.startswith(start)), None):
            output = ""
            while last not in output and (line := process.stdout.readline()):
                output += line
            process.send_signal(signal.SIGTERM)
            process.stdout.read()
        else:
            output = process.stdout.read()
        process.stdout.close()
        assert process.wait() == (1 if command.startswith(_DIFFERS) else 0), command
        if os.environ.get("PHB_RECORD"):
            text = text.replace(
                f"$ {command}\n{shown}```", f"$ {command}\n{_neutral(output.replace(far, REFLECTOR), address)}```"
            )
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
