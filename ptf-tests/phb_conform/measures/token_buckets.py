"""The arithmetic of RFC 2697, RFC 2698 and RFC 4115, exact, from their words alone: integers of 1/8,000,000,000 byte.

A rate in bit/s gives one such part in each nanosecond, so that no time and no rate is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

PARTS_PER_BYTE = 8_000_000_000


class Colour(IntEnum):
    """As the pipeline numbers them."""

    GREEN = 0
    YELLOW = 1
    RED = 2


class Kind(StrEnum):
    """As policies call them."""

    SINGLE_RATE = "single-rate"  # RFC 2697
    TWO_RATE = "two-rate"  # RFC 2698
    SEPARATE = "two-rate-separate"  # RFC 4115


@dataclass(frozen=True)
class Meter:
    """What a meter is configured with.

    Attributes:
        kind: Which RFC.
        committed_bps: CIR, bit/s.
        committed_bytes: CBS.
        other_bps: PIR of RFC 2698, EIR of RFC 4115, none of RFC 2697; bit/s.
        other_bytes: PBS or EBS.
        aware: Whether packets come with a colour.

    """

    kind: Kind
    committed_bps: int
    committed_bytes: int
    other_bps: int = 0
    other_bytes: int = 0
    aware: bool = False


class Buckets:
    """Two buckets, full at time 0.

    Attributes:
        committed: Tokens in C, in parts of a byte.
        other: Tokens in E or P.

    """

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.committed = meter.committed_bytes * PARTS_PER_BYTE
        self.other = meter.other_bytes * PARTS_PER_BYTE
        self._then_ns = 0

    def colour(self, now_ns: int, size_bytes: int, incoming: Colour = Colour.GREEN) -> Colour:
        """The colour of a packet; takes its tokens."""
        self._fill(now_ns)
        size = size_bytes * PARTS_PER_BYTE
        before = incoming if self.meter.aware else Colour.GREEN
        match self.meter.kind:
            case Kind.SINGLE_RATE:
                return self._either(size, before, self.committed >= size, self.other >= size)
            case Kind.SEPARATE:
                return self._either(size, before, self.committed > size, self.other > size)
            case Kind.TWO_RATE:
                return self._both(size, before)

    def _fill(self, now_ns: int) -> None:
        elapsed, self._then_ns = now_ns - self._then_ns, now_ns
        meter = self.meter
        full, other_full = meter.committed_bytes * PARTS_PER_BYTE, meter.other_bytes * PARTS_PER_BYTE
        filled = self.committed + meter.committed_bps * elapsed
        self.committed = min(filled, full)
        # RFC 2697: a token that C has no room for goes to E.
        gain = filled - self.committed if meter.kind is Kind.SINGLE_RATE else meter.other_bps * elapsed
        self.other = min(self.other + gain, other_full)

    def _either(self, size: int, before: Colour, committed: bool, other: bool) -> Colour:
        if before is Colour.GREEN and committed:
            self.committed -= size
            return Colour.GREEN
        if before is not Colour.RED and other:
            self.other -= size
            return Colour.YELLOW
        return Colour.RED

    def _both(self, size: int, before: Colour) -> Colour:
        if before is Colour.RED or self.other < size:
            return Colour.RED
        self.other -= size
        if before is Colour.YELLOW or self.committed < size:
            return Colour.YELLOW
        self.committed -= size
        return Colour.GREEN
