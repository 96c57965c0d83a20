"""RFC 4594: service classes, with VOICE-ADMIT (RFC 5865) and lower effort (RFC 8622): an example's twelve, measured."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

from phb.targets import Capability
from phb_conform.check import Finding, Level, check, judged
from phb_conform.probing import OUT, datagram, order, shaped_slowly, through, tos_of
from phb_conform.streams import left_before, numbering, serve, steady, together, waits_ns
from phb_device import Arrival, Device, Line

_POLICY = files("phb_examples").joinpath("policies/service-classes.yaml").read_text()
_LINE_BPS = 10_000_000
_LINE = Line(_LINE_BPS)
_NEEDS = (Capability.BANDWIDTH_SHARES, Capability.STRICT_LEVELS, Capability.EARLY_DETECTION, Capability.SHAPING)

_EF, _VOICE_ADMIT, _CS6, _CS7, _LOWER_EFFORT, _DEFAULT = 46, 44, 48, 56, 1, 0
_RATED = {
    "network control": (_CS6, 50),
    "signalling": (40, 30),
    "real-time interactive": (32, 80),
    "multimedia conferencing": (34, 120),
    "broadcast video": (24, 80),
    "multimedia streaming": (26, 80),
    "low-latency data": (18, 100),
    "administration": (16, 30),
    "high-throughput data": (10, 100),
    "standard": (_DEFAULT, 129),
}
"""Code points by the RFC's figure 3, and the rates that the example gives them, in thousandths of the line."""


def _load(times: float, seconds: float, but: tuple[int, ...] = ()) -> list[Arrival]:
    """Return the traffic of each rated class except some: its rate times a factor, in frames of 1,500 bytes."""
    return together(
        *(
            steady(datagram(tos=code_point << 2, size=1500), times * rate / 1000 * _LINE_BPS, seconds, place * 1e-5)
            for place, (code_point, rate) in enumerate(_RATED.values())
            if code_point not in but
        )
    )


def _calls(code_point: int, rate_bps: float, seconds: float) -> list[Arrival]:
    return steady(datagram(tos=code_point << 2, size=200), rate_bps, seconds, 3e-6)


def _rates(device: Device, arrivals: list[Arrival], seconds: float) -> Mapping[int, float]:
    """Return the share of each code point, in thousandths of the line."""
    bits: dict[int, int] = {}
    # A queue takes a moment to fill.
    for each in left_before(device.run(arrivals, lines={OUT: _LINE}), seconds):
        if each.time_ns > 0.5e9:
            bits[tos_of(each.frame) >> 2] = bits.get(tos_of(each.frame) >> 2, 0) + len(each.frame) * 8
    return {code_point: 1000 * each / (_LINE_BPS * (seconds - 0.5)) for code_point, each in bits.items()}


@check(
    "RFC 4594",
    "1.5.4",
    Level.SHOULD,
    "each service class has a queue of its own, served at its rate",
    needs=_NEEDS,
    virtual=True,
)
def each_service_class_gets_its_rate(device: Device) -> Finding:
    """All rated classes offer twice their rates for three seconds, telephony and admitted calls all that they may."""
    device.push(_POLICY)
    calls = [_calls(code_point, 1_000_000, 3) for code_point in (_EF, _VOICE_ADMIT)]
    rates = _rates(device, together(_load(2, 3), *calls), 3)
    short = {name: rates.get(code_point, 0) / rate for name, (code_point, rate) in _RATED.items()}
    worst = min(short, key=lambda name: short[name])
    said = f"ten classes get their rates, the least {short[worst]:.2%} of it ({worst}); " + ", ".join(
        f"{name} {rates.get(code_point, 0) / 10:.2f} %" for name, (code_point, _) in _RATED.items()
    )
    return judged(short[worst] > 0.99, said, least=short[worst])


@check(
    "RFC 4594",
    "4.1",
    Level.MUST,
    "telephony waits for a packet on the line at most, whatever else there is",
    needs=_NEEDS,
    virtual=True,
)
def telephony_is_served_first(device: Device) -> Finding:
    """EF offers half of its meter's rate, while all other classes offer twice their rates."""
    device.push(_POLICY)
    arrivals = numbering(together(_load(2, 2), _calls(_EF, 500_000, 2)))
    left = device.run(arrivals, lines={OUT: _LINE})
    waits = [wait for number, wait in waits_ns(arrivals, left).items() if tos_of(arrivals[number].frame) >> 2 == _EF]
    sent = sum(tos_of(each.frame) >> 2 == _EF for each in arrivals)
    # One long packet on the line, then the call's own.
    most = (1500 + 200) * 8 * 1_000_000_000 // _LINE_BPS
    said = f"{len(waits)} of {sent} packets left, the slowest after {max(waits) / 1000:.0f} us of {most / 1000:.0f} us"
    return judged(len(waits) == sent and max(waits) <= most, said, longest_ns=max(waits))


@check(
    "RFC 4594",
    "3.2",
    Level.MUST,
    "network control has what it needs however much else there is",
    needs=_NEEDS,
    virtual=True,
)
def network_control_is_kept(device: Device) -> Finding:
    """CS6 and CS7 offer nine tenths of their rate, all others five times theirs, and calls more than they may."""
    device.push(_POLICY)
    control = [
        steady(datagram(tos=code_point << 2, size=300), 0.9 * 0.025 * _LINE_BPS, 2) for code_point in (_CS6, _CS7)
    ]
    calls = [_calls(code_point, 5_000_000, 2) for code_point in (_EF, _VOICE_ADMIT)]
    served = serve(device, together(_load(5, 2, but=(_CS6,)), *control, *calls), _LINE_BPS)
    losses = {code_point: served[code_point << 2].loss for code_point in (_CS6, _CS7)}
    said = f"CS6 loses {losses[_CS6]:.1%}, CS7 {losses[_CS7]:.1%}, the default {served[0].loss:.1%}"
    return judged(not any(losses.values()) and served[0].loss > 0.5, said)


