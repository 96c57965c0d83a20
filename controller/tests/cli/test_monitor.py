"""`phb monitor` as a process: lines, signals, exit codes, options that are wrong."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from phb.cli import run
from phb.monitor.live.recording import read_recording
from phb.stamp.reflecting import Reflector, serve

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
POLICY = """
phb: 1
classes: [{name: gold, objectives: {minimum-rate: {value: 1, unit: kbit/s, basis: ethernet}}}]
actions: [{name: gold, class: gold}]
rules: [{name: first, match: {protocol: udp}, actions: [gold]}]
"""


@pytest.fixture(scope="module")
def address(run_switch, tmp_path_factory):
    """A switch that holds the policy."""
    folder = tmp_path_factory.mktemp("policy")
    address = run_switch().address
    (folder / "policy.yaml").write_text(POLICY)
    assert run(["push", "--address", address, "--no-state", str(folder / "policy.yaml")]) == 0
    return address


@pytest.fixture
def inventory(address, tmp_path):
    (tmp_path / "policy.yaml").write_text(POLICY)

    def write(*switches):
        lines = [f"  - {{name: {name}, address: '{where}', policies: [policy.yaml]}}" for name, where in switches]
        (tmp_path / "network.yaml").write_text("\n".join(["phb-inventory: 1", "switches:", *lines, ""]))
        return str(tmp_path / "network.yaml")

    return write


def test_lines_hangup_and_the_end(inventory, address):
    """A wrong inventory is told of and changes nothing; a right one is taken; SIGTERM ends it well."""
    path = inventory(("edge", address))
    words = [sys.executable, "-m", "phb", "monitor", "--inventory", path, "--json", "--interval", "0.1"]
    words += ["--metrics", "127.0.0.1:0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT) as process:

        def told(kind, word):
            for line in process.stdout:
                event = json.loads(line)
                if event["event"] == kind and word in event["message"]:
                    return event
            raise AssertionError(process.stderr.read())

        try:
            # Until then SIGHUP would end it.
            assert process.stderr.readline().startswith("metrics: http://127.0.0.1:")
            inventory(("edge", address), ("nowhere", "127.0.0.1:1"), ("nowhere", "127.0.0.1:2"))
            process.send_signal(signal.SIGHUP)
            assert "network.yaml:5" in told("trouble", "the inventory before holds on")["message"]
            # A file that has changed needs no signal.
            inventory(("edge", address), ("nowhere", "127.0.0.1:1"))
            assert told("switch-away", "can't be reached")["switch"] == "nowhere"
        finally:
            process.send_signal(signal.SIGTERM)
            process.stdout.read()
            errors = process.stderr.read()
        assert (process.wait(), errors) == (0, "")


def test_once_says_by_its_exit_code_whether_all_is_well(inventory, address, capsys):
    path = inventory(("edge", address))
    assert run(["monitor", "--inventory", path, "--once", "--interval", "0.1"]) == 0
    assert "gold" in capsys.readouterr().out
    path = inventory(("edge", address), ("nowhere", "127.0.0.1:1"))
    assert run(["monitor", "--inventory", path, "--once", "--interval", "0.1"]) == 1
    assert "(away)" in capsys.readouterr().out


@pytest.fixture(scope="module")
def reflector():
    """Answers from another thread: the command runs in this one's loop."""
    ready, places, over = threading.Event(), [], asyncio.Event()

    def told(where):
        places.append(where)
        ready.set()

    async def work():
        serving = asyncio.create_task(serve(Reflector(), "127.0.0.1", 0, told))
        await over.wait()
        serving.cancel()
        await asyncio.wait([serving])

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_until_complete, args=(work(),))
    thread.start()
    assert ready.wait(60)
    yield places[0]
    loop.call_soon_threadsafe(over.set)
    thread.join()
    loop.close()


