"""The TCP-window clamp: rates as the pipeline multiplies them with a round-trip time."""

from __future__ import annotations

from decimal import Decimal

from phb.errors import InputError
from phb.model import Rate, RateBasis
from phb.origin import Origin

# Bytes of TCP payload in a full segment: what RFC 9293's default for an MTU of 1500 bytes carries.
PAYLOAD = 1460

# The pipeline multiplies bytes per 2^20 microseconds with microseconds and shifts: it can't divide.
SCALE = 1 << 20
LAST_RATE = (1 << 36) - 1


def clamp_parameters(maximum: Rate, minimum: Rate | None) -> dict[str, int]:
    """Give parameters of `clamp`: payload bytes per 2^20 us, 0 for none; refuse rates that can't be multiplied."""
    return {"maximum": _scaled(maximum), "minimum": 0 if minimum is None else _scaled(minimum)}


def clamped_bps(scaled: int) -> int:
    """Give the payload rate in bit/s that a parameter of `clamp` stands for, rounded."""
    return round(scaled * 8_000_000 / SCALE)


def _scaled(rate: Rate) -> int:
    counted = PAYLOAD + RateBasis.TCP_PAYLOAD.left_out - rate.basis.left_out
    payload = rate.bits_per_second * PAYLOAD / counted
    scaled = int((payload * SCALE / 8_000_000).to_integral_value())
    if not 1 <= scaled <= LAST_RATE:
        least, most = (f"{Decimal(each) * 8_000_000 / SCALE:.0f}" for each in (1, LAST_RATE))
        raise InputError(rate.origin() or Origin(""), f"a rate per connection of {rate}", f"{least} to {most} bit/s")
    return scaled
