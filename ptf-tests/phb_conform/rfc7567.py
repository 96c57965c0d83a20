"""RFC 7567: active queue management, recommendations for a node; and RED's probabilities (RFC 2309)."""

from __future__ import annotations

from scapy.layers.inet import ICMP, TCP, UDP
from scapy.packet import Packet

from phb.errors import PhbError
from phb.targets import Capability
from phb_conform.check import Finding, Level, check, failed, judged, passed
from phb_conform.measures import early
from phb_conform.measures.binomial import interval
from phb_conform.probing import OUT, datagram, framed, ip
from phb_conform.streams import numbering, serve, steady, together, waits_ns
from phb_device import CONNECTED, Device, Line

_EARLY = (Capability.EARLY_DETECTION,)
_MINIMUM, _MAXIMUM, _DENOMINATOR = 3, 11, 2
_PROFILE = f"{{dscp: 0, minimum: {_MINIMUM}, maximum: {_MAXIMUM}, denominator: {_DENOMINATOR}}}"
_LINE_BPS = early.LINE_BPS


def probability(average: float) -> float:
    """Return the probability of RED at this average, by the profile of these checks."""
    if average >= _MAXIMUM:
        return 1.0
    return max(0.0, (average - _MINIMUM) / (_MAXIMUM - _MINIMUM)) / _DENOMINATOR


@check(
    "RFC 2309",
    "3",
    Level.DESCRIBED,
    "RED drops with a probability that rises with the average",
    needs=_EARLY,
    virtual=True,
)
def drops_have_the_probability_of_the_average(device: Device) -> Finding:
    """Averages below the minimum, at four points between it and the maximum, and beyond."""
    shown, holds = [], True
    for depth in (4, 6, 8, 10, 12, 13):
        device.reset()
        device.push(early.policy(_PROFILE))
        found = early.probe(device, depth, 1500)
        wanted, within = probability(found.average), interval(found.dropped, found.sent)
        holds &= wanted in within
        shown.append(f"average {found.average:.2f}: {found.dropped / found.sent:.4f} ({wanted:.4f} in {within})")
    return judged(holds, "dropped part and its 99.9 % interval at " + "; ".join(shown))


_WITHOUT = f"{CONNECTED}queueing: [{{port: line, schedule: {{kind: fifo}}, hold-queue: 60}}]\n"
_WITH = early.policy("{minimum: 5, maximum: 55, denominator: 1}").replace(
    f"average-weight: {early.AVERAGE_WEIGHT}", "average-weight: 6"
)


