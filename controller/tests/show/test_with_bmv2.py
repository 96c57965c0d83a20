"""Every ``phb show`` of a real bmv2 says what can be read there, and what can't. Skipped where bmv2 is missing."""

import json
import shutil
import socket
import subprocess
import time

import pytest

from phb.cli import run

pytestmark = pytest.mark.skipif(shutil.which("simple_switch_grpc") is None, reason="simple_switch_grpc is not here")

PATIENCE_S = 30
POLICY = """
phb: 1
ports:
  - {number: 1, name: line}
  - {number: 2, name: lan}
routes:
  - {destination: 10.0.2.0/24, port: line, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}
classes: [{name: gold}]
actions:
  - name: gold
    class: gold
    max-connections: 5
    meter:
      kind: single-rate
      committed-rate: {value: 64, unit: kbit/s, basis: ip}
      committed-burst-bytes: 300
      red: {drop: true}
rules:
  - {name: gold, match: {protocol: tcp, destination-ports: 5004}, actions: [gold]}
queueing:
  - port: line
    hold-queue: 40
    schedule:
      kind: classes
      queues: [{class: gold, level: 0, queue-limit: 20}, {class: class-default, queue-limit: 20}]
"""
SHOWN = {
    "policy": ("gold", "at most 5"),
    "queue": ("line: queueing strategy class-based", "Class gold, strict level 0: 0/20 queued, 0 dropped"),
    "class": ("gold", "class-default"),
    "meter": ("64000",),
    "port": ("line", "the switch doesn't speak gNMI: interfaces and shapers are not known"),
    "switch": ("nobody", "bmv2", "the switch doesn't tell: it has no gNMI", "admit.connection_limit", "applied"),
    "entries": ("set_class", "conversation.class_queue"),
    "counters": ("counter",),
}


def listens(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def address():
    with socket.socket() as probe, socket.socket() as other:
        probe.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        port, thrift_port = probe.getsockname()[1], other.getsockname()[1]
    # Two bmv2 with one Thrift port, of tests that run side by side, end each other.
    command = ["simple_switch_grpc", "--no-p4", "--device-id", "1", "--thrift-port", str(thrift_port)]
    command += ["--", "--cpu-port", "510"]
    command += ["--priority-queues", "8", "--grpc-server-addr", f"127.0.0.1:{port}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + PATIENCE_S
        while not listens(port):
            assert process.poll() is None, "simple_switch_grpc has ended"
            assert time.monotonic() < deadline, "simple_switch_grpc does not listen"
            time.sleep(0.05)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="module")
def pushed(address, tmp_path_factory):
    """What to say on the command line to look at a bmv2 that holds the policy."""
    folder = tmp_path_factory.mktemp("bmv2")
    path, state = folder / "policy.yaml", str(folder / "state.sqlite")
    path.write_text(POLICY)
    assert run(["push", "--target", "bmv2", "--address", address, "--state", state, str(path)]) == 0
    return ["--address", address], ["--state", state]


@pytest.mark.parametrize("command", SHOWN)
def test_everything_is_shown(command, pushed, capsys):
    where, state = pushed
    target = ["--target", "bmv2"] if command == "switch" else []
    options = [*where, *target, *([] if command in ("entries", "counters") else state)]
    capsys.readouterr()
    assert run(["show", command, *options]) == 0
    words = capsys.readouterr()
    assert [word for word in SHOWN[command] if word not in words.out] == []
    assert words.err == ""
    assert run(["show", command, "--json", *options]) == 0
    assert json.loads(capsys.readouterr().out) is not None


def test_monitor_reads_it_by_polls(pushed, capsys):
    """Counters have P4Runtime's own way; registers, so what waits in queues, can't be read."""
    where, state = pushed
    assert run(["monitor", *where, *state, "--once", "--json"]) == 0
    words = capsys.readouterr()
    (told,) = json.loads(words.out)["switches"]
    assert (told["away"], words.err) == (False, "")
    assert [(each["class"], each["queued"]) for each in told["classes"]] == [("class-default", None), ("gold", None)]
    assert all(each["sent_packets"] == 0 for each in told["classes"])
