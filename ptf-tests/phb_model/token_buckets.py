"""Token buckets of RFC 2697 (srTCM), RFC 2698 (trTCM) and RFC 4115, blind to colours and aware of them.

Written from the words of the RFCs, for all code that needs the colour of a packet. Exact: buckets hold whole parts of a
byte, each of which a rate of 1 bit/s gives in a nanosecond, so that neither times nor rates are rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from phb.model import MeterKind

PARTS_PER_BYTE = 8_000_000_000


class Colour(IntEnum):
    """Colours as the pipeline numbers them."""

    GREEN = 0
    YELLOW = 1
    RED = 2

    @property
    def word(self) -> str:
        """The colour as policies name it."""
        return self.name.lower()


@dataclass(frozen=True)
class Meter:
    """The parameters of a meter.

    Attributes:
        committed_bps: CIR, bit/s.
        committed_bytes: CBS.
        other_bps: PIR of RFC 2698, EIR of RFC 4115, none of RFC 2697; bit/s.
        other_bytes: PBS or EBS.
        aware: Whether packets come with a colour.
    """

    kind: MeterKind
    committed_bps: int
    committed_bytes: int
    other_bps: int = 0
    other_bytes: int = 0
    aware: bool = False


class TokenBuckets:
    """The two buckets of a meter, full at time 0; `committed` (C) and `other` (E or P) are in parts of a byte."""

    def __init__(self, meter: Meter) -> None:
        self.meter = meter
        self.committed = meter.committed_bytes * PARTS_PER_BYTE
        self.other = meter.other_bytes * PARTS_PER_BYTE
        self._then_ns = 0

    def colour(self, now_ns: int, size_bytes: int, incoming: Colour = Colour.GREEN) -> Colour:
        """Give a packet its colour, and take its tokens."""
        self._fill(now_ns)
        size = size_bytes * PARTS_PER_BYTE
        before = incoming if self.meter.aware else Colour.GREEN
        match self.meter.kind:
            case MeterKind.SINGLE_RATE:
                return self._take_of_one(size, before, self.committed >= size, self.other >= size)
            case MeterKind.TWO_RATE:
                return self._take_of_both(size, before)
            case MeterKind.TWO_RATE_SEPARATE:
                return self._take_of_one(size, before, self.committed > size, self.other > size)

    def _fill(self, now_ns: int) -> None:
        elapsed, self._then_ns = now_ns - self._then_ns, now_ns
        meter = self.meter
        filled = self.committed + meter.committed_bps * elapsed
        self.committed = min(filled, meter.committed_bytes * PARTS_PER_BYTE)
        # RFC 2697: a token that C has no room for goes to E.
        single_rate = meter.kind is MeterKind.SINGLE_RATE
        gain = filled - self.committed if single_rate else meter.other_bps * elapsed
        self.other = min(self.other + gain, meter.other_bytes * PARTS_PER_BYTE)

    def _take_of_one(self, size: int, before: Colour, fits_committed: bool, fits_other: bool) -> Colour:
        if before is Colour.GREEN and fits_committed:
            self.committed -= size
            return Colour.GREEN
        if before is not Colour.RED and fits_other:
            self.other -= size
            return Colour.YELLOW
        return Colour.RED

    def _take_of_both(self, size: int, before: Colour) -> Colour:
        if before is Colour.RED or self.other < size:
            return Colour.RED
        self.other -= size
        if before is Colour.YELLOW or self.committed < size:
            return Colour.YELLOW
        self.committed -= size
        return Colour.GREEN
