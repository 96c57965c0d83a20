"""RFC 2597: assured forwarding."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from random import Random

from phb.targets import Capability
from phb_conform.check import Finding, Level, check, judged
from phb_conform.measures.binomial import interval
from phb_conform.measures.reordering import reordered
from phb_conform.probing import IN, OUT, datagram, number_of, numbered, shaped, through, tos_of
from phb_conform.streams import Served, left_before, serve, steady, together
from phb_device import CONNECTED, Arrival, Device, Line

_CLASSES = (1, 2, 3, 4)
_PRECEDENCES = (1, 2, 3)
_NAMES = [f"AF{number}{precedence}" for number in _CLASSES for precedence in _PRECEDENCES]
_SHARES = {1: 40, 2: 30, 3: 20, 4: 10}
_LINE_BPS = 1_000_000
_QUEUES = (Capability.BANDWIDTH_SHARES, Capability.EARLY_DETECTION)

# Early detection lets the average of an idle queue decay at the rate of the port.
_CLASSIFIED = (
    CONNECTED.replace("name: line}", f"name: line, rate: {{value: {_LINE_BPS}, unit: bit/s, basis: ethernet}}}}")
    + f"classes: [{', '.join(f'{{name: af{each}}}' for each in _CLASSES)}]\n"
    + f"actions: [{', '.join(f'{{name: to-af{each}, class: af{each}}}' for each in _CLASSES)}]\n"
    + "behaviour-aggregates:\n"
    + "".join(f"  - {{name: {name}, dscp: {name}, actions: [to-af{name[2]}]}}\n" for name in _NAMES)
)
_LIMITED = (
    "early-detection: {average-weight: 6, profiles: ["
    + ", ".join(
        f"{{dscp: AF{{number}}{precedence}, minimum: {low}, maximum: {high}, denominator: 4}}"
        for precedence, low, high in ((1, 30, 50), (2, 20, 40), (3, 10, 30))
    )
    + "]}"
)
"""Of a class: the larger the drop precedence, the shorter the queue from which packets are dropped."""


def _octet(number: int, precedence: int = 1) -> int:
    """Return the ToS octet of an AF code point, by section 6 of the RFC: 001010 is AF11, 100110 is AF43."""
    return (number << 3 | precedence << 1) << 2


def _policy(queue: Mapping[int, str]) -> str:
    """Return four classes, with further keys of each queue."""
    rows = "".join(f"        - {{class: af{number}, {more}}}\n" for number, more in queue.items())
    return f"{_CLASSIFIED}queueing:\n  - port: line\n    schedule:\n      kind: classes\n      queues:\n{rows}"


def _assured(more: str = "") -> str:
    """Return four classes with bandwidth and early detection, and with further keys of each."""
    return _policy(
        {
            each: f"bandwidth: {{percent: {share}}}, {more}{_LIMITED.replace('{number}', str(each))}"
            for each, share in _SHARES.items()
        }
    )


@check("RFC 2597", "6", Level.SHOULD, "the twelve recommended code points are known by their names")
def recommended_code_points_are_known(device: Device) -> Finding:
    """Each name gets a code point of its own; packets come with the figures."""
    device.push(
        CONNECTED
        + "actions:\n"
        + "".join(f"  - {{name: mark-{name}, set-dscp: {place}}}\n" for place, name in enumerate(_NAMES))
        + "behaviour-aggregates:\n"
        + "".join(f"  - {{name: {name}, dscp: {name}, actions: [mark-{name}]}}\n" for name in _NAMES)
    )
    octets = [_octet(number, precedence) for number in _CLASSES for precedence in _PRECEDENCES]
    left = through(device, [datagram(place, tos=octet) for place, octet in enumerate(octets)])
    found = [place for place, frame in left.items() if tos_of(frame) >> 2 == place]
    return judged(len(found) == len(_NAMES), f"{len(found)} of {len(_NAMES)} names are the RFC's code points")


def _losses(device: Device, number: int, rate_bps: float) -> dict[int, Served]:
    """Return how many packets of equal streams arrive, by the three precedences of a class."""
    device.reset()
    device.push(_assured())
    # Small offsets, or one stream would always find the place that another one has left.
    streams = [
        steady(datagram(tos=_octet(number, precedence), size=250), rate_bps / 3, 20, start_s=precedence * 0.0007)
        for precedence in _PRECEDENCES
    ]
    served = serve(device, together(*streams), _LINE_BPS)
    return {precedence: served[_octet(number, precedence)] for precedence in _PRECEDENCES}


@check(
    "RFC 2597",
    "2",
    Level.MUST,
    "in a class, a larger drop precedence is never more likely to pass",
    needs=_QUEUES,
    virtual=True,
)
def drop_precedences_are_ordered(device: Device) -> Finding:
    """Each class in turn has one and a half times the line, in equal parts of its three precedences."""
    shown, holds = [], True
    for number in _CLASSES:
        losses = [each.loss for each in _losses(device, number, 1.5 * _LINE_BPS).values()]
        holds &= losses == sorted(losses) and losses[0] < losses[2]
        shown.append(f"AF{number}x {' '.join(f'{loss:.1%}' for loss in losses)}")
    return judged(holds, "lost by precedence 1, 2, 3: " + "; ".join(shown))


@check(
    "RFC 2597",
    "2",
    Level.MUST,
    "all three drop precedences are accepted, at two levels of loss at least",
    needs=_QUEUES,
    virtual=True,
)
def three_precedences_two_levels(device: Device) -> Finding:
    """How far apart the intervals of the losses are."""
    served = _losses(device, 1, 1.5 * _LINE_BPS)
    within = [interval(each.sent - each.left, each.sent) for each in served.values()]
    levels = 1 + sum(not one.overlaps(other) for one, other in pairwise(within))
    passed_some = all(each.left for each in served.values())
    said = f"{levels} levels whose 99.9 % intervals are apart: {', '.join(map(str, within))}"
    return judged(levels >= 2 and passed_some, said)


@check(
    "RFC 2597",
    "2",
    Level.MUST,
    "each class has a bandwidth of its own that can be configured",
    needs=_QUEUES,
    virtual=True,
)
def each_class_gets_its_bandwidth(device: Device) -> Finding:
    """Each of the four offers twice the line; their bandwidths in ten seconds beside the configured ones."""
    device.push(_assured())
    seconds = 10
    streams = [steady(datagram(tos=_octet(each), size=250), 2 * _LINE_BPS, seconds, each * 0.0001) for each in _CLASSES]
    left = left_before(device.run(together(*streams), lines={OUT: Line(_LINE_BPS)}), seconds)
    counts = {each: sum(tos_of(one.frame) == _octet(each) for one in left) for each in _CLASSES}
    got = {each: 100 * count / len(left) for each, count in counts.items()}
    error = max(abs(got[each] / share - 1) for each, share in _SHARES.items())
    said = ", ".join(f"AF{each}x {part:.2f} % of {_SHARES[each]} %" for each, part in got.items())
    return judged(error < 0.005, said, error=error)


@check(
    "RFC 2597",
    "2",
    Level.MUST,
    "classes are forwarded independently: one's excess does not hurt another",
    needs=_QUEUES,
    virtual=True,
)
def excess_does_not_hurt_other_classes(device: Device) -> Finding:
    """Each class in turn has five times the line, and the others nine tenths of their minimum."""
    shown, holds = [], True
    for greedy in _CLASSES:
        device.reset()
        device.push(_assured())
        streams = [
            steady(
                datagram(tos=_octet(each, 3), size=250),
                5 * _LINE_BPS if each == greedy else 0.009 * share * _LINE_BPS,
                2,
                each * 0.0001,
            )
            for each, share in _SHARES.items()
        ]
        served = serve(device, together(*streams), _LINE_BPS)
        others = max(served[_octet(each, 3)].loss for each in _CLASSES if each != greedy)
        holds &= others == 0 and served[_octet(greedy, 3)].loss > 0
        shown.append(f"AF{greedy}x loses {served[_octet(greedy, 3)].loss:.0%}, the others {others:.1%}")
    return judged(holds, "; ".join(shown))


@check("RFC 2597", "2", Level.SHOULD, "what a class does not use is there for the others", needs=_QUEUES, virtual=True)
def excess_resources_can_be_used(device: Device) -> Finding:
    """AF41, which has a tenth of the line, offers nine tenths of it beside AF11's twentieth."""
    device.push(_assured())
    streams = [
        steady(datagram(tos=_octet(each), size=250), part * _LINE_BPS, 4) for each, part in ((4, 0.9), (1, 0.05))
    ]
    served = serve(device, together(*streams), _LINE_BPS)
    lost = {each: served[_octet(each)].loss for each in (4, 1)}
    return judged(not any(lost.values()), f"AF41 loses {lost[4]:.1%} of nine tenths of the line, AF11 {lost[1]:.1%}")


