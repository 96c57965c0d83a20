"""Shapers of ports, which are gNMI's, and of classes, which are rows."""

import pytest

from phb.compiler.queueing.tables import SHAPER
from phb.errors import InputError
from phb.intent import Exact, PortShaper
from phb.origin import Origin

FIFO = "  - {{port: 0, schedule: {{kind: fifo}}, shaper: {{rate: {{value: {}, unit: kbit/s, basis: {}}}{}}}}}\n"
CLASS = (
    "  - {{port: 0, schedule: {{kind: classes, queues: [{{class: class-default, "
    "shaper: {{rate: {{value: {}, unit: kbit/s, basis: {}}}{}}}}}]}}}}\n"
)


@pytest.mark.parametrize(("basis", "overhead"), [("ethernet", 0), ("ip", -14), ("ppp", -10)])
@pytest.mark.parametrize(("burst", "burst_bytes"), [("", 0), (", burst-bytes: 64000", 64_000)])
def test_a_shaper(compiled, basis, overhead, burst, burst_bytes):
    intent = compiled(FIFO.format(256, basis, burst))
    origin = Origin("f", 6, "queueing[0].shaper")
    assert intent.shapers == (PortShaper(0, "p0", 256_000, burst_bytes, overhead, origin),)
    assert intent.notices == ()


@pytest.mark.parametrize(("basis", "overhead"), [("ethernet", 0), ("ip", -14), ("ppp", -10)])
@pytest.mark.parametrize(("burst", "burst_bytes"), [("", 0), (", burst-bytes: 64000", 64_000)])
def test_a_class_is_shaped_by_a_row(compiled, basis, overhead, burst, burst_bytes):
    intent = compiled(CLASS.format(256, basis, burst))
    (row,) = [entry for entry in intent.entries if entry.table == SHAPER]
    assert row.match == {"profile": Exact(1), "traffic_class": Exact(0)}
    assert row.parameters == {"rate": 256_000, "burst": burst_bytes, "overhead": overhead % 2**32}
    assert intent.shapers == ()


@pytest.mark.parametrize("text", [FIFO, CLASS])
@pytest.mark.parametrize(
    ("value", "basis", "message"),
    [
        (256, "tcp-payload", r"found a shaper of 256 kbit/s \(tcp-payload\), expected a rate of whole packets$"),
        (0.0001, "ip", r"found a shaper of 0.0001 kbit/s \(ip\), expected at least 1 bit/s$"),
    ],
)
def test_refused(compiled, text, value, basis, message):
    with pytest.raises(InputError, match=message):
        compiled(text.format(value, basis, ""))
