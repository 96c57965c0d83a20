"""A real switch, `phb monitor --metrics`, and `phb show`: one set of counters, three ways, the same figures."""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from metrics_pages import values

from phb.cli import run
from phb.explain import parse_packet
from phb.monitor.metrics.delays import FINENESS, Bounds
from phb.origin import Origin
from phb_switch import Network, PortConfig, Switch

POLICY = """
phb: 1
node: dut
ports:
  - {number: 1, name: line, rate: {value: 256, unit: kbit/s, basis: ethernet}}
  - {number: 2, name: lan}
routes:
  - {destination: 10.0.2.0/24, port: line, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}
classes: [{name: gold}, {name: bulk}]
actions:
  - name: gold
    class: gold
    meter:
      kind: single-rate
      committed-rate: {value: 64, unit: kbit/s, basis: ip}
      committed-burst-bytes: 600
      red: {drop: true}
  - {name: bulk, class: bulk}
rules:
  - {name: blocked, match: {protocol: tcp, destination-ports: 23}, permission: blocked}
  - {name: gold, match: {protocol: udp, destination-ports: 5004}, actions: [gold]}
  - {name: bulk, match: {protocol: udp, destination-ports: 20}, actions: [bulk]}
queueing:
  - port: line
    schedule:
      kind: classes
      queues: [{class: gold, level: 0, queue-limit: 30}, {class: bulk, level: 1, queue-limit: 10}]
"""
SECOND_NS = 10**9
KINDS = {
    "udp 10.0.1.1:700 > 10.0.2.1:5004 length 200": 12,
    "udp 10.0.1.1:700 > 10.0.2.1:20 length 1000": 40,
    "udp 10.0.1.1:700 > 10.0.2.1:9 length 100": 5,
    "tcp 10.0.1.1:700 > 10.0.2.1:23": 3,
    "udp 10.0.1.1:700 > 10.0.9.9:9 length 100": 2,
}


@pytest.fixture
def switch() -> Switch:
    return Switch("dut", {1: PortConfig(256_000), 2: PortConfig()})


def network(switch) -> Network:
    """Give a network that sends all kinds of packets to the switch, one each millisecond, twice within two seconds."""
    frames = [parse_packet(text, Origin("test")).frame for text, number in KINDS.items() for _ in range(number)]
    times = [second * SECOND_NS + place * 1_000_000 for second in range(2) for place in range(len(frames))]
    made = Network(1)
    made.add_switch(switch)
    made.add_replay("source", list(zip(times, frames * 2, strict=True)))
    made.add_replay("sink", [])
    made.connect("source", 0, "dut", 2)
    made.connect("dut", 1, "sink", 0)
    return made


@contextmanager
def monitored(*options: str) -> Iterator[str]:
    """Run `phb monitor`; give the address of its page."""
    command = [sys.executable, "-m", "phb", "monitor", *options, "--metrics", "127.0.0.1:0", "--interval", "0.1"]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    running = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        said = running.stderr.readline()
        found = re.search(r"http://\S+/metrics", said)
        assert found, said + running.stderr.read()
        yield found[0]
    finally:
        running.send_signal(signal.SIGTERM)
        _, errors = running.communicate(timeout=60)
    assert (running.returncode, errors) == (0, "")


def page(url: str) -> str:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode()


def told(text: str) -> dict[str, object]:
    """Give what the page says, in the form of `shown`."""
    classes = {each["class"]: [int(count)] for each, count in values(text, "phb_class_sent_packets_total")}
    for each, count in values(text, "phb_class_sent_bytes_total"):
        classes[each["class"]].append(int(count))
    policies = {
        (each["policy"], each["colour"]): int(count)
        for each, count in values(text, "phb_policy_packets_total")
        if count
    }
    drops = {
        (each["policy"], each["reason"]): int(count)
        for each, count in values(text, "phb_policy_dropped_packets_by_reason_total")
    }
    ports = {each["port"]: int(count) for each, count in values(text, "phb_port_sent_bytes_total")}
    delays = {
        (each["class"], round(float(each["le"]) * 1e6)): int(count)
        for each, count in values(text, "phb_class_delay_seconds_bucket")
        if each["le"] != "+Inf"
    }
    return {"classes": classes, "policies": policies, "drops": drops, "ports": ports, "delays": delays}


def shown(show, bounds) -> dict[str, object]:
    """Give what `phb show` says."""
    classes = show("class")
    policies = [(row["rule"] or "(no rule)", row) for row in show("policy")]
    return {
        "classes": {row["class"]: [row["packets"], row["bytes"]] for row in classes},
        "policies": {
            (name, colour): each["packets"]
            for name, row in policies
            for colour, each in row["colours"].items()
            if each["packets"]
        },
        "drops": {(name, reason): count for name, row in policies for reason, count in row["drops"].items()},
        "ports": {row["name"]: row["bytes"] for row in show("port")},
        "delays": {
            (row["class"], bound): sum(bucket["packets"] for bucket in row["histogram"] if bucket["below_us"] <= bound)
            for row in classes
            for bound in bounds
        },
    }


def test_metrics_say_what_show_says(switch, address, write_file, capsys):
    path = write_file("policy.yaml", POLICY)
    where = ["--address", address]
    assert run(["push", *where, path]) == 0
    traffic = network(switch)

    def show(what: str):
        capsys.readouterr()
        assert run(["show", what, "--json", *where, path]) == 0
        return json.loads(capsys.readouterr().out)

    bounds = [round(bound * 1e6) for bound in Bounds(FINENESS[1]).seconds]
    with monitored(*where, path) as url:
        for second in range(2):
            # Half a second, so that packets wait.
            traffic.run(second * SECOND_NS + SECOND_NS // 2)
            expected = shown(show, bounds)
            for _ in range(100):
                found = told(page(url))
                if found == expected:
                    break
                time.sleep(0.05)
            assert found == expected
    assert expected["drops"]["gold", "policed"] > 0
    assert expected["drops"]["(no rule)", "no route"] == 4
    assert expected["classes"]["bulk"][0] > 0
    assert len({count for (name, _), count in expected["delays"].items() if name == "bulk"}) > 2
