"""`explain` as a library: what it is given, and what it says beside the packets."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.utils import checksum

from phb.errors import InputError
from phb.explain import LineRate, explain, parse_packet
from phb.explain.headers import internet_checksum
from phb.explain.pipeline import MODELLED
from phb.formats import yaml_format
from phb.origin import Origin

AT = datetime(2026, 3, 2, 12, 0).astimezone()
# Filled by the program itself, or, the first one, by every push in the same way.
OTHERS = {
    "PhbIngress.version.active",
    "PhbIngress.police.incoming_colour",
    "PhbIngress.output_police.incoming_colour",
    "PhbEgress.delay_bucket",
    # Constant; the model knows them as prefixes.
    "PhbIngress.forward.martians.martian_ipv4",
    "PhbIngress.forward.martians.martian_ipv6",
    # What ARP has learnt is taken to be there.
    "PhbIngress.forward.next_hop.neighbour",
}

POLICY = """
phb: 1
ports:
  - {number: 1, name: line}
  - {number: 2, name: lan}
cross-connects: [{between: [line, lan]}]
actions:
  - {name: few, max-connections: 1, max-rate: {value: 64, unit: kbit/s, basis: tcp-payload}}
rules:
  - {name: few, match: {protocol: tcp, destination-ports: 80}, actions: [few]}
