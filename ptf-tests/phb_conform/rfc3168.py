"""RFC 3168: explicit congestion notification, as far as it concerns routers."""

from __future__ import annotations

from phb.targets import Capability
from phb_conform.check import Finding, Level, check, judged, not_applicable
from phb_conform.measures import early
from phb_conform.measures.binomial import interval
from phb_conform.probing import IN, OUT, datagram, number_of, numbered, through, tos_of
from phb_device import CONNECTED, Arrival, Device, Line

_EARLY = (Capability.EARLY_DETECTION,)
_MINIMUM, _MAXIMUM, _DENOMINATOR = 3, 11, 2
_PROFILE = f"{{dscp: 10, minimum: {_MINIMUM}, maximum: {_MAXIMUM}, denominator: {_DENOMINATOR}}}"
_BETWEEN, _BELOW, _BEYOND = 9, 4, 13
"""Packets before a probe, so that it meets an average between the thresholds, below the lower, beyond the upper one."""

_DSCP = 10 << 2
_NOT_ECT, _ECT1, _ECT0, _CE = range(4)
_PROBES = 1000


def _probe(device: Device, field: int, depth: int = _BETWEEN) -> early.Probed:
    """Have probes with an ECN field meet a queue; those that left are counted by their ECN field."""
    device.reset()
    device.push(early.policy(_PROFILE, ecn=True))
    return early.probe(device, depth, _PROBES, _DSCP | field)


def _probability(average: float) -> float:
    return (average - _MINIMUM) / (_MAXIMUM - _MINIMUM) / _DENOMINATOR


@check(
    "RFC 3168",
    "5",
    Level.MUST,
    "packets that are not ECN-capable are dropped, never marked",
    needs=_EARLY,
    virtual=True,
)
def not_capable_packets_are_dropped(device: Device) -> Finding:
    """At an average between the thresholds."""
    found = _probe(device, _NOT_ECT)
    said = f"of {_PROBES} packets {found.dropped} dropped, {found.left.get(_DSCP | _CE, 0)} marked"
    return judged(found.dropped > 0 and set(found.left) == {_DSCP}, said)


@check("RFC 3168", "5", Level.MUST, "ECT(0) and ECT(1) are the same to a router", needs=_EARLY, virtual=True)
def both_capable_codepoints_are_alike(device: Device) -> Finding:
    """Marks of either at the same average."""
    marks = {}
    for field in (_ECT0, _ECT1):
        found = _probe(device, field)
        if found.dropped or set(found.left) - {_DSCP | field, _DSCP | _CE}:
            return judged(False, f"{found.dropped} dropped, and left as {sorted(found.left)}")
        marks[field] = found.left.get(_DSCP | _CE, 0)
    alike = interval(marks[_ECT0], _PROBES).overlaps(interval(marks[_ECT1], _PROBES))
    said = f"of {_PROBES} packets each: {marks[_ECT0]} of ECT(0) and {marks[_ECT1]} of ECT(1) marked"
    return judged(alike and min(marks.values()) > 0, said)


@check(
    "RFC 3168",
    "5",
    Level.SHOULD,
    "a packet is marked exactly where it would else be dropped",
    needs=_EARLY,
    virtual=True,
)
def marks_have_the_probability_of_drops(device: Device) -> Finding:
    """The marked part of ECT(0) and the dropped part of not-ECT, both beside the probability of the average."""
    marked, dropped = _probe(device, _ECT0), _probe(device, _NOT_ECT)
    counts = {"marked": marked.left.get(_DSCP | _CE, 0), "dropped": dropped.dropped}
    wanted = _probability(marked.average)
    within = {name: interval(count, _PROBES) for name, count in counts.items()}
    said = f"probability {wanted:.4f}; " + ", ".join(
        f"{name} {counts[name] / _PROBES:.4f}, 99.9 % interval {each}" for name, each in within.items()
    )
    return judged(all(wanted in each for each in within.values()), said)


@check("RFC 3168", "5", Level.SHOULD, "without congestion nothing is marked", needs=_EARLY, virtual=True)
def nothing_is_marked_without_congestion(device: Device) -> Finding:
    found = _probe(device, _ECT0, _BELOW)
    return judged(
        found.left == {_DSCP | _ECT0: _PROBES},
        f"average {found.average:.2f} below {_MINIMUM}: {found.left.get(_DSCP | _CE, 0)} of {_PROBES} packets marked",
    )


@check("RFC 3168", "5", Level.MUST, "a packet that has been marked stays marked", needs=_EARLY, virtual=True)
def marks_are_never_taken_away(device: Device) -> Finding:
    """Marked packets meet a queue between the thresholds."""
    found = _probe(device, _CE)
    return judged(
        found.left == {_DSCP | _CE: _PROBES},
        f"of {_PROBES} marked packets {found.left.get(_DSCP | _CE, 0)} left marked, {found.dropped} dropped",
    )


@check(
    "RFC 3168",
    "7",
    Level.SHOULD,
    "beyond the upper threshold ECN-capable packets are dropped too",
    needs=_EARLY,
    virtual=True,
)
def overload_drops_capable_packets(device: Device) -> Finding:
    found = _probe(device, _ECT0, _BEYOND)
    said = f"average {found.average:.2f}, threshold {_MAXIMUM}: {found.dropped} of {_PROBES} packets dropped"
    return judged(found.dropped == _PROBES, said)


@check(
    "RFC 3168",
    "5",
    Level.MUST,
    "a mark changes two bits and the header's checksum, in IPv4 and IPv6",
    needs=_EARLY,
    virtual=True,
)
def marks_change_nothing_else(device: Device) -> Finding:
    """Packets of a burst, byte for byte beside what was sent; the average follows the queue closely."""
    marked = other = 0
    for version in (4, 6):
        device.reset()
        device.push(early.policy("{dscp: 10, minimum: 0, maximum: 300, denominator: 1}", ecn=True))
        sent, ce = (datagram(tos=_DSCP | field, version=version) for field in (_ECT0, _CE))
        arrivals = [Arrival(number, IN, numbered(sent, number)) for number in range(200)]
        left = [each.frame for each in device.run(arrivals, lines={OUT: Line(early.LINE_BPS)})]
        marked += sum(frame == numbered(ce, number_of(frame)) for frame in left)
        other += sum(frame not in (numbered(sent, number_of(frame)), numbered(ce, number_of(frame))) for frame in left)
    return judged(marked > 0 and other == 0, f"{marked} packets marked, {other} changed otherwise")


@check("RFC 3168", "5", Level.MUST, "what is done with the code point beside it leaves the ECN field alone")
def remarking_keeps_the_field(device: Device) -> Finding:
    """A new DSCP for packets of all four ECN code points, IPv4 and IPv6."""
    device.push(CONNECTED + "actions: [{name: ef, set-dscp: EF}]\nrules: [{name: all, match: {}, actions: [ef]}]\n")
    sent = [(version, field) for version in (4, 6) for field in range(4)]
    frames = [datagram(number, tos=_DSCP | field, version=version) for number, (version, field) in enumerate(sent)]
    left = through(device, frames)
    found = [tos_of(left[number]) if number in left else None for number in range(len(sent))]
    return judged(
        found == [46 << 2 | field for _, field in sent], f"{len(left)} packets with EF, ECN fields as they came"
    )


@check("RFC 3168", "9", Level.MUST, "the ECN fields of both headers are combined where tunnels begin and end")
def tunnels_combine_both_fields(device: Device) -> Finding:
    return not_applicable("phb neither makes nor ends tunnels; packets of tunnels are forwarded by their outer header")
