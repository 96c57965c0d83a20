"""``shape`` and ``traffic-shape rate`` -> the shaper of a port or of a class."""

from __future__ import annotations

from phb.errors import InputError
from phb.formats.ios.building.ports import bandwidth, bits_per_second, rate, rate_basis
from phb.formats.ios.configuration import Interface, Shape
from phb.model import Dialect, Shaper
from phb.model.scheduling import MOST_BURST_BYTES

# Bc until one is configured. Before HQF it is the traffic of 25 ms, and 8000 bits below 320 kbit/s ("traffic-shape
# rate" in the Cisco IOS Quality of Service Solutions Command Reference); since then the traffic of 4 ms, as
# `show policy-map interface` prints it. Be is Bc until it is configured.
SLOW, SLOW_BURST = 320_000, 8000
INTERVALS_PER_SECOND = {Dialect.IOS_11_3: 40, Dialect.IOS_12: 40, Dialect.IOS_HQF: 250}


def bursts(shape: Shape, bits: int, dialect: Dialect) -> tuple[int, int]:
    """Give Bc and Be in bits."""
    committed = shape.committed_burst
    if committed is None:
        slow = dialect is not Dialect.IOS_HQF and bits < SLOW
        committed = SLOW_BURST if slow else max(1, bits // INTERVALS_PER_SECOND[dialect])
    return committed, committed if shape.excess_burst is None else shape.excess_burst


def shaped_rate(shape: Shape, interface: Interface, dialect: Dialect) -> int:
    """Give the rate that passes, in bit/s: `shape peak` sends Bc + Be in each interval, `shape average` Bc."""
    bits = _configured_rate(shape, interface)
    if not shape.peak:
        return bits
    committed, excess = bursts(shape, bits, dialect)
    return bits * (committed + excess) // committed


def _configured_rate(shape: Shape, interface: Interface) -> int:
    return bits_per_second(shape.rate, 0 if shape.rate.percent is None else bandwidth(interface, shape.origin))


def build_shaper(shape: Shape, interface: Interface, dialect: Dialect) -> Shaper:
    """Build a shaper whose burst is an interval's traffic: Bc, or Bc + Be of `shape peak`; refuse too large ones."""
    bits = shaped_rate(shape, interface, dialect)
    committed, excess = bursts(shape, _configured_rate(shape, interface), dialect)
    burst = committed + excess if shape.peak else committed
    if burst // 8 > MOST_BURST_BYTES:
        raise InputError(shape.origin, f"a burst of {burst} bits", f"at most {MOST_BURST_BYTES * 8}")
    made = Shaper(rate=rate(bits, rate_basis(interface)), burst_bytes=max(1, burst // 8))
    return made.at(shape.origin)