"""
SHAPED = POLICY + "queueing: [{port: line, schedule: {kind: fifo}, shaper: {rate: RATE}}]\n"


def told(artifact, text, *packets, **options):
    policy = yaml_format.read(text, "policy.yaml")
    arrivals = [parse_packet(packet, Origin("test")) for packet in packets]
    return list(explain(policy, artifact, arrivals, at=AT, **options))


def words(one, stage):
    return [step.words for step in one.steps if step.stage == stage]


def test_every_table_is_modelled(artifact):
    assert set(artifact.tables) - OTHERS - {*artifact.key_tables} == MODELLED


def test_flags_of_single_packets(artifact):
    ends, back = "10.0.0.1:1000 > 10.0.0.2:80", "10.0.0.2:80 > 10.0.0.1:1000"
    first, _, third, second, _, _, last, late = told(
        artifact,
        POLICY,
        f"tcp {ends} flags S length 40 in lan",
        f"tcp {back} flags SA length 40 acknowledgement 1 in line",
        f"tcp {ends} flags A length 40 sequence 1 acknowledgement 1 in lan",
        "tcp 10.0.0.1:1001 > 10.0.0.2:80 flags S in lan",
        f"tcp {ends} flags R sequence 7 in lan",
        f"tcp {ends} flags FA length 40 sequence 1 acknowledgement 1 in lan",
        f"tcp {back} flags A length 40 sequence 1 acknowledgement 2 in line",
        "tcp 10.0.0.1:1002 > 10.0.0.2:80 in lan",
    )
    assert words(first, "admit") == ["opens a TCP connection; 0 of at most 1 are established"]
    assert words(third, "admit") == ["establishes TCP connection 1 of at most 1"]
    assert (second.drop_reason, second.decided_by) == ("connection limit", "admit")
    assert words(second, "admit") == ["1 TCP connections are open, as many as the rule may have"]
    assert words(last, "admit") == ["closes its TCP connection"]
    assert words(late, "window") == ["no window is clamped: the connection's SYN was not seen, or it is closed"]
    assert (late.outcome, words(late, "admit")) == ("to line", [])


def test_sequence_numbers_measure_round_trips(artifact):
    ends, back = "10.0.0.1:1000 > 10.0.0.2:80", "10.0.0.2:80 > 10.0.0.1:1000"
    *_, last = told(
        artifact,
        POLICY,
        f"tcp {ends} flags S sequence 9 length 40 in lan",
        f"tcp {back} flags SA sequence 99 acknowledgement 10 length 40 in line at 0.001",
        f"tcp {ends} flags A sequence 10 acknowledgement 100 length 140 in lan at 0.2",
        f"tcp {back} flags A sequence 100 acknowledgement 110 length 40 in line at 0.201",
    )
    # 64 kbit/s in 1 ms and 199 ms.
    assert words(last, "window") == ["window 65535 becomes 1600: 1600 bytes in a round trip of 200.002 ms"]


def test_a_packet_that_waits_is_told_with_the_entries_it_met(artifact):
    """Another rule ceases to count while it waits."""
    text = SHAPED.replace("RATE", "{value: 1, unit: kbit/s, basis: ethernet}").replace(
        "  - {name: few, match: {protocol: tcp, destination-ports: 80}, actions: [few]}",
        "  - {name: today, match: {protocol: tcp}, valid: {time: 8:00-13:00}}\n"
        "  - {name: always, match: {protocol: udp}}\n",
    )
    policy = yaml_format.read(text.replace("phb: 1", "phb: 1\ntime-zone: UTC"), "policy.yaml")
    eve = datetime(2026, 3, 2, 12, 59, 59, tzinfo=UTC).timestamp()
    arrivals = [
        replace(parse_packet("udp 10.0.0.1:1 > 10.0.0.2:2 in lan", Origin("test")), time_ns=int(eve + second) * 10**9)
        for second in (0, 0, 3)
    ]
    found = list(explain(policy, artifact, arrivals, at=AT, follow_clock=True, why=True))
    assert [one.input.name for one in found] == ["'always'"] * 3
    assert [[near.name for near in one.near] for one in found] == [["'today'"], ["'today'"], []]
    assert found[1].queueing_ns > 0


@given(st.binary(max_size=60))
def test_the_checksum_is_that_of_rfc_1071(data):
    assert internet_checksum(data) == checksum(data)


@pytest.mark.parametrize(
    ("rates", "wait_ms"), [(None, 8), ({1: LineRate(57_000)}, 16)], ids=["shaper", "rate that is given"]
)
def test_a_shaper_is_the_rate_of_its_port(artifact, rates, wait_ms):
    text = SHAPED.replace("RATE", "{value: 114, unit: kbit/s, basis: ethernet}")
    packets = ["udp 10.0.0.1:1 > 10.0.0.2:2 in lan"] * 2
    assert [one.queueing_ns for one in told(artifact, text, *packets, rates=rates)] == [0, wait_ms * 1_000_000]


@pytest.mark.parametrize(("basis", "bytes_less"), [("ppp", 10), ("ip", 14)])
def test_a_shaper_counts_what_its_basis_says(artifact, basis, bytes_less):
    text = SHAPED.replace("RATE", f"{{value: 8, unit: kbit/s, basis: {basis}}}")
    _, second = told(artifact, text, *["udp 10.0.0.1:1 > 10.0.0.2:2 in lan"] * 2)
    assert second.queueing_ns == (114 - bytes_less) * 1_000_000


def test_a_burst_is_told_to_be_beyond_the_model(artifact):
    beyond = []
    text = SHAPED.replace("RATE", "{value: 8, unit: kbit/s, basis: ppp}, burst-bytes: 900")
    told(artifact, text, beyond=beyond)
    assert [str(notice) for notice in beyond] == [
        "policy.yaml:11: the burst of 900 bytes is not part of the model: it paces every packet"
    ]


def test_tokens_of_a_class_are_told_to_be_beyond_the_model(artifact):
    beyond = []
    shaper = "{rate: {value: 8, unit: kbit/s, basis: ppp}}"
    queue = f"{{class: class-default, shaper: {shaper}}}"
    text = POLICY + f"queueing: [{{port: line, schedule: {{kind: classes, queues: [{queue}]}}}}]\n"
    (packet,) = told(artifact, text, "udp 10.0.0.1:1 > 10.0.0.2:2 in lan", beyond=beyond)
    assert "the class is shaped to 8000 bit/s" in [step.words for step in packet.steps]
    assert [notice.message.partition(":")[0] for notice in beyond] == ["its tokens are not part of the model"]


def test_what_the_target_cannot_do_is_refused(artifact):
    text = SHAPED.replace("RATE", "{value: 8, unit: kbit/s, basis: ethernet}")
    assert told(artifact, text, target="phb-switch") == []
    with pytest.raises(InputError, match="bmv2"):
        told(artifact, text, target="bmv2")