@check(
    "RFC 2597",
    "2",
    Level.MUST,
    "packets of one microflow in one class are never reordered",
    needs=_QUEUES,
    virtual=True,
)
def no_reordering_inside_a_class(device: Device) -> Finding:
    return _order_of_microflows(device, _assured())


@check(
    "RFC 2597",
    "2",
    Level.MUST,
    "nor are they where the flows of a class are queued fairly",
    needs=(*_QUEUES, Capability.FLOW_QUEUEING),
    virtual=True,
)
def no_reordering_among_fair_flows(device: Device) -> Finding:
    """Fair queueing must not take the drop precedences of one microflow for several."""
    return _order_of_microflows(device, _assured("fair-queue: {dialect: ios-hqf}, "))


def _order_of_microflows(device: Device, policy: str) -> Finding:
    """Three microflows in each class, each with all drop precedences at random and in bursts, overload a line."""
    device.push(policy)
    random = Random(1)
    frames = {
        (number, flow, precedence): datagram(tos=_octet(number, precedence), source_port=1000 + flow, size=250)
        for number in _CLASSES
        for flow in range(3)
        for precedence in _PRECEDENCES
    }
    flows, arrivals, time_ns = [], [], 0
    for place in range(6000):
        number, flow = random.choice(_CLASSES), random.randrange(3)
        flows.append((number, flow))
        arrivals.append(Arrival(time_ns, IN, numbered(frames[number, flow, random.choice(_PRECEDENCES)], place)))
        time_ns += random.choice((0, 0, 0, 5_000_000))
    left = [number_of(each.frame) for each in device.run(arrivals, lines={OUT: Line(_LINE_BPS)})]
    late = len(reordered((flows[number], number) for number in left))
    said = f"{late} of {len(left)} packets of 12 microflows reordered"
    return judged(late == 0 and len(left) > 1000, said, reordered=late)


