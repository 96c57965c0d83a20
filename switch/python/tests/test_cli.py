"""The command's words: help, bad input. What it does on interfaces is in test_interfaces.py."""

import re
from pathlib import Path

import pytest

from phb_switch.cli import run

from .support import PROGRAMS


def refused(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("phb-switch: ")
    return captured.err


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    printed = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    for words in ("--interface", "--grpc-server-addr", "--port-rate", "Examples:", "phb-switch --no-p4 -i 0@veth0"):
        assert words in printed


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give a program"),
        (["absent.json"], "absent.json: No such file"),
        (["--no-p4", "-i", "veth0"], "expected PORT@INTERFACE"),
        (["--no-p4", "-i", "0@"], "expected PORT@INTERFACE"),
        (["--no-p4", "-i", "512@veth0"], "port from 0 to 511"),
        (["--no-p4", "-i", "0@a", "-i", "0@b"], "port 0 is a already"),
        (["--no-p4", "-i", "0@a", "-i", "1@a"], "a is attached already"),
        (["--no-p4", "-i", "0@absent0"], "there is no interface absent0"),
        (["--no-p4", "-i", "3@lo", "--cpu-port", "3"], "--cpu-port 3: the port is lo already"),
        (["--no-p4", "--device-id", "x"], "--device-id"),
        (["--no-p4", "--levitate"], "there is no option --levitate"),
        (["--no-p4", "--port-rate", "0=256k"], "port 0 has no interface"),
        (["--no-p4", "-i", "0@lo", "--port-rate", "0=fast"], "expected"),
        (["--no-p4", "-i", "0@lo", "--port-rate", "0=0"], "expected"),
        (["--no-p4", "-i", "0@lo", "--port-rate", "256k"], "expected PORT="),
        (["--no-p4", "-i", "0@lo", "--transmit-ring", "0=-1"], "expected a number of frames"),
        (["--no-p4", "--grpc-server-addr", "nowhere"], "expected HOST:PORT"),
        (["--no-p4", "--grpc-server-addr", "127.0.0.1:99999"], "expected a port from 0 to 65535"),
        (["--no-p4", "-i", "1@lo", "--drop-port", "1"], "--drop-port 1: expected a port that is not in use"),
        (["--no-p4", "--", "--grpc-server-addr", "192.0.2.1:9559"], "can not listen at 192.0.2.1:9559"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: list[str], words: str) -> None:
    assert words in refused(capsys, *arguments)


def test_bad_program(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text((PROGRAMS / "router.json").read_text().replace('"assign"', '"levitate"', 1))
    message = refused(capsys, str(broken))
    assert message.startswith(f"phb-switch: {broken}: artifact /")
    broken.write_bytes(b"\xff")
    assert "not UTF-8" in refused(capsys, str(broken))
