"""``shape`` and ``traffic-shape rate`` -> the shaper of a port."""

from __future__ import annotations

from phb.formats.ios.configuration import Configuration, Interface, Shape
from phb.formats.ios.ports import bandwidth, bits_per_second, rate, rate_basis
from phb.model import Dialect, Shaper

# Bc until one is configured. Before HQF it is what comes in 25 ms, and 8000 bits below 320 kbit/s ("traffic-shape rate"
# in the Cisco IOS Quality of Service Solutions Command Reference); since then what comes in 4 ms, as
# `show policy-map interface` prints it. Be is Bc until it is configured.
SLOW, SLOW_BURST = 320_000, 8000
INTERVALS_PER_SECOND = {Dialect.IOS_11_3: 40, Dialect.IOS_12: 40, Dialect.IOS_HQF: 250}


def bursts(shape: Shape, bits: int, dialect: Dialect) -> tuple[int, int]:
    """Bc and Be in bits."""
    committed = shape.committed_burst
    if committed is None:
        slow = dialect is not Dialect.IOS_HQF and bits < SLOW
        committed = SLOW_BURST if slow else max(1, bits // INTERVALS_PER_SECOND[dialect])
    return committed, committed if shape.excess_burst is None else shape.excess_burst


def shaped_rate(shape: Shape, interface: Interface, dialect: Dialect) -> int:
    """What may pass, in bit/s. `shape peak` sends Bc + Be in each interval, `shape average` Bc."""
    bits = bits_per_second(shape.rate, 0 if shape.rate.percent is None else bandwidth(interface, shape.origin))
    if not shape.peak:
        return bits
    committed, excess = bursts(shape, bits, dialect)
    return bits * (committed + excess) // committed


def build_shaper(shape: Shape, interface: Interface, dialect: Dialect) -> Shaper:
    """The shaper: evenly at its rate, where IOS sends Bc in each interval (and Be after a pause)."""
    return Shaper(rate=rate(shaped_rate(shape, interface, dialect), rate_basis(interface))).at(shape.origin)


def note_bursts(configuration: Configuration, shape: Shape) -> None:
    """List bursts that somebody configured: the rate over time is the same without them."""
    if shape.committed_burst is not None:
        only = "bursts decide the rate, and have no other effect" if shape.peak else "bursts have no effect"
        message = f"{only}: a port of phb is shaped evenly, not in intervals ('burst-bytes' in YAML asks for more)"
        configuration.note(shape.origin, message)