@check(
    "RFC 4594", "4.1", Level.MUST, "what waits of telephony leaves before all else, lower effort's behind", needs=_NEEDS
)
def the_order_of_classes(device: Device) -> Finding:
    """Lower effort comes first, then the default, then calls; works by the clock too."""
    device.push(shaped_slowly(_POLICY))
    code_points = [_LOWER_EFFORT, _LOWER_EFFORT, _DEFAULT, _DEFAULT, _EF, _VOICE_ADMIT]
    left = order(device, [datagram(number, tos=each << 2) for number, each in enumerate(code_points)])
    found = [code_points[number] for number in left]
    return judged(
        found == [_EF, _VOICE_ADMIT, _DEFAULT, _DEFAULT, _LOWER_EFFORT, _LOWER_EFFORT],
        f"code points left in the order {' '.join(map(str, found))}",
    )


@check(
    "RFC 5865",
    "2",
    Level.SHOULD,
    "admitted calls are treated as EF, and those that were not admitted do no harm",
    needs=_NEEDS,
    virtual=True,
)
def admitted_calls_are_kept(device: Device) -> Finding:
    """VOICE-ADMIT (44) offers nine tenths of its meter's rate, EF five times its own, others twice theirs."""
    device.push(_POLICY)
    arrivals = numbering(together(_load(2, 2), _calls(_EF, 5_000_000, 2), _calls(_VOICE_ADMIT, 900_000, 2)))
    left = device.run(arrivals, lines={OUT: _LINE})
    waits: dict[int, list[int]] = {_EF: [], _VOICE_ADMIT: []}
    for number, wait in waits_ns(arrivals, left).items():
        waits.get(tos_of(arrivals[number].frame) >> 2, []).append(wait)
    sent = {each: sum(tos_of(one.frame) >> 2 == each for one in arrivals) for each in waits}
    lost = {each: 1 - len(waits[each]) / sent[each] for each in waits}
    longest_us = {each: max(waits[each], default=0) / 1000 for each in waits}
    said = (
        f"VOICE-ADMIT loses {lost[_VOICE_ADMIT]:.1%} and waits {longest_us[_VOICE_ADMIT]:.0f} us at most, "
        f"EF loses {lost[_EF]:.1%} to its meter and waits {longest_us[_EF]:.0f} us"
    )
    # One long packet, and the burst that EF's meter lets pass.
    most_us = (1500 + 3000 + 200) * 8e6 / _LINE_BPS
    return judged(lost[_VOICE_ADMIT] == 0 and lost[_EF] > 0.7 and longest_us[_VOICE_ADMIT] <= most_us, said)


@check(
    "RFC 8622",
    "2",
    Level.SHOULD,
    "lower effort gets next to nothing while others want the line",
    needs=_NEEDS,
    virtual=True,
)
def lower_effort_yields(device: Device) -> Finding:
    """All classes offer traffic; the example's scheduler leaves a thousandth of the line to lower effort."""
    device.push(_POLICY)
    calls = [_calls(code_point, 1_000_000, 3) for code_point in (_EF, _VOICE_ADMIT)]
    greedy = steady(datagram(tos=_LOWER_EFFORT << 2, size=1500), _LINE_BPS, 3)
    rates = _rates(device, together(_load(2, 3), *calls, greedy), 3)
    part = rates.get(_LOWER_EFFORT, 0) / 1000
    return judged(0 < part < 0.002, f"{part:.3%} of the line", part=part)


@check(
    "RFC 8622",
    "2",
    Level.SHOULD,
    "lower effort has the whole line while nobody else wants it",
    needs=_NEEDS,
    virtual=True,
)
def lower_effort_takes_an_idle_line(device: Device) -> Finding:
    """It offers 95 % of the line, alone."""
    device.push(_POLICY)
    arrivals = steady(datagram(tos=_LOWER_EFFORT << 2, size=1500), 0.95 * _LINE_BPS, 2)
    served = serve(device, arrivals, _LINE_BPS)[_LOWER_EFFORT << 2]
    return judged(served.loss == 0, f"{served.left} of {served.sent} packets left")


@check("RFC 8622", "6", Level.SHOULD, "lower effort is not marked anew as the default")
def lower_effort_keeps_its_code_point(device: Device) -> Finding:
    """By a policy that knows it, and by one that doesn't."""
    frames = {number: datagram(number, tos=_LOWER_EFFORT << 2, version=version) for number, version in ((4, 4), (6, 6))}
    kept = 0
    for policy in (_unqueued(_POLICY), re.sub(".*dscp: LE.*\n", "", _unqueued(_POLICY))):
        device.push(policy)
        kept += sum(through(device, frames.values()).get(number) == frame for number, frame in frames.items())
    return judged(kept == 4, f"{kept} of 4 packets left as they came")


def _unqueued(policy: str) -> str:
    """Return the policy without its queues, for any target."""
    return policy.partition("queueing:")[0]