@check(
    "RFC 2597",
    "2",
    Level.MUST,
    "order is kept inside a class on this switch's own clock",
    needs=(*_QUEUES, Capability.SHAPING),
)
def order_is_kept_behind_a_shaper(device: Device) -> Finding:
    """Two microflows of one class wait at a slow port."""
    device.push(shaped("schedule: {kind: fifo}", before=_CLASSIFIED))
    frames = [datagram(number, tos=_octet(1, 1 + number % 3), source_port=1000 + number % 2) for number in range(12)]
    left = [number_of(each.frame) for each in device.run([Arrival(0, IN, frame) for frame in frames], quiet_s=1.0)]
    return judged(left == list(range(12)), f"order {left}")


@check("RFC 2597", "4", Level.MUST, "short bursts are queued", needs=_QUEUES, virtual=True)
def short_bursts_are_queued(device: Device) -> Finding:
    """Every second thirty packets come at once, more than the queue from which drops begin; in the mean it's short."""
    device.push(_assured())
    frame = datagram(tos=_octet(1, 3), size=250)
    arrivals = [Arrival(second * 1_000_000_000 + number, IN, frame) for second in range(20) for number in range(30)]
    served = serve(device, arrivals, _LINE_BPS)[_octet(1, 3)]
    said = f"{served.left} of {served.sent} packets of the largest precedence left"
    return judged(served.left == served.sent, said)


@check(
    "RFC 2597",
    "4",
    Level.MUST,
    "long congestion is answered with drops, so that queues stay short",
    needs=_QUEUES,
    virtual=True,
)
def long_congestion_is_dropped(device: Device) -> Finding:
    """A class offers 1.2 times the line for 20 s."""
    device.push(_assured())
    frame = datagram(tos=_octet(1, 1), size=250)
    arrivals = steady(frame, 1.2 * _LINE_BPS, 20)
    left = device.run(arrivals, lines={OUT: Line(_LINE_BPS)})
    # Packets that wait when the last one has come leave after that.
    waiting = sum(each.time_ns > arrivals[-1].time_ns for each in left)
    dropped = 1 - len(left) / len(arrivals)
    said = f"{dropped:.1%} dropped of 16.7 % too many; {waiting} packets wait at the end, early detection ends at 50"
    return judged(0.15 < dropped < 0.2 and waiting <= 50, said, dropped=dropped)


@check(
    "RFC 2597",
    "4",
    Level.MUST,
    "drops follow the average of the queue, whatever the shape of the traffic",
    needs=_QUEUES,
    virtual=True,
)
def bursts_lose_as_much_as_steady_flows(device: Device) -> Finding:
    """Two microflows of one rate in one class: a packet every 5 ms, and ten at once every 50 ms."""
    device.push(_assured())
    steady_frame, bursty_frame = (datagram(tos=_octet(1, 2), source_port=port, size=400) for port in (1, 2))
    count = 4000
    even = [Arrival(number * 5_000_000, IN, steady_frame) for number in range(count)]
    bursts = [Arrival(number // 10 * 50_000_000 + 2_500_000 + number % 10, IN, bursty_frame) for number in range(count)]
    left = [each.frame for each in device.run(together(even, bursts), lines={OUT: Line(_LINE_BPS)})]
    within = [interval(count - left.count(frame), count) for frame in (steady_frame, bursty_frame)]
    losses = [1 - left.count(frame) / count for frame in (steady_frame, bursty_frame)]
    said = f"lost: {losses[0]:.1%} {within[0]} of the steady flow, {losses[1]:.1%} {within[1]} of the bursty one"
    return judged(within[0].overlaps(within[1]) and min(losses) > 0, said)
