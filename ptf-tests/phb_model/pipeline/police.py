"""Token buckets: RFC 2697, RFC 2698, RFC 4115, blind to colours and aware of them.

A token is what a rate of 1 bit/s gives in a microsecond, so that everything is a whole number. Buckets are full before
their first packet.
"""

from __future__ import annotations

from phb.model import Meter, MeterKind, RateBasis
from phb_model.pipeline.reasons import GREEN, RED, YELLOW

TOKENS_PER_BYTE = 8_000_000

PPP_HEADER = 4
"""Bytes."""


def colour_of_code_point(tos: int) -> str:
    """The drop precedence of an AF code point as a colour (RFC 2597); everything else is green."""
    dscp = tos >> 2
    if 1 <= dscp >> 3 <= 4 and dscp & 1 == 0:
        return {0: GREEN, 1: GREEN, 2: YELLOW, 3: RED}[dscp >> 1 & 3]
    return GREEN


class Bucket:
    """Tokens up to a burst."""

    def __init__(self, burst_bytes: int) -> None:
        self._most = burst_bytes * TOKENS_PER_BYTE
        self.tokens = self._most

    def add(self, tokens: int) -> int:
        """Puts tokens in; gives those that find no room."""
        beyond = max(0, self.tokens + tokens - self._most)
        self.tokens += tokens - beyond
        return beyond


class TokenBuckets:
    """One meter, with the state of its two buckets."""

    def __init__(self, meter: Meter) -> None:
        self._meter = meter
        self._committed = Bucket(meter.committed_burst_bytes)
        self._other = Bucket(
            meter.peak_burst_bytes or 0 if meter.kind is MeterKind.TWO_RATE else meter.excess_burst_bytes or 0
        )
        self._last_us = 0

    def colour(self, now_us: int, frame_bytes: int, ip_bytes: int, incoming: str) -> str:
        """The colour of a packet that comes now; it takes its tokens.

        Args:
            now_us: Microseconds since the buckets were full.
            frame_bytes: Of the Ethernet frame, without check sequence.
            ip_bytes: Of the IP packet in it.
            incoming: The packet's own colour; a colour-blind meter doesn't look at it.

        """
        self._refill(now_us)
        size = self._counted(frame_bytes, ip_bytes) * TOKENS_PER_BYTE
        colour = self._decide(size, incoming if self._meter.colour_aware else GREEN)
        if colour == GREEN:
            self._committed.tokens -= size
        if colour == YELLOW or (colour == GREEN and self._meter.kind is MeterKind.TWO_RATE):
            self._other.tokens -= size
        return colour

    def _counted(self, frame_bytes: int, ip_bytes: int) -> int:
        match self._meter.committed_rate.basis:
            case RateBasis.ETHERNET:
                return frame_bytes
            case RateBasis.PPP:
                return max(0, ip_bytes + PPP_HEADER)
        return max(0, ip_bytes)

    def _refill(self, now_us: int) -> None:
        elapsed, self._last_us = now_us - self._last_us, now_us
        beyond = self._committed.add(elapsed * int(self._meter.committed_rate.bits_per_second))
        if self._meter.peak_rate is None:
            self._other.add(beyond)  # RFC 2697 section 3: what the committed bucket has no room for
        else:
            self._other.add(elapsed * int(self._meter.peak_rate.bits_per_second))

    def _decide(self, size: int, incoming: str) -> str:
        committed, other = self._committed.tokens - size, self._other.tokens - size
        if self._meter.kind is MeterKind.TWO_RATE:
            if incoming == RED or other < 0:
                return RED
            return YELLOW if incoming == YELLOW or committed < 0 else GREEN
        # RFC 4115 wants a token more than the packet takes.
        least = 1 if self._meter.kind is MeterKind.TWO_RATE_SEPARATE else 0
        if incoming == GREEN and committed >= least:
            return GREEN
        return YELLOW if incoming != RED and other >= least else RED
