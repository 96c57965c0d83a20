"""Which packets a loss is about."""

import pytest

from phb.formats import WriteOptions, convert, yaml_format
from phb.model import Dialect

HEAD = """phb: 1
ports: [{name: lan, number: 1}, {name: Serial0/0, number: 2, rate: {value: 2, unit: Mbit/s, basis: ip}}]
classes: [{name: voice}]
"""
METER = "{kind: single-rate, committed-rate: {value: 1, unit: Mbit/s, basis: ip}, committed-burst-bytes: 3000}"
LOSSES = {
    # Names, numbers and what describes the node: every packet gets what it got.
    "nothing but the node": ("policy-agent", "", []),
    "an action that no rule has": ("policy-agent", f"actions: [{{name: a, meter: {METER}}}]\n", []),
    "an action of two rules": (
        "policy-agent",
        "actions: [{name: a, class: voice}]\n"
        "rules:\n  - {name: r, direction: both, match: {protocol: tcp}, actions: [a]}\n"
        "  - {name: s, direction: both, match: [{destination: 10.0.0.0/8}, {destination-ports: 80}], actions: [a]}\n",
        ["rule 'r': tcp", "rule 's': IPv4 to 10.0.0.0/8; or to port 80"],
    ),
    "a rule that asks for marks": (
        "policy-agent",
        "rules:\n  - {name: r, direction: both, match: {dscp: EF}}\n",
        ["rule 'r': with ToS bits 10111000 under mask 11111100"],
    ),
    "a rule that asks for flags": (
        "policy-agent",
        "rules:\n  - {name: r, direction: both, match: {protocol: tcp, tcp-flags: +syn -ack}}\n",
        ["rule 'r': tcp with TCP flags +syn -ack"],
    ),
    "a behaviour aggregate": (
        "policy-agent",
        "behaviour-aggregates: [{name: ef, dscp: EF}]\n",
        ["behaviour aggregate 'ef'"],
    ),
    "clocks": (
        "policy-agent",
        "time-zone: Asia/Tokyo\nrules:\n  - {name: r, direction: both, valid: {time: 8:00-9:00}}\n"
        "  - {name: s, direction: both, valid: {time: 8:00-9:00, time-zone: UTC}}\n",
        ["rule 'r': all packets"],
    ),
    "a slow serial port without queueing, whose rate matters to nobody": ("ios", "", ["leaving by port 'Serial0/0'"]),
    "the rate of a port of whom classes have shares": (
        "ios",
        "queueing:\n  - port: Serial0/0\n    length-basis: ppp\n    hold-queue: 1000\n    schedule:\n"
        "      kind: classes\n      queues: [{class: class-default, queue-limit: 64, bandwidth: {percent: 50}}]\n",
        ["leaving by port 'Serial0/0'"],
    ),
    "a queue": (
        "ios",
        "queueing:\n  - port: Serial0/0\n    length-basis: ppp\n    hold-queue: 1000\n"
        "    schedule:\n      kind: classes\n"
        "      queues: [{class: voice, level: 0}, {class: class-default, queue-limit: 64}]\n",
        ["leaving by port 'Serial0/0'", "class 'voice' leaving by port 'Serial0/0'"],
    ),
}


@pytest.mark.parametrize("case", LOSSES)
def test_packets(case):
    to, text, packets = LOSSES[case]
    losses = convert(yaml_format.read(HEAD + text, "f"), to, WriteOptions(Dialect.IOS_HQF)).losses
    assert losses
    assert [each for loss in losses for each in loss.packets] == packets
