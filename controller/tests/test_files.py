"""Files that are none, have no end, or are too large: one error that names them, from every option that takes one."""

import os
import signal
import socket
import subprocess
import sys

import pytest

from phb.errors import ArtifactError, InputError
from phb.files import LARGEST, open_file, read_bytes, read_text, write_text

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


def pipe(path):
    os.mkfifo(path)


def listening(path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


def huge(path):
    path.touch()
    os.truncate(path, LARGEST + 1)


KINDS = {
    "nothing": (lambda path: None, "no such file or directory"),
    "a folder": (lambda path: path.mkdir(), "a folder"),
    "a pipe": (pipe, "a pipe"),
    "a socket": (listening, "no such device or address"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "a device"),
    "another device": (lambda path: path.symlink_to("/dev/urandom"), "a device"),
    "a loop": (lambda path: path.symlink_to(path), "too many levels of symbolic links"),
}
LARGE = {"large": (huge, "more than 64 MiB")}


@pytest.mark.parametrize("case", KINDS | LARGE)
def test_what_is_no_file(tmp_path, case):
    make, found = (KINDS | LARGE)[case]
    path = tmp_path / "x"
    make(path)
    with pytest.raises(ArtifactError) as caught:
        read_bytes(path, "a readable file", ArtifactError)
    assert str(caught.value) == f"{path}: found {found}, expected a readable file"


NAMES = {"a\0b": "a name that no file can have", "\udcff": "a file name that isn't UTF-8"}


@pytest.mark.parametrize("name", NAMES)
def test_names_that_are_none(name):
    with pytest.raises(InputError, match=NAMES[name]):
        open_file(name, "a file")


def test_text(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"a\r\nb\rc\n\xc3\xa9")
    assert read_text(path, "a file") == "a\nb\nc\n\u00e9"
    path.write_bytes(b"ab\xff")
    with pytest.raises(InputError, match=r"x:1: found a byte that isn't UTF-8 at offset 2, expected UTF-8 text"):
        read_text(path, "a file")


def test_what_is_written_is_written_as_a_whole(tmp_path):
    path = tmp_path / "x"
    write_text(path, "one")
    path.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(path)
    write_text(link, "two")
    assert (path.read_text(), path.stat().st_mode & 0o777, link.is_symlink()) == ("two", 0o640, True)
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "three\udcff")
    assert path.read_text() == "two"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["link", "x"]


TAKING_FILES = {
    "check": ["check", "FILE"],
    "lint": ["lint", "FILE"],
    "convert": ["convert", "--to", "yaml", "FILE"],
    "plan": ["plan", "FILE"],
    "push": ["push", "FILE"],
    "watch": ["watch", "FILE"],
    "explain": ["explain", "POLICY", "--capture", "FILE"],
    "an inventory": ["plan", "--inventory", "FILE"],
    "a program": ["check", "POLICY", "--artifact", "FILE", "--p4info", "FILE"],
    "an authority": ["push", "POLICY", "--tls-ca", "FILE"],
    "names": ["show", "policy", "FILE"],
    "a state": ["history", "--state", "FILE"],
}


@pytest.mark.parametrize("command", TAKING_FILES)
@pytest.mark.parametrize("case", [case for case in KINDS if case != "nothing"])
def test_every_command_says_so(phb, tmp_path, examples, command, case):
    path = tmp_path / "x"
    KINDS[case][0](path)
    given = {"FILE": path, "POLICY": examples / "c3640.yaml"}
    code, out, err = phb(*(given.get(word, word) for word in TAKING_FILES[command]))
    assert (code, out) == (2, "")
    assert err.startswith(f"phb: {path}: found ")
    assert err.count("\n") == 1


def test_a_watch_whose_file_becomes_a_pipe_says_so_and_ends(tmp_path, examples, start_switch):
    path = tmp_path / "policy.yaml"
    path.write_text((examples / "c3640.yaml").read_text())
    command = [sys.executable, "-m", "phb", "watch", "--address", start_switch().address, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:
        while "in-sync" not in (line := process.stdout.readline()) and "applied" not in line:
            assert line
        path.unlink()
        pipe(path)
        while "rejected" not in (line := process.stdout.readline()):
            assert line
        assert f"{path}: found a pipe, expected a readable policy file; the policy before stays" in line
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
