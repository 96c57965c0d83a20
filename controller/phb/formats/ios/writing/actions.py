"""Actions of rules -> ``set``, ``police`` and ``priority``."""

from __future__ import annotations

from phb.formats.ios.building.meters import PRIORITY_DIVISOR
from phb.formats.ios.language.names import dscp_name
from phb.formats.ios.statements.policing import HIGHEST_BURST, HIGHEST_RATE, LOWEST_BURST, LOWEST_RATE
from phb.formats.ios.statements.policy_maps import PRIORITY_BURST
from phb.formats.ios.statements.rates import KILOBITS
from phb.formats.ios.writing.losses import Losses
from phb.model import Action, Marking, Meter, MeterKind, Rate, RateBasis, Treatment

_SEND, _DROP = Treatment(), Treatment(drop=True)


def marks(action: Action, losses: Losses) -> list[str]:
    """Write ``set`` statements."""
    return [f"set {mark}" for mark in _marks(action, action, losses)]


def _marks(marking: Marking, action: Action, losses: Losses) -> list[str]:
    said = []
    bits = marking.mark
    if bits is not None and bits.mask & 0xFC == 0xFC:
        said.append(f"dscp {dscp_name(bits.value >> 2)}")
        if bits.mask & 3:
            what = f"the lower two bits of ToS {bits.value:#04x} of '{action.name}'"
            losses.add(action, "set_tos", what, "IOS leaves them to ECN")
    elif bits is not None and bits.mask == 0xE0:
        said.append(f"precedence {bits.value >> 5}")
    elif bits is not None and bits.mask:
        what = f"ToS bits {bits.value:#04x} under mask {bits.mask:#04x} of action '{action.name}'"
        losses.add(action, "set_tos", what, "IOS sets a DSCP or a precedence")
    for name in ("set_qos_group", "copy_marks"):
        if getattr(marking, name) not in (None, ()):
            what = f"'{name.replace('_', '-')}' of action '{action.name}'"
            losses.add(action, name, what, "phb doesn't write that in IOS's words")
    priority = marking.priority
    if priority is not None and priority.mask == 7:
        said.append(f"cos {priority.value}")
    elif priority is not None and priority.mask:
        losses.add(action, "set_pcp", f"a part of the 802.1p priority of action '{action.name}'", "IOS sets all of it")
    return said


def limits(action: Action, losses: Losses) -> None:
    """Record the action's limits that IOS has no statement for."""
    for field, what, why in (
        ("max_rate", "the maximum rate of a connection", "IOS doesn't limit connections by their window"),
        ("min_rate", "the minimum rate of a connection", "IOS doesn't limit connections by their window"),
        ("max_connections", "the limit of connections", "IOS doesn't count connections in a policy map"),
    ):
        if getattr(action, field) is not None:
            losses.add(action, field, f"{what} of action '{action.name}'", why)


def police(action: Action, basis: RateBasis, losses: Losses) -> list[str]:
    """Write a ``police`` statement, if the action has a meter that IOS has."""
    meter = action.meter
    if meter is None:
        return []
    why = _problem(meter, basis) or _out_of_bounds(meter)
    if why:
        losses.add(action, "meter", f"the meter of action '{action.name}'", why)
        return []
    words = [f"police cir {_bits(meter.committed_rate)} bc {meter.committed_burst_bytes}"]
    events = [("conform", meter.green), ("exceed", meter.yellow), ("violate", meter.red)]
    if meter.kind is MeterKind.TWO_RATE:
        assert meter.peak_rate is not None
        words.append(f"pir {_bits(meter.peak_rate)} be {meter.peak_burst_bytes}")
    elif meter.excess_burst_bytes:
        words.append(f"be {meter.excess_burst_bytes}")
    else:
        # One bucket: nothing is ever yellow.
        events = [("conform", meter.green), ("exceed", meter.red)]
    block = [" ".join(words)]
    for event, treatment in events:
        block += [f" {event}-action {each}" for each in _treatment(treatment, action, losses)]
    return block


def policeable(action: Action, basis: RateBasis) -> bool:
    """Whether ``police`` can express the meter."""
    return action.meter is None or not (_problem(action.meter, basis) or _out_of_bounds(action.meter))


def priority(meter: Meter | None, basis: RateBasis) -> str | None:
    """Write the rate and the burst of ``priority`` if they express the meter, else None."""
    if meter is None or _problem(meter, basis) or meter.excess_burst_bytes:
        return None
    bits, burst = _bits(meter.committed_rate), meter.committed_burst_bytes
    if (meter.kind, meter.green, meter.red) != (MeterKind.SINGLE_RATE, _SEND, _DROP):
        return None
    if bits % 1000 or not KILOBITS[0] <= bits // 1000 <= KILOBITS[1]:
        return None
    if burst == max(1, bits // PRIORITY_DIVISOR):
        return str(bits // 1000)
    return f"{bits // 1000} {burst}" if PRIORITY_BURST[0] <= burst <= PRIORITY_BURST[1] else None


def _problem(meter: Meter, basis: RateBasis) -> str:
    """Say why no statement of this interface expresses such a meter."""
    if meter.kind is MeterKind.TWO_RATE_SEPARATE:
        return "IOS has the meters of RFC 2697 and RFC 2698"
    if meter.colour_aware:
        return "IOS takes colours from class maps"
    for rate in (meter.committed_rate, meter.peak_rate):
        if rate is not None and rate.basis is not basis:
            return f"it counts {rate.basis.value}, and policers of this interface count {basis.value}"
        if rate is not None and rate.bits_per_second % 1:
            return "IOS polices whole bit/s"
    return ""


def _out_of_bounds(meter: Meter) -> str:
    rates = [rate for rate in (meter.committed_rate, meter.peak_rate) if rate is not None]
    if any(not LOWEST_RATE <= rate.bits_per_second <= HIGHEST_RATE for rate in rates):
        return f"IOS polices rates from {LOWEST_RATE} to {HIGHEST_RATE} bit/s"
    bursts = (meter.committed_burst_bytes, meter.excess_burst_bytes or None, meter.peak_burst_bytes)
    if any(burst is not None and not LOWEST_BURST <= burst <= HIGHEST_BURST for burst in bursts):
        return f"IOS has bursts from {LOWEST_BURST} to {HIGHEST_BURST} bytes"
    return ""


def _bits(rate: Rate) -> int:
    return int(rate.bits_per_second)


def _treatment(treatment: Treatment, action: Action, losses: Losses) -> list[str]:
    if treatment.drop:
        return ["drop"]
    names = {"dscp": "set-dscp-transmit", "precedence": "set-prec-transmit", "cos": "set-cos-transmit"}
    said = [mark.partition(" ") for mark in _marks(treatment, action, losses)]
    return [f"{names[kind]} {value}" for kind, _, value in said] or ["transmit"]
