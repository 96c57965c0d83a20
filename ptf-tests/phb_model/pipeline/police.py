"""The bytes that a policy's meter counts, and its buckets."""

from __future__ import annotations

from phb.model import Meter, MeterKind, RateBasis
from phb_model import token_buckets
from phb_model.token_buckets import Colour, TokenBuckets

PPP_HEADER = 4
"""Bytes."""


def colour_of_code_point(tos: int) -> Colour:
    """Return the drop precedence of an AF code point as a colour (RFC 2597); everything else is green."""
    dscp = tos >> 2
    if 1 <= dscp >> 3 <= 4 and dscp & 1 == 0:
        return {0: Colour.GREEN, 1: Colour.GREEN, 2: Colour.YELLOW, 3: Colour.RED}[dscp >> 1 & 3]
    return Colour.GREEN


def buckets_of(meter: Meter) -> TokenBuckets:
    """Make the full buckets of a policy's meter."""
    other_bytes = meter.peak_burst_bytes if meter.kind is MeterKind.TWO_RATE else meter.excess_burst_bytes
    return TokenBuckets(
        token_buckets.Meter(
            meter.kind,
            int(meter.committed_rate.bits_per_second),
            meter.committed_burst_bytes,
            0 if meter.peak_rate is None else int(meter.peak_rate.bits_per_second),
            other_bytes or 0,
            meter.colour_aware,
        )
    )


def counted_bytes(basis: RateBasis, frame_bytes: int, ip_bytes: int) -> int:
    """Return the bytes of a packet that a rate on this basis counts; its frame's are without check sequence."""
    match basis:
        case RateBasis.ETHERNET:
            return frame_bytes
        case RateBasis.PPP:
            return max(0, ip_bytes + PPP_HEADER)
    return max(0, ip_bytes)
