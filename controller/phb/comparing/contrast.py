"""In what two effects differ, thing by thing, in words."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phb.behaviour.behaviour import Behaviour, Fact, RouteKind, Service
from phb.comparing.outcome import (
    WAYS,
    Effect,
    Final2,
    MarkPairs,
    Way,
    buffer,
    coming_colours,
    final_marks,
    happens,
    service,
)
from phb.comparing.wording import clamp_words, meter_words, priority_words, route_words, tos_words
from phb.explain.words import tos_words as octet_words
from phb.pipeline_names import COLOURS

INPUT: Final = "input"
FORWARDING: Final = "forwarding"
OUTPUT: Final = "output"
CLASS: Final = "class"
PRIORITIES: Final = "802.1p priorities by ToS"
BUFFERS: Final = "buffers"


class Deciding(NamedTuple):
    """What decided: the step of a hook, the queue of a class at a port, or the priorities or buffers of a port."""

    hook: str
    port: int | None = None
    traffic_class: Hashable = None


class Contrast(NamedTuple):
    """A thing that two effects do differently.

    Attributes:
        what: Its name.
        a, b: What each does, in words.
        a_by, b_by: What decided it.
        where: Marks of packets for which it is so; None is all.
        tcp: It is so only of packets with a TCP header.
    """

    what: str
    a: str
    b: str
    a_by: tuple[Deciding, ...]
    b_by: tuple[Deciding, ...]
    where: MarkPairs | None = None
    tcp: bool = False


@dataclass
class Acting:
    """A behaviour with what its words need: names of ports by number, classes in words."""

    behaviour: Behaviour
    ports: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def answers(self) -> bool:
        """Whether it is a router, which answers some packets that it doesn't forward."""
        return any(step.does.kind is RouteKind.OWN for step in self.behaviour.forwarding)

    def class_name(self, traffic_class: Hashable) -> str:
        """Give what the policy calls a class."""
        return self.behaviour.class_names.get(traffic_class, "class-default" if traffic_class is None else "")


def contrasts(a: Acting, b: Acting, one: Effect, other: Effect, *, ip: bool) -> tuple[Contrast, ...]:
    """Compare what two behaviours do with packets; `ip` as these packets are."""
    return tuple(_contrasts(a, b, one, other, ip=ip))


def _contrasts(a: Acting, b: Acting, one: Effect, other: Effect, *, ip: bool) -> Iterator[Contrast]:
    if one.passes and other.passes:
        if one.route != other.route:
            yield _routes(a, b, one, other)
        yield from _meters(one, other)
        if one.limits != other.limits:
            yield _limits(one, other)
        yield from _ways(a, b, one, other, ip=ip)
        return
    if (one.passes or other.passes or a.answers or b.answers) and _permission(a, one) != _permission(b, other):
        if one.blocked or other.blocked:
            words = [_permitted(side, effect) for side, effect in ((a, one), (b, other))]
            yield Contrast("permission", words[0], words[1], _by_permission(one), _by_permission(other))
        else:
            yield _routes(a, b, one, other)
        return
    # Both drop all. What they use up before that is missing for others.
    if bool(one.meters) != bool(other.meters):
        yield from _meters(one, other)
    if bool(one.limits) != bool(other.limits):
        yield _limits(one, other)


_BOTH: Final = (Deciding(INPUT), Deciding(OUTPUT))


def _limits(one: Effect, other: Effect) -> Contrast:
    words = [" and ".join(map(str, limits)) or "no limit" for limits in (one.limits, other.limits)]
    return Contrast("TCP connections", words[0], words[1], _BOTH, _BOTH, tcp=True)


def _routes(a: Acting, b: Acting, one: Effect, other: Effect) -> Contrast:
    by = (Deciding(FORWARDING),)
    words = route_words(one.route, a.ports, other.route), route_words(other.route, b.ports, one.route)
    return Contrast("route", *words, by, by)


def _permission(side: Acting, effect: Effect) -> tuple[str, str]:
    """Tell apart what becomes of packets of which one side drops all; a router answers some of those that it drops."""
    where = effect.blocked if side.answers and effect.route.kind is not RouteKind.WIRE else "dropped"
    return ("passes", "") if effect.passes else ("dropped", where or effect.route.kind.value)


