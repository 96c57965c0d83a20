"""Letters that a terminal doesn't have: shown as numbers, never a traceback, whichever command writes them."""

import os
import subprocess
import sys

import pytest

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "NO_COLOR": "1"}
ASCII = {
    "PYTHONIOENCODING": {"PYTHONIOENCODING": "ascii"},
    "C locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}
POLICY = """\
phb: 1
node: Zürich-東京
rules: [{name: Grüße, match: {protocol: tcp}, actions: [größer]}]
actions: [{name: größer, set-dscp: 8}]
"""


def run(how, *words):
    command = [sys.executable, "-m", *map(str, words)]
    return subprocess.run(command, capture_output=True, env=ENVIRONMENT | ASCII[how], check=False)


@pytest.mark.parametrize("how", ASCII)
@pytest.mark.parametrize(
    "words",
    [("check",), ("lint",), ("explain", "--packet", "udp 10.0.0.1:1 > 10.0.0.2:2 in 1"), ("convert", "--to", "yaml")],
    ids=lambda words: words[0],
)
def test_names(tmp_path, how, words):
    path = tmp_path / "Bürgerbüro.yaml"
    path.write_text(POLICY, encoding="utf-8")
    ended = run(how, "phb", *words, path)
    assert ended.returncode == 0, ended.stderr
    assert b"Traceback" not in ended.stderr
    assert ended.stderr.isascii()
    # What is converted is a file, in UTF-8 wherever it goes.
    assert (ended.stdout.decode() if words[0] == "convert" else ended.stdout).isascii() is (words[0] != "convert")
    if words[0] == "check":
        assert b"Z\\xfcrich-\\u6771\\u4eac: ok" in ended.stdout


@pytest.mark.parametrize("how", ASCII)
@pytest.mark.parametrize("command", ["phb check", "phb_lab run", "phb_switch --json x"])
def test_errors(tmp_path, how, command):
    if command.startswith("phb_switch") and how == "PYTHONIOENCODING":
        pytest.skip("phb-switch is no Python program: it goes by the locale")
    ended = run(how, *command.split(), tmp_path / "fehlt-für-immer")
    assert ended.returncode == 2
    assert b"Traceback" not in ended.stderr
    assert ended.stderr.isascii()


def test_the_switch_says_where_it_listens(tmp_path):
    ready = tmp_path / "bereit-für-alles"
    command = [sys.executable, "-m", "phb_switch", "--no-p4", "--grpc-server-addr", f"unix:{tmp_path}/ö"]
    command += ["--ready-file", str(ready)]
    environment = ENVIRONMENT | ASCII["C locale"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        line = process.stdout.readline()
        process.terminate()
        assert b"Traceback" not in process.stderr.read()
    assert line.isascii()


@pytest.mark.parametrize("name", [b"\xff.yaml", b"a\xe9.yaml"])
def test_a_file_name_that_is_no_text(tmp_path, name):
    path = os.path.join(os.fsencode(tmp_path), name)  # noqa: PTH118 - bytes
    with open(path, "wb") as file:  # noqa: PTH123
        file.write(POLICY.encode())
    command = [sys.executable, "-m", "phb", "check", path]
    ended = subprocess.run(command, capture_output=True, env=ENVIRONMENT, check=False)
    assert ended.returncode == 2
    assert b"found a file name that isn't UTF-8, expected a readable policy file" in ended.stderr
    assert ended.stderr.count(b"\n") == 1
