"""Shapers of the intent."""

import pytest

from phb.errors import InputError
from phb.intent import PortShaper
from phb.origin import Origin

FIFO = "  - {{port: 0, schedule: {{kind: fifo}}, shaper: {{rate: {{value: {}, unit: kbit/s, basis: {}}}}}}}\n"


def test_a_shaper(compiled):
    intent = compiled(FIFO.format(256, "ethernet"))
    assert intent.shapers == (PortShaper(0, "p0", 256_000, Origin("f", 6, "queueing[0].shaper")),)
    assert intent.notices == ()


def test_a_basis_that_openconfig_has_no_word_for(compiled):
    (notice,) = compiled(FIFO.format(256, "ppp")).notices
    assert str(notice).startswith("f:6: the shaper of port 'p0' counts what the switch counts for the line, by default")


@pytest.mark.parametrize(
    ("value", "basis", "message"),
    [
        (256, "tcp-payload", r"found a shaper of 256 kbit/s \(tcp-payload\), expected a rate of whole packets$"),
        (0.0001, "ip", r"found a shaper of 0.0001 kbit/s \(ip\), expected at least 1 bit/s$"),
    ],
)
def test_refused(compiled, value, basis, message):
    with pytest.raises(InputError, match=message):
        compiled(FIFO.format(value, basis))
