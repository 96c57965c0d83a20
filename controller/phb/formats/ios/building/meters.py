"""Policers of classes, also those that ``priority`` implies -> meters of the model."""

from __future__ import annotations

from collections.abc import Callable

from phb.errors import InputError
from phb.formats.ios.building.ports import bits_per_second, rate
from phb.formats.ios.configuration import Amount, Burst, Configuration, Police, PolicyClass, Priority
from phb.formats.ios.statements.policing import HIGHEST_BURST
from phb.model import Meter, MeterKind, RateBasis, Treatment
from phb.values import PriorityCodePoint

# "police" in the Cisco IOS Quality of Service Solutions Command Reference: the default burst is what comes in a
# quarter of a second, at least 1500 bytes.
LEAST_BURST = 1500
BURST_DIVISOR = 32  # bits in a second / 8 bits / 4

# "priority" there: 200 ms of the rate.
PRIORITY_DIVISOR = 40  # bits in a second / 8 bits / 5

# The basis of percentages, in bit/s; called only where there is one.
Whole = Callable[[], int]


def class_meter(
    configuration: Configuration, policy_class: PolicyClass, basis: RateBasis, whole: Whole
) -> Meter | None:
    """Give the meter of a class, None without one.

    IOS polices the traffic of ``priority RATE`` only while the line is congested; here the meter always counts
    (docs/policies/ios.md).

    Raises:
        InputError: Two policers in one class, or one that doesn't say what happens.
    """
    police, priority = policy_class.police, policy_class.priority
    if priority is not None and priority.rate is not None:
        if police is not None:
            raise InputError(police.origin, "'police' beside 'priority' with a rate", "one policer for a class")
        return _priority_meter(priority, priority.rate, basis, whole)
    return None if police is None else _police_meter(configuration, police, basis, whole)


def _priority_meter(priority: Priority, amount: Amount, basis: RateBasis, whole: Whole) -> Meter:
    bits = _bits(amount, whole)
    burst = priority.burst_bytes if priority.burst_bytes is not None else bits // PRIORITY_DIVISOR
    drop = Treatment(drop=True).at(priority.origin)
    meter = Meter(
        kind=MeterKind.SINGLE_RATE,
        committed_rate=rate(bits, basis),
        committed_burst_bytes=min(max(1, burst), HIGHEST_BURST),
        yellow=drop,
        red=drop,
    )
    return meter.at(priority.origin)


def _police_meter(configuration: Configuration, police: Police, basis: RateBasis, whole: Whole) -> Meter:
    bits = _bits(police.committed, whole)
    conform = _treatment(police, "conform-action", {})
    exceed = _treatment(police, "exceed-action", {"drop": True})
    said = {
        "committed_rate": rate(bits, basis),
        "committed_burst_bytes": _burst(police, police.committed_burst, bits),
        "green": conform,
        "yellow": exceed,
    }
    if police.peak is not None:
        peak = _bits(police.peak, whole)
        if peak < bits:
            raise InputError(police.origin, f"a peak rate of {peak} bit/s below the committed {bits}", "it above")
        if "violate-action" not in police.actions and not exceed.drop:
            raise InputError(
                police.origin, "a peak rate and an exceed-action without a violate-action", "the violate-action, too"
            )
        said |= {
            "kind": MeterKind.TWO_RATE,
            "peak_rate": rate(peak, basis),
            "peak_burst_bytes": _burst(police, police.excess_burst, peak),
            "red": _treatment(police, "violate-action", {"drop": True}),
        }
    elif "violate-action" in police.actions:
        # The third number is the size of the second bucket ("Traffic Policing", Cisco IOS Release 12.2(2)T).
        excess = police.excess_burst or Burst(bytes=said["committed_burst_bytes"])  # type: ignore[arg-type]
        said |= {
            "kind": MeterKind.SINGLE_RATE,
            "excess_burst_bytes": _burst(police, excess, bits),
            "red": _treatment(police, "violate-action", {"drop": True}),
        }
    else:
        if police.excess_burst is not None:
            message = "the second burst has no effect: without a violate-action there is one token bucket"
            configuration.note(police.origin, message)
        said |= {"kind": MeterKind.SINGLE_RATE, "red": exceed}
    return Meter.model_validate(said).at(police.origin)


def _bits(amount: Amount, whole: Whole) -> int:
    return bits_per_second(amount, 0 if amount.percent is None else whole())


def _burst(police: Police, burst: Burst | None, bits: int) -> int:
    if burst is None:
        return min(max(LEAST_BURST, bits // BURST_DIVISOR), HIGHEST_BURST)
    if burst.bytes is not None:
        return burst.bytes
    assert burst.milliseconds is not None
    found = max(1, bits * burst.milliseconds // 8000)
    if found > HIGHEST_BURST:
        raise InputError(
            police.origin, f"{burst.milliseconds} ms, which is a burst of {found} bytes", f"at most {HIGHEST_BURST}"
        )
    return found


def _treatment(police: Police, event: str, otherwise: dict[str, int | bool]) -> Treatment:
    said: dict[str, object] = dict(police.actions.get(event, otherwise))
    if "set_pcp" in said:
        said["set_pcp"] = PriorityCodePoint(int(str(said["set_pcp"])))
    return Treatment.model_validate(said).at(police.origin)
