"""The command as a process: where its output goes, how it is interrupted, how it looks."""

import os
import pty
import signal
import subprocess
import sys
import time
from importlib.metadata import version

import pytest

PHB = [sys.executable, "-m", "phb"]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
ENVIRONMENT |= {"PYTHONPATH": os.pathsep.join(sys.path)}


def shell(line, **extra):
    return subprocess.run(
        ["/bin/bash", "-c", f'phb() {{ "{sys.executable}" -m phb "$@"; }}\n{line}'],
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT | extra,
    )


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("phb schema > /dev/full", "phb: standard output: No space left on device\n"),
        ("phb schema >&-", "phb: standard output: Bad file descriptor\n"),
        ("phb --version > /dev/full", "phb: standard output: No space left on device\n"),
        ("set -o pipefail; phb schema | true", "phb: standard output: Broken pipe\n"),
    ],
)
def test_a_result_that_nobody_gets_is_one_line_and_exit_code_1(line, message):
    result = shell(line)
    assert result.stderr == message
    assert result.returncode == 1


@pytest.mark.parametrize("line", ["phb check none.yaml 2>&-", "phb check none.yaml 2>/dev/full", "phb frobnicate 2>&-"])
def test_without_standard_error_the_exit_code_still_tells(line):
    result = shell(line)
    assert (result.returncode, result.stdout, result.stderr) == (2, "", "")


def test_without_standard_input():
    assert shell("phb --version <&-").stdout == f"phb {version('phb')}\n"


@pytest.mark.parametrize("seconds", [0.0, 0.02, 0.05, 0.1, 0.2])
def test_ctrl_c_at_any_time_leaves_no_traceback_of_ours(c3640, seconds):
    process = subprocess.Popen([*PHB, "check", c3640], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    # Python's own imports, before the first line of ours that can do anything about it, may be interrupted loudly.
    assert b"phb/cli" not in errors
    assert process.returncode in (0, 1, 130, -signal.SIGINT)


@pytest.fixture
def c3640(examples):
    return str(examples / "c3640.yaml")


def on_terminal(arguments, columns, **extra):
    """What a terminal of so many columns gets."""
    controller, terminal = pty.openpty()
    os.set_blocking(controller, True)
    environment = ENVIRONMENT | {"TERM": "xterm-256color", "COLUMNS": str(columns)} | extra
    with subprocess.Popen([*PHB, *arguments], stdout=terminal, stderr=terminal, env=environment):
        os.close(terminal)
        received = b""
        while True:
            try:
                part = os.read(controller, 65536)
            except OSError:  # EIO: the other side is closed
                break
            received += part
    os.close(controller)
    return received.decode()


@pytest.fixture
def mvs074(examples):
    names = ("mvs074.yaml", "mvs074-osa2.yaml", "policy-agent-precedence-osa2.conf")
    return [str(examples / name) for name in names]


def test_colour_on_a_terminal_unless_it_is_unwanted(mvs074):
    command = ["check", "--at", "1999-03-01T12:00", *mvs074]
    assert "\x1b[" in on_terminal(command, 200)
    assert "\x1b[3" not in on_terminal(command, 200, NO_COLOR="1")


def test_a_narrow_terminal_cuts_no_name(mvs074):
    shown = on_terminal(["check", "--at", "1999-03-01T12:00", *mvs074], 30)
    assert "rule1" in shown
    assert f"{mvs074[2]}:66" in shown
    assert "…" not in shown
