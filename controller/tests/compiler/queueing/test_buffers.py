"""Buffers -> accounts."""

from datetime import datetime

import pytest

from phb.compiler import compile_policy
from phb.errors import InputError
from phb.formats import yaml_format
from phb.intent import Exact, Ternary

from .conftest import of_table

HEAD = """phb: 1
ports: [{number: 4, name: p4}, {number: 7, name: p7}]
actions: [{name: gold}, {name: silver}]
rules:
  - {name: gold, match: {protocol: udp}, actions: [gold]}
queueing:
"""


def compiled(artifact, *buffers):
    text = HEAD + "".join(
        f"  - {{port: {port}, schedule: {{kind: fifo}}, buffers: {{{each}}}}}\n" for port, each in buffers
    )
    return compile_policy(yaml_format.read(text, "f"), artifact, at=datetime(1999, 3, 1))


def test_rows_of_two_ports(artifact):
    private = "private: [{action: gold, bytes: 900}, {action: silver, bytes: 5}]"
    intent = compiled(artifact, (7, "shared-bytes: 100, holes: 3"), (4, f"shared-bytes: 27500, {private}"))
    (stream,) = intent.streams
    rows = [(entry.match, entry.parameters, entry.priority) for entry in of_table(intent, "stream_buffer")]
    four, seven = {"pool": 4, "shared_bytes": 27500, "holes": 2}, {"pool": 7, "shared_bytes": 100, "holes": 3}
    assert rows == [
        # No rule gives traffic to silver.
        (
            {"profile": Exact(1), "stream": Ternary(stream.number, 0xFFF)},
            {"index": 0, "private_bytes": 900, **four},
            2,
        ),
        ({"profile": Exact(1)}, {"index": 1, "private_bytes": 0, **four}, 1),
        ({"profile": Exact(2)}, {"index": 2, "private_bytes": 0, **seven}, 1),
    ]


def test_private_buffers_are_lent_after_a_timeout(artifact):
    private = "private: [{action: silver, bytes: 5}, {action: gold, bytes: 900}]"
    intent = compiled(artifact, (4, f"shared-bytes: 1, idle-timeout-ms: 30, {private}"), (7, "shared-bytes: 100"))
    rows = [(entry.match, entry.action, entry.parameters) for entry in of_table(intent, "idle_stream")]
    # Each stream with a private buffer has its turn; what has none lends nothing.
    parameters = {"index": 0, "private_bytes": 900, "timeout_us": 30_000, "next_turn": 0}
    assert rows == [({"profile": Exact(1), "turn": Exact(0)}, "lend", parameters)]


@pytest.mark.parametrize(
    ("private", "message"),
    [
        ("[{action: lead, bytes: 1}]", r"^f:7: found action 'lead', expected one of gold, silver$"),
        (
            "[{action: gold, bytes: 1}, {action: gold, bytes: 2}]",
            r"^f:7: found a second buffer for action 'gold' \(f:7\), expected one$",
        ),
    ],
)
def test_refused(artifact, private, message):
    with pytest.raises(InputError, match=message):
        compiled(artifact, (4, f"shared-bytes: 1, private: {private}"))
