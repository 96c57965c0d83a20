"""Behaviours at random: small, with overlaps in every dimension, so that a few steps make many different cells."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import strategies as st

from phb.behaviour.behaviour import Behaviour, Meter, Route, RouteKind, Service, Step, Treatment
from phb.behaviour.marks import UNMARKED, Marks
from phb.model import MeterKind
from phb.packets.boxes import Interval, ValueBox
from phb.packets.space import ADDRESS_BITS, Packet, Version, box_of, every, every_packet

EPOCHS = 2
PORTS = (1, 2)
WITHIN = every_packet(every(EPOCHS))
METER = Meter(MeterKind.SINGLE_RATE, 1000, 1500, 0, 1500, False, 0, False)
MARKS = (
    UNMARKED,
    Marks(value=0xB8, mask=0xFC),
    Marks(value=0, mask=0xFF, group=2),
    Marks(value=0x20, mask=0xE0, pcp_value=5, pcp_mask=7),
    Marks(from_pcp=0xE0),
    Marks(from_precedence=7),
    Marks(pcp_value=5, pcp_mask=7, group=1),
)


def _interval(random: Random, last: int) -> Interval:
    low, high = sorted(random.choice((0, 1, 80, 1024, last // 2, last - 1, last)) for _ in range(2))
    return max(0, min(low, last)), max(0, min(high, last))


def box(random: Random, version: Version, *, output: bool = False) -> ValueBox:
    """Give a box that asks for a few dimensions."""
    last = (1 << ADDRESS_BITS[version]) - 1
    asked: dict[str, Interval | int] = {
        "source": _interval(random, last),
        "destination": _interval(random, last),
        "source_port": _interval(random, 0xFFFF),
        "destination_port": _interval(random, 0xFFFF),
        "vlan": _interval(random, 0xFFF),
        "message": _interval(random, 1 << 16),
        "ingress": random.choice((0b10, 0b110, 0b100)),
        "protocol": random.choice((1 << 6, 1 << 17, 1 << 6 | 1 << 17, every(256) & ~(1 << 6))),
        "tos": random.choice((1, 1 << 0xB8, 1 | 1 << 0xB8, every(256) & ~1, every(128), every(4) << 0xB8)),
        "tag": random.choice((1 << 5, 1 << 8, every(8), 0b1100)),
        "flags": random.choice((1 << 2, 1 << 256, every(256))),
        "epoch": random.choice((1, 2)),
    }
    if output:
        asked |= {"egress": 1 << random.choice(PORTS), "group": random.choice((1, 0b10, 0b101, every(100)))}
    return box_of(
        version, **{"epochs": every(EPOCHS)} | dict(random.sample(list(asked.items()), random.choice((0, 1, 1, 2, 3))))
    )


def _steps(random: Random, count: int, *, output: bool) -> tuple[Step[Treatment], ...]:
    steps = []
    for number in range(random.randrange(count + 1)):
        version = random.choice((Version.IPV4, Version.IPV4, Version.IPV6, Version.NONE))
        boxes = [box(random, version, output=output) for _ in range(random.choice((1, 1, 2)))]
        unless = [box(random, version, output=output) for _ in range(random.choice((0, 0, 0, 1, 2)))]
        steps.append(Step(tuple(boxes), tuple(unless), treatment(random), f"rule {number}"))
    return tuple(steps)


def treatment(random: Random) -> Treatment:
    """Give a treatment."""
    if not random.randrange(5):
        return Treatment(blocked=True)
    meter = random.choice((None, None, METER))
    green, yellow, red = (random.choice(MARKS) for _ in range(3))
    return Treatment(
        traffic_class=random.choice((None, "voice")),
        stream=None if meter is None else random.choice("ab"),
        meter=meter,
        colours=(green, random.choice((green, yellow)), random.choice((None, red))),
    )


def behaviour(random: Random, count: int = 3) -> Behaviour:
    """Give a behaviour with at most `count` steps in each list."""
    routes = []
    for port in random.sample((*PORTS, None), random.randrange(4)):
        version = random.choice((Version.IPV4, Version.IPV6))
        low, high = _interval(random, (1 << ADDRESS_BITS[version]) - 1)
        where = random.choice(({}, {"destination": (low, high)}, {"ingress": 0b10}))
        kind = RouteKind.DISCARD if port is None else RouteKind.WIRE
        routes.append(Step((box_of(version, **{"epochs": every(EPOCHS)} | where),), (), Route(kind, port)))
    return Behaviour(
        _steps(random, count, output=False),
        tuple(routes),
        _steps(random, count, output=True),
        services={1: {None: Service("rest"), "voice": Service("first", (("level", 0),))}},
    )


def behaviours(count: int) -> st.SearchStrategy[Behaviour]:
    """Give behaviours with at most `count` steps in each list."""
    return st.builds(behaviour, st.randoms(use_true_random=True), st.just(count))


def edited(random: Random, of: Behaviour) -> Behaviour:
    """Give a behaviour that is a little different, or said differently."""
    kind = random.choice(("input", "output"))
    steps = list(getattr(of, kind))
    change = random.choice(("move", "move", "drop", "add", "treat", "alone", "split", "split", "nothing"))
    at = random.randrange(len(steps)) if steps else 0
    if change == "add":
        steps[at:at] = _steps(random, 1, output=kind == "output")
    elif change == "move" and steps:
        steps.insert(random.randrange(len(steps)), steps.pop(at))
    elif change == "drop" and steps:
        del steps[at]
    elif change == "treat" and steps:
        steps[at] = replace(steps[at], does=treatment(random))
    elif change == "split" and steps:
        boxes = tuple(part for each in steps[at].boxes for part in _halves(random, each))
        steps[at] = replace(steps[at], boxes=tuple(random.sample(boxes, len(boxes))))
    elif change == "alone" and steps and not steps[at].unless:
        steps[at : at + 1] = [replace(steps[at], boxes=(each,)) for each in steps[at].boxes]
    return replace(of, **{kind: tuple(steps)})


def _halves(random: Random, of: ValueBox) -> list[ValueBox]:
    """Give the parts of a box, divided in one dimension."""
    number = random.randrange(len(of.intervals))
    low, high = of.intervals[number]
    if low == high:
        return [of]
    middle = random.randrange(low, high)
    before, after = of.intervals[:number], of.intervals[number + 1 :]
    return [ValueBox((*before, part, *after), of.subsets) for part in ((low, middle), (middle + 1, high))]


def packet(random: Random, within: ValueBox) -> Packet:
    """Give a packet of a box: at its ends, or anywhere."""
    return Packet(
        tuple(random.choice((low, high, random.randint(low, high))) for low, high in within.intervals),
        tuple(random.choice([n for n in range(bits.bit_length()) if bits >> n & 1]) for bits in within.subsets),
    )
