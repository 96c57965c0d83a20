"""Stage police: meters as the pipeline keeps them, in bit/s, bytes and microseconds."""

from __future__ import annotations

from phb.errors import InputError
from phb.intent import Entry, Exact
from phb.model import Meter, MeterKind, Rate, RateBasis
from phb.model.rates import PPP_HEADER
from phb.origin import Origin

# Whether a rate counts the IP datagram's bytes or the Ethernet frame's (without FCS), and what is added.
COUNTED = {
    RateBasis.ETHERNET: {"datagram": 0, "overhead": 0},
    RateBasis.IP: {"datagram": 1, "overhead": 0},
    RateBasis.PPP: {"datagram": 1, "overhead": PPP_HEADER},
}

# The pipeline counts tokens in millionths of a bit, what a bit/s gives in a microsecond, in 64 bits.
TOKENS_PER_BYTE = 8_000_000
LAST_RATE = (1 << 40) - 1
LAST_TIME = (1 << 48) - 1


def meter_entry(table: str, stream: int, meter: Meter) -> Entry:
    """Give the entry of a stream's meter; refuse a rate that the pipeline can't keep exactly."""
    origin = meter.origin()
    basis = meter.committed_rate.basis
    if basis not in COUNTED:
        expected = ", ".join(f"'{each.value}'" for each in COUNTED)
        raise InputError(meter.origin("committed_rate"), f"basis '{basis.value}' of a meter", f"one of {expected}")
    committed = _rate(meter.committed_rate, meter.origin("committed_rate"))
    common = {**COUNTED[basis], "colour_aware": int(meter.colour_aware)}
    committed_burst, excess_burst = meter.committed_burst_bytes, meter.excess_burst_bytes or 0
    key = {"stream": Exact(stream)}
    if meter.kind is MeterKind.SINGLE_RATE:
        parameters = {
            "rate": committed,
            "full_after": _full_after(committed, committed_burst + excess_burst),
            "committed_burst": committed_burst,
            "excess_burst": excess_burst,
        }
        return Entry(table, key, "single_rate", parameters | common, 0, origin)
    assert meter.peak_rate is not None
    peak = _rate(meter.peak_rate, meter.origin("peak_rate"))
    two_rate = meter.kind is MeterKind.TWO_RATE
    word, burst = ("peak", meter.peak_burst_bytes or 0) if two_rate else ("excess", excess_burst)
    parameters = {
        "committed_rate": committed,
        "committed_full_after": _full_after(committed, committed_burst),
        "committed_burst": committed_burst,
        f"{word}_rate": peak,
        f"{word}_full_after": _full_after(peak, burst),
        f"{word}_burst": burst,
    }
    return Entry(table, key, "two_rate" if two_rate else "two_rate_separate", parameters | common, 0, origin)


def _rate(rate: Rate, origin: Origin) -> int:
    bits = rate.bits_per_second
    if bits != bits.to_integral_value() or bits > LAST_RATE:
        raise InputError(origin, f"a meter's rate of {rate}", f"whole bits per second, at most {LAST_RATE}")
    return int(bits)


def _full_after(rate: int, burst_bytes: int) -> int:
    """Give the microseconds that fill an empty bucket: longer times are cut to that, so that no product overflows."""
    return min(-(-burst_bytes * TOKENS_PER_BYTE // rate), LAST_TIME)