@check("RFC 7567", "4.1", Level.SHOULD, "a queue that is overloaded for long is kept short", needs=_EARLY, virtual=True)
def a_standing_queue_is_kept_short(device: Device) -> Finding:
    """A line is offered 1.1 times its rate; waiting times with early detection, and with a full queue alone."""
    wait_ms = {}
    for name, policy in (("with", _WITH), ("without", _WITHOUT)):
        device.reset()
        device.push(policy)
        arrivals = numbering(steady(datagram(size=500), 1.1 * _LINE_BPS, 20))
        left = device.run(arrivals, lines={OUT: Line(_LINE_BPS)})
        settled = [wait for number, wait in waits_ns(arrivals, left).items() if number > len(arrivals) // 2]
        wait_ms[name] = sum(settled) / len(settled) / 1e6
    said = f"mean wait {wait_ms['with']:.0f} ms with early detection, {wait_ms['without']:.0f} ms with a full queue"
    return judged(wait_ms["with"] < 0.5 * wait_ms["without"], said, with_ms=wait_ms["with"])


@check(
    "RFC 7567",
    "2",
    Level.DESCRIBED,
    "no flow is locked out by another that fills the queue",
    needs=_EARLY,
    virtual=True,
)
def no_flow_is_locked_out(device: Device) -> Finding:
    """One flow takes each place in the queue as soon as it is free; the other always comes just before that."""
    packet_s = 500 * 8 / _LINE_BPS
    quick, late = datagram(tos=0x20, size=500), datagram(tos=0x40, size=500)
    flows = [
        steady(frame, _LINE_BPS, 8, start_s=part * packet_s)
        for frame, part in ((quick, 0.05), (quick, 0.1), (late, 0.95))
    ]
    found = {}
    for name, policy in (("with", _WITH), ("without", _WITHOUT)):
        device.reset()
        device.push(policy)
        found[name] = serve(device, together(*flows), _LINE_BPS)
    fair, unfair = ({octet: each.loss for octet, each in found[name].items()} for name in ("with", "without"))
    quick_lost, late_lost = (interval(each.sent - each.left, each.sent) for each in found["with"].values())
    said = (
        f"the late flow loses {fair[0x40]:.1%} and the quick one {fair[0x20]:.1%}; "
        f"with a full queue instead {unfair[0x40]:.1%} and {unfair[0x20]:.1%}"
    )
    return judged(late_lost.low <= quick_lost.high, said)


@check(
    "RFC 7567",
    "4.2.1",
    Level.SHOULD,
    "ECN-capable packets are marked where others are dropped",
    needs=_EARLY,
    virtual=True,
)
def ecn_is_supported(device: Device) -> Finding:
    """At one average: marks of ECT(0) beside drops of not-ECT."""
    found = {}
    for octet in (0, 2):
        device.reset()
        device.push(early.policy(_PROFILE, ecn=True))
        found[octet] = early.probe(device, 9, 1000, octet)
    marked = found[2].left.get(3, 0)
    said = f"of 1000 each: {found[0].dropped} of not-ECT dropped, {marked} of ECT(0) marked, {found[2].dropped} dropped"
    wanted = probability(found[0].average)
    return judged(found[2].dropped == 0 and wanted in interval(marked, 1000), said)


@check("RFC 7567", "4.3", Level.SHOULD, "it works without parameters that somebody has to tune", needs=_EARLY)
def it_works_without_tuning(device: Device) -> Finding:
    """A policy that asks for early detection without further keys."""
    try:
        device.push(f"{CONNECTED}queueing: [{{port: line, schedule: {{kind: fifo}}, early-detection: {{}}}}]\n")
    except PhbError as error:
        why = str(error).partition(": ")[2]
        return failed(f"thresholds have to be written down: no queue length suits all lines, and RED has none ({why})")
    return passed("a policy without thresholds is taken")


def _transports() -> dict[str, Packet]:
    return {
        "UDP": ip() / UDP(sport=1, dport=2),
        "TCP": ip() / TCP(sport=1, dport=2, flags="A"),
        "ICMP": ip() / ICMP(),
        "ESP": ip().__class__(src="10.0.1.1", dst="10.0.2.1", proto=50),
        "UDP over IPv6": ip(version=6) / UDP(sport=1, dport=2),
    }


def _alike(device: Device, frames: dict[str, bytes]) -> Finding:
    """Each kind of frame is dropped with the probability of the average."""
    shown, holds = [], True
    for name, frame in frames.items():
        device.reset()
        device.push(early.policy(_PROFILE))
        found = early.probe(device, 9, 1000, frame=frame)
        wanted = probability(found.average)
        holds &= wanted in interval(found.dropped, found.sent)
        shown.append(f"{name} {found.dropped / found.sent:.3f}")
    return judged(holds, f"dropped at a probability of {wanted:.3f}: {', '.join(shown)}")


@check("RFC 7567", "4.4", Level.SHOULD, "it answers to congestion, not to sizes of packets", needs=_EARLY, virtual=True)
def sizes_do_not_matter(device: Device) -> Finding:
    """The shortest and the longest frames of Ethernet and one between (see RFC 7141 too)."""
    return _alike(device, {f"{size} bytes": datagram(size=size) for size in (60, 576, 1514)})


@check("RFC 7567", "4.5", Level.SHOULD, "it depends on no transport protocol", needs=_EARLY, virtual=True)
def transports_do_not_matter(device: Device) -> Finding:
    """Transports that the pipeline knows, and one that it doesn't."""
    return _alike(device, {name: framed(packet) for name, packet in _transports().items()})


@check(
    "RFC 7567",
    "2.1",
    Level.DESCRIBED,
    "each of several queues has its own",
    needs=(*_EARLY, Capability.BANDWIDTH_SHARES),
    virtual=True,
)
def each_queue_has_its_own(device: Device) -> Finding:
    """Of two classes with half a line each, one is overloaded; both have early detection."""
    profile = "early-detection: {average-weight: 4, profiles: [{minimum: 5, maximum: 15}]}"
    device.push(
        CONNECTED
        + "classes: [{name: one}]\nactions: [{name: to-one, class: one}]\n"
        + "behaviour-aggregates: [{name: cs1, dscp: CS1, actions: [to-one]}]\n"
        + "queueing:\n  - port: line\n    schedule:\n      kind: classes\n      queues:\n"
        + f"        - {{class: one, bandwidth: {{percent: 50}}, {profile}}}\n"
        + f"        - {{class: class-default, {profile}}}\n"
    )
    served = serve(
        device,
        together(steady(datagram(tos=0x20, size=500), _LINE_BPS, 10), steady(datagram(size=500), 0.4 * _LINE_BPS, 10)),
        _LINE_BPS,
    )
    said = f"the overloaded class loses {served[0x20].loss:.1%}, the other one {served[0].loss:.1%}"
    return judged(served[0x20].loss > 0.3 and served[0].loss == 0, said)
