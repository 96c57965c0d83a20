"""``phb explain`` as a user calls it."""

import json

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import PcapWriter

from phb.cli import run
from phb.explain.words import decimals

POLICY = """
phb: 1
time-zone: UTC
ports: [{number: 1, name: line}, {number: 2, name: lan}]
routes:
  - {destination: 10.0.2.0/24, port: line, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}
actions:
  - {name: voice, set-dscp: EF}
queueing:
  - {port: line, schedule: {kind: fifo}, hold-queue: 5}
rules:
  - {name: night, valid: {time: 22:00-24:00}, match: {protocol: udp}, permission: blocked}
  - {name: voice, match: {protocol: udp, destination-ports: 5004}, actions: [voice]}
"""
VOICE = "udp 10.0.1.1:1000 > 10.0.2.1:5004 in lan"
DAY, NIGHT = "2026-03-02T12:00", "2026-03-02T23:00"


@pytest.fixture
def policy(write_file):
    return write_file("policy.yaml", POLICY)


@pytest.fixture
def capture(tmp_path):
    """Thirty packets of 1000 bytes in ten milliseconds, at 2001-09-09 01:46:40 UTC."""
    with PcapWriter(str(tmp_path / "a.pcap"), nano=True) as writer:
        for number in range(30):
            packet = Ether() / IP(src="10.0.1.1", dst="10.0.2.1") / UDP(sport=number, dport=5004) / bytes(958)
            packet.time = 1_000_000_000 + number / 3000
            writer.write(packet)
    return str(tmp_path / "a.pcap")


def test_for_people(policy, capsys):
    assert run(["explain", policy, "--at", DAY, "--packet", VOICE]) == 0
    assert capsys.readouterr().out == (
        "1. 10.0.1.1:1000 > 10.0.2.1:5004, 114 bytes, in lan -> to line\n"
        f"   rule 'voice' at {policy}:13, by protocol, destination_port\n"
        f"   mark: ToS 0 (CS0) becomes 184 (EF)  ({policy}:8)\n"
        f"   forward: route 10.0.2.0/24 to port line, next hop 02:00:00:00:00:02  ({policy}:6)\n"
        f"   conversation: first in, first out  ({policy}:10)\n"
        "   class class-default, green, fifo\n"
    )


def test_short_waits_are_not_shown_as_none(policy, capsys):
    """A frame of 114 bytes is on a line of 100 Gbit/s for 9 ns."""
    together = [part for _ in range(3) for part in ("--packet", VOICE)]
    assert run(["explain", policy, "--at", DAY, "--rate", "line=100000000000", *together]) == 0
    out = capsys.readouterr().out
    assert "waits 0.000" not in out
    assert "waits 9e-06 ms" in out


@pytest.mark.parametrize(
    ("value", "digits", "words"),
    [(0.0314, 3, "0.031"), (0.0004, 3, "0.0004"), (2e-05, 4, "2e-05"), (0, 3, "0.000"), (12.5, 1, "12.5")],
)
def test_decimals(value, digits, words):
    assert decimals(value, digits) == words


def test_times_of_day_count(policy, capsys):
    run(["explain", policy, "--at", NIGHT, "--packet", VOICE])
    assert "-> dropped: blocked" in capsys.readouterr().out


def test_why_not(policy, capsys):
    run(["explain", policy, "--at", DAY, "--why", "--packet", "udp 10.0.1.1:1000 > 10.0.2.1:5005 in lan"])
    assert f"   not 'voice' at {policy}:13: destination_port 5005, not 5004\n" in capsys.readouterr().out


def test_for_programs(policy, capsys):
    run(["explain", policy, "--at", DAY, "--json", "--packet", VOICE, "--packet", "89 10.0.1.1 > 10.9.9.9 in 2"])
    told = json.loads(capsys.readouterr().out)
    first, second = told["packets"]
    assert first["input_rule"] == {
        "rule": "'voice'",
        "file": policy,
        "line": 13,
        "fields": ["protocol", "destination_port"],
    }
    assert (first["egress_port"], first["dscp"], first["drop_reason"]) == (
        "line",
        {"before": "CS0", "after": "EF"},
        None,
    )
    assert (second["input_rule"], second["drop_reason"], second["decided_by"]) == (None, "no route", "forward")
    assert told["summary"]["total"]["dropped"] == 1


def test_a_capture_is_summed_up(policy, capture, capsys):
    assert run(["explain", policy, "--capture", capture, "--port", "lan", "--rate", "line=1000000", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["packets"] == []
    summary = told["summary"]
    # 1000 bytes take 8 ms: in 10 ms two go to the line, and five wait.
    assert summary["drops"]["hold queue"]["packets"] == 30 - 7
    assert summary["classes"]["class-default"]["delay_max_ns"] > 39_000_000
    assert sum(tally["packets"] for tally in summary["rules"].values()) == 30


def test_without_a_rate_nothing_of_a_capture_waits(policy, capture, capsys):
    run(["explain", policy, "--capture", capture, "--port", "2", "--details", "--json"])
    told = json.loads(capsys.readouterr().out)
    assert len(told["packets"]) == 30
    assert {packet["queueing_ns"] for packet in told["packets"]} == {0}


def test_the_clock_of_a_capture_counts(write_file, capture, capsys):
    text = POLICY.replace("22:00-24:00", "1:00-2:00")
    run(["explain", write_file("policy.yaml", text), "--capture", capture, "--port", "lan", "--json"])
    assert json.loads(capsys.readouterr().out)["summary"]["drops"]["blocked"]["packets"] == 30


def test_a_capture_for_people(policy, capture, capsys):
    run(["explain", policy, "--capture", capture, "--port", "lan"])
    out = capsys.readouterr().out
    assert "30 packets, 0 dropped" in out
    assert f"'voice'{policy}:13" in folded(out)


def folded(out):
    """The first column of a table, whose words may be folded, in one line."""
    return "".join(line[1:].split("   ")[0].strip() for line in out.split("\n")).replace(" ", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no packet, expected --packet TEXT or --capture FILE"),
        (["--packet", "udp 10.0.1.1 > 10.0.2.1"], "a packet without an ingress port"),
        (
            ["--packet", "udp 10.0.1.1 > 10.0.2.1 in nowhere"],
            "port 'nowhere', expected a port's number or one of 'line', 'lan'",
        ),
        (["--packet", VOICE, "--rate", "line=fast"], "'line=fast', expected PORT=BITS"),
        (["--packet", VOICE, "--rate", "nowhere=5"], "'nowhere=5', expected PORT=BITS"),
        (["--packet", VOICE + " at 2", "--packet", VOICE + " at 1"], "a packet that is earlier than the one before"),
        (["--capture", "absent.pcap"], "absent.pcap: found no such file"),
    ],
)
def test_bad_input(policy, capsys, arguments, message):
    assert run(["explain", policy, *arguments]) == 2
    assert message in capsys.readouterr().err