def test_sessions_stand_beside_the_switches(inventory, address, reflector, capsys):
    path = inventory(("edge", address), ("other", address.replace("127.0.0.1", "localhost")))
    with Path(path).open("a") as file:
        file.write("stamp:\n")
        for name, where, switch in (("call", reflector, "edge"), ("dead", "127.0.0.1:9", "other")):
            words = f"name: {name}, class: gold, dscp: EF, rate: 100, wait: 1"
            file.write(f"  - {{{words}, reflector: '{where}', path: [{switch}]}}\n")
    once = ["monitor", "--inventory", path, "--once", "--interval", "0.1"]
    assert run(once) == 1
    told = capsys.readouterr().out
    assert re.search(r"^ dead +\(no reply\) *\n +no reply to 10 packets \(Connection refused\)$", told, re.MULTILINE)
    assert re.search(r"^ call +gold +10 +0 +\d+.*- +- .*edge", told, re.MULTILINE)
    # Only what leads through the switch that is meant.
    assert run([*once, "--switch", "edge", "--json"]) == 0
    (session,) = json.loads(capsys.readouterr().out)["sessions"]
    assert (session["session"], session["class"], session["dscp"], session["away"]) == ("call", "gold", 46, False)
    figures = session["figures"]
    assert (figures["sent"], figures["replies"], figures["there_ms"]) == (10, 10, None)
    assert figures["round_trip_ms"]["mean"] > 0
    assert session["path"] == [{"switch": "edge", "delay_us": {"mean": None, "p50": None, "p95": None, "p99": None}}]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("dscp: XX", "network.yaml:5: found 'XX', expected a DSCP"),
        ("dscp: 0, key-file: none.key", "none.key: found no such file"),
        ("dscp: 0, size: 45", "network.yaml:5: found 45, expected 44, or at least 48"),
    ],
)
def test_sessions_that_are_wrong(inventory, address, capsys, more, words):
    path = inventory(("edge", address))
    with Path(path).open("a") as file:
        file.write(f"stamp:\n  - {{name: call, class: gold, reflector: 127.0.0.1, {more}}}\n")
    assert run(["monitor", "--inventory", path, "--once"]) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--inventory", "missing.yaml"], "missing.yaml"),
        (["--address", "nonsense"], "--address"),
        (["--address", "127.0.0.1:1", "--metrics", "nonsense"], "--metrics"),
        (["--address", "127.0.0.1:1", "--history", "/proc/none/history"], "/proc/none/history"),
        (["--address", "127.0.0.1:1", "--history", "h.sqlite", "--history-keep", "minutes=x"], "--history-keep"),
        (["--address", "127.0.0.1:1", "--history-keep", "minutes=7d"], "--history-keep"),
        (["--address", "127.0.0.1:1", "--history", "h.sqlite", "--no-history"], "--no-history"),
        (["--address", "127.0.0.1:1", "--history", "mysql://db/phb"], "mysql://"),
        (["--address", "127.0.0.1:1", "--tls-ca", "missing.pem"], "missing.pem"),
    ],
)
def test_options_that_are_wrong(options, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(["monitor", *options]) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz"])
def test_what_is_monitored_is_recorded(inventory, address, tmp_path, name):
    words = ["monitor", "--inventory", inventory(("edge", address)), "--once", "--interval", "0.1"]
    assert run([*words, "--record", str(tmp_path / name)]) in (0, 1)
    recording = read_recording(tmp_path / name)
    assert recording.hello["switches"] == [{"name": "edge", "address": address, "groups": []}]
    details = [json.loads(line) for line in recording.lines]
    assert [each["kind"] for each in details[:2]] == ["detail", "detail"]
    assert recording.cut_at == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
def test_a_recording_that_cannot_be_written_ends_and_nothing_else(inventory, address, capsys):
    words = ["monitor", "--inventory", inventory(("edge", address)), "--once", "--interval", "0.1"]
    assert run([*words, "--record", "/dev/full"]) in (0, 1)
    assert "the recording ends: /dev/full: No space left on device" in capsys.readouterr().err