def _permitted(side: Acting, effect: Effect) -> str:
    match effect.blocked:
        case "":
            return "let through" if effect.route.port is not None else route_words(effect.route, side.ports)
        case "policing":
            return "dropped whatever its colour"
        case hook:
            return "blocked" if hook == INPUT else "blocked on output"


def _by_permission(effect: Effect) -> tuple[Deciding, ...]:
    return (Deciding(effect.blocked),) if effect.blocked in (INPUT, OUTPUT) else _BOTH


def _meters(one: Effect, other: Effect) -> Iterator[Contrast]:
    for place in range(max(len(one.meters), len(other.meters))):
        pair = [effect.meters[place] if place < len(effect.meters) else None for effect in (one, other)]
        what = "meter" if place == 0 else f"second meter of {COLOURS[place - 1]} packets"
        meters = [each.meter if each is not None else None for each in pair]
        words = [meter_words(each) for each in meters]
        if meters[0] != meters[1]:
            yield Contrast(what, words[0], words[1], _BOTH, _BOTH)
        elif place == 0 and meters[0] is not None and meters[0].colour_aware:
            assert pair[0] is not None
            assert pair[1] is not None
            differ = coming_colours(pair[0]) != coming_colours(pair[1])
            if differ.any():
                yield Contrast(
                    f"colour that the {what} goes by", "by the marks before it", "by other marks", _BOTH, _BOTH, differ
                )


def _levels(effect: Effect) -> int:
    return 0 if not effect.meters else 1 if not any(effect.meters[1:]) else 2


