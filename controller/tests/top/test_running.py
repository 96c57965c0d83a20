"""`phb top` as a process on a terminal, with real switches: how it ends, and what it does without a terminal."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from controller.tests.terminal import PATIENCE_S, Terminal
from phb.errors import InputError
from phb.top.running import require_terminal

POLICY = """
phb: 1
classes: [{name: gold, objectives: {minimum-rate: {value: 1, unit: kbit/s, basis: ethernet}}}]
actions: [{name: gold, class: gold}]
rules: [{name: first, match: {protocol: udp}, actions: [gold]}]
"""
TOP = [sys.executable, "-m", "phb", "top"]
COLOURS = (b"[31m", b";31m", b"[32m", b";32m", b"[36m", b";36m")
BACK = b"\x1b[?1049l"  # back from the screen that programs draw on


@pytest.fixture
def environment(tmp_path):
    return os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "XDG_STATE_HOME": str(tmp_path)}


@pytest.fixture
def policy(tmp_path):
    (tmp_path / "policy.yaml").write_text(POLICY)
    return str(tmp_path / "policy.yaml")


def test_a_switch_is_watched_killed_and_told_of(run_switch, policy, environment, tmp_path):
    """On Ctrl-Z the terminal is as before, afterwards it goes on; a switch that is killed is told of."""
    switch = run_switch()
    push = [sys.executable, "-m", "phb", "push", "--address", switch.address, policy]
    subprocess.run(push, env=environment, check=True, stdout=subprocess.DEVNULL)
    (tmp_path / "network.yaml").write_text(
        f"phb-inventory: 1\nswitches: [{{name: edge, address: '{switch.address}', policies: [policy.yaml]}}]\n"
    )
    command = [*TOP, "--inventory", str(tmp_path / "network.yaml"), "--interval", "0.2"]
    with Terminal(command, environment, columns=100) as terminal:
        terminal.until("push 1 by ")
        terminal.press("\x1a")
        terminal.until(BACK.decode())
        # Stopped, and not ended.
        assert os.WIFSTOPPED(os.waitpid(terminal.process.pid, os.WUNTRACED)[1])
        before = len(terminal.drawn)
        os.kill(terminal.process.pid, signal.SIGCONT)
        terminal.until("gold", before)
        switch.kill()
        terminal.until("switch-away")
        terminal.press("\x1b[21~")  # F10
        assert terminal.ended() == (0, True)
        assert terminal.drawn.count(BACK) == 2
        assert [each for each in COLOURS if each in terminal.drawn]
        assert b"Traceback" not in terminal.drawn


ENDS = {
    "Ctrl-C": (lambda terminal: terminal.press("\x03"), 130),
    "hung up": (lambda terminal: terminal.process.send_signal(signal.SIGHUP), 0),
}


@pytest.mark.parametrize("case", ENDS)
def test_it_ends_and_the_terminal_is_as_before(case, policy, environment):
    end, code = ENDS[case]
    without_colours = environment | {"NO_COLOR": "1"}
    with Terminal([*TOP, "--address", "127.0.0.1:1", policy], without_colours) as terminal:
        terminal.until("away")
        end(terminal)
        assert terminal.ended() == (code, True)
        assert BACK in terminal.drawn
        assert b"Traceback" not in terminal.drawn
        assert not [each for each in COLOURS if each in terminal.drawn]


def test_it_ends_when_the_terminal_is_closed(policy, environment):
    with Terminal([*TOP, "--address", "127.0.0.1:1", policy], environment) as terminal:
        terminal.until("away")
        terminal.close()
        assert terminal.process.wait(PATIENCE_S) == 0


@pytest.mark.parametrize("missing", ["stdin", "stdout", "stderr"])
def test_without_a_terminal_it_says_so(missing, monkeypatch):
    opened = [os.fdopen(each, "r+b", buffering=0) for each in pty.openpty()]
    for stream in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, f"__{stream}__", opened[1])
    monkeypatch.setenv("TERM", "xterm")
    require_terminal()
    with monkeypatch.context() as context, Path(os.devnull).open() as nothing:
        context.setattr(sys, f"__{missing}__", nothing)
        with pytest.raises(InputError, match=r"isn't a terminal, .* phb monitor --once"):
            require_terminal()
    monkeypatch.setenv("TERM", "dumb")
    with pytest.raises(InputError, match="a terminal that can't draw"):
        require_terminal()
    for each in opened:
        each.close()


def test_the_command_says_so(phb, policy):
    code, out, err = phb("top", policy)
    assert (code, out) == (2, "")
    assert "isn't a terminal" in err