def _label(ways: Iterable[int], possible: Iterable[int], levels: int) -> str:
    """Give `` of yellow packets``; empty of all that are possible."""
    chosen = set(ways)
    if levels == 0 or chosen == set(possible):
        return ""
    if levels == 1:
        names = [COLOURS[number] for number in sorted({way // 3 for way in chosen})]
    else:
        names = [f"{COLOURS[way // 3]}, then {COLOURS[way % 3]}" for way in sorted(chosen)]
    return f" of {' and '.join(names)} packets"


def _ways(a: Acting, b: Acting, one: Effect, other: Effect, *, ip: bool) -> Iterator[Contrast]:
    levels = max(_levels(one), _levels(other))
    pairs: dict[tuple[Way | None, Way | None], list[int]] = {}
    possible = [way for way in range(WAYS) if happens(one.meters, way) and happens(other.meters, way)]
    for number in possible:
        pairs.setdefault((one.ways[number], other.ways[number]), []).append(number)
    found: dict[tuple[object, ...], tuple[Contrast, list[int]]] = {}
    for (way, other_way), numbers in pairs.items():
        for contrast in _way(a, b, way, other_way, ip=ip):
            key = (contrast.what, contrast.a, contrast.b, contrast.a_by, contrast.b_by)
            where = None if contrast.where is None else contrast.where.tobytes()
            found.setdefault((*key, where), (contrast, []))[1].extend(numbers)
    for contrast, numbers in found.values():
        yield contrast._replace(what=contrast.what + _label(numbers, possible, levels))


def _way(a: Acting, b: Acting, way: Way | None, other: Way | None, *, ip: bool) -> Iterator[Contrast]:
    if way is None and other is None:
        return
    if way is None or other is None:
        words = ["dropped" if each is None else _sent(side, each, ip=ip) for side, each in ((a, way), (b, other))]
        yield Contrast("fate", words[0], words[1], _BOTH, _BOTH)
        return
    if way.port is None or other.port is None:
        return
    finals = final_marks(a.behaviour, way, ip=ip), final_marks(b.behaviour, other, ip=ip)
    if finals[0] is not finals[1]:
        for number, (what, say) in enumerate((("ToS", tos_words), ("802.1p priority", priority_words))):
            differ = finals[0][number] != finals[1][number]
            if (ip or number) and differ.any():
                # A port's priorities go over those that rules set.
                by = (*_BOTH, Deciding(PRIORITIES, way.port)) if number else _BOTH
                yield from _marks(what, say, finals, differ, by)
    if way.clamp != other.clamp:
        yield Contrast("TCP rate", clamp_words(way.clamp), clamp_words(other.clamp), _BOTH, _BOTH, tcp=True)
    if way.port != other.port:
        return
    yield from _services(a, b, way, other, finals[0][0], finals[1][0])
    buffers = buffer(a.behaviour, way), buffer(b.behaviour, other)
    by = (*_BOTH, Deciding(BUFFERS, way.port))
    yield from _facts(buffers[0], buffers[1], "buffer: ", by, by)


def _marks(
    what: str,
    say: Callable[[Final2], str | None],
    finals: tuple[Final2, Final2],
    differ: MarkPairs,
    by: tuple[Deciding, ...],
) -> Iterator[Contrast]:
    """Say what marks become, by a rule where there is one, else value by value."""
    one, other = finals
    said = say(one), say(other)
    number = 0 if what == "ToS" else 1
    values = np.where(differ, one[number].astype(np.int64) << 16 | other[number], -1)
    known = None not in said
    for value in [None] if known else np.unique(values[differ]):
        where = differ if value is None else values == value
        marks = (0, 0) if value is None else (int(value) >> 16, int(value) & 0xFFFF)
        shown = [octet_words(mark) if number == 0 else str(mark) for mark in marks]
        words = [word if word is not None else mark for word, mark in zip(said, shown, strict=True)]
        yield Contrast(what, words[0], words[1], by, by, where)


def _sent(side: Acting, way: Way, *, ip: bool) -> str:
    marks = "as it came" if way.port is None else tos_words(final_marks(side.behaviour, way, ip=ip))
    return "sent on" if marks == "as it came" else f"sent on, ToS {marks}"


def _services(
    a: Acting, b: Acting, way: Way, other: Way, tos: NDArray[np.int16], other_tos: NDArray[np.int16]
) -> Iterator[Contrast]:
    services = service(a.behaviour, way), service(b.behaviour, other)
    by: list[tuple[Deciding, ...]] = [(Deciding(CLASS, each.port, each.traffic_class),) for each in (way, other)]
    if a.class_name(way.traffic_class) != b.class_name(other.traffic_class):
        by = [_BOTH + each for each in by]
    yield from _facts(services[0].facts, services[1].facts, "", by[0], by[1])
    early = _early(services[0])[way.colour][tos], _early(services[1])[other.colour][other_tos]
    differ = early[0] != early[1]
    if differ.any():
        joined = early[0][differ].astype(np.int64) << 32 | early[1][differ]
        for pair in np.unique(joined):
            numbers = int(pair) >> 32, int(pair) & 0xFFFFFFFF
            where = (early[0] == numbers[0]) & (early[1] == numbers[1])
            words = [_EARLY_WORDS[number] for number in numbers]
            yield Contrast("early detection", words[0], words[1], by[0], by[1], where)


_EARLY: dict[tuple[Fact, ...] | None, int] = {}
_EARLY_WORDS: list[str] = []


def _early(of: Service) -> NDArray[np.int64]:
    """Give numbers for the facts of early detection, equal ones for equal facts, by colour and ToS."""
    key = of.early
    known = _EARLY_TABLES.get(key)
    if known is None:
        known = np.array([[_early_number(facts) for facts in row] for row in key or ((None,) * 256,) * 3])
        _EARLY_TABLES[key] = known
    return known


_EARLY_TABLES: dict[tuple[tuple[tuple[Fact, ...] | None, ...], ...], NDArray[np.int64]] = {}


def _early_number(facts: tuple[Fact, ...] | None) -> int:
    number = _EARLY.setdefault(facts, len(_EARLY))
    if number == len(_EARLY_WORDS):
        _EARLY_WORDS.append("none" if facts is None else ", ".join(f"{word} {value}" for word, value in facts))
    return number


def _facts(
    one: tuple[Fact, ...],
    other: tuple[Fact, ...],
    prefix: str,
    a_by: tuple[Deciding, ...],
    b_by: tuple[Deciding, ...],
) -> Iterator[Contrast]:
    if one == other:
        return
    said = dict(one), dict(other)
    for word in dict.fromkeys((*said[0], *said[1])):
        values = [facts.get(word) for facts in said]
        if values[0] != values[1] or (word in said[0]) != (word in said[1]):
            words = [str(value) if word in facts else "none" for value, facts in zip(values, said, strict=True)]
            yield Contrast(prefix + word, words[0], words[1], a_by, b_by)
