"""Which packets two behaviours treat differently: cells of an engine, compared by effect and put together again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from phb.behaviour.behaviour import NOTHING, Behaviour, Route, Step, Treatment
from phb.behaviour.deciding import NONE, Decided
from phb.behaviour.marks import UNMARKED
from phb.comparing.aligning import align
from phb.comparing.contrast import (
    BUFFERS,
    CLASS,
    FORWARDING,
    INPUT,
    OUTPUT,
    PRIORITIES,
    Acting,
    Contrast,
    Deciding,
    contrasts,
)
from phb.comparing.outcome import Effect, MarkPairs, Shared, effect
from phb.origin import UNKNOWN, Origin
from phb.packets.boxes import ValueBox, difference, intersection
from phb.packets.space import NO_HEADER, UNTAGGED, Subset, Version, box_of, every, every_packet
from phb.regions.answer import divide
from phb.regions.budget import Budget
from phb.regions.cell import Cell, Open
from phb.values import PROTOCOLS


class Decider(NamedTuple):
    """What decided, for people; `origin` is None where no rule did."""

    name: str
    origin: Origin | None


class Difference(NamedTuple):
    """One thing that is done differently; `partner` are packets that share it with these on one side only."""

    what: str
    a: str
    b: str
    a_by: tuple[Decider, ...]
    b_by: tuple[Decider, ...]
    partner: ValueBox | None = None


class Region(NamedTuple):
    """Packets that are treated differently, as disjoint boxes, and how."""

    boxes: tuple[ValueBox, ...]
    differences: tuple[Difference, ...]


@dataclass
class Differences:
    """All regions in which two behaviours differ.

    Attributes:
        open: Packets of which it isn't known.
        sharing_open: Packets of which it isn't known whether they share meters, counters and queues with the same
            packets on both sides.
    """

    regions: list[Region] = field(default_factory=list)
    open: list[ValueBox] = field(default_factory=list)
    sharing_open: list[ValueBox] = field(default_factory=list)


def differences(
    a: Acting,
    b: Acting,
    epochs: int,
    *,
    within: Sequence[ValueBox] | None = None,
    budget: Budget | None = None,
    progress: Callable[[float], None] | None = None,
) -> Differences:
    """Compare what two behaviours do with every packet.

    Args:
        a: One.
        b: The other.
        epochs: Subset of the epochs that both know.
        within: Disjoint boxes of the packets that are asked about; None is every packet, at ports that lead anywhere.
        budget: When it is spent, the rest stays open.
        progress: Is told the share of the work that is done.
    """
    if within is None:
        within = _arriving(every_packet(epochs), (*a.behaviour.forwarding, *b.behaviour.forwarding))
    return _Comparing(a, b, within, budget or Budget(), progress).done()


def together(regions: Iterable[Region]) -> list[Region]:
    """Put regions together in which the same things are done differently, by whatever rules.

    What is shared with others on one side only stays by itself: with whom is a matter of each.
    """
    groups: dict[Hashable, list[Region]] = {}
    for region in regions:
        alone = any(each.partner is not None for each in region.differences)
        key = region.differences if alone else tuple(each[:3] for each in region.differences)
        groups.setdefault(key, []).append(region)
    return [_one_of(group) for group in groups.values()]


def _one_of(group: Sequence[Region]) -> Region:
    if len(group) == 1:
        return group[0]
    boxes = tuple(box for region in group for box in region.boxes)
    told = []
    for each in zip(*(region.differences for region in group), strict=True):
        a_by, b_by = ({decider for one in each for decider in by(one)} for by in (_A_BY, _B_BY))
        told.append(each[0]._replace(a_by=_in_order(a_by), b_by=_in_order(b_by)))
    return Region(boxes, tuple(told))


_A_BY, _B_BY = attrgetter("a_by"), attrgetter("b_by")


def _in_order(deciders: Iterable[Decider]) -> tuple[Decider, ...]:
    """Order by file and line, what no rule decided last."""

    def place(each: Decider) -> tuple[bool, str, int, str]:
        origin = each.origin or UNKNOWN
        return each.origin is None, origin.file, origin.line, each.name

    return tuple(sorted(deciders, key=place))


def _arriving(within: Sequence[ValueBox], forwarding: Sequence[Step[Route]]) -> list[ValueBox]:
    """Leave out what comes in at ports that lead nowhere: it is dropped, whatever else is said of it."""
    ports = 0
    for step in forwarding:
        for box in step.boxes:
            ports |= box.subsets[Subset.INGRESS]
    asked = box_of(Version.NONE, epochs=1).subsets
    subsets = [*asked[: Subset.INGRESS], ports, *asked[Subset.INGRESS + 1 :]]
    found = []
    for box in within:
        subsets[Subset.VERSION], subsets[Subset.EPOCH] = box.subsets[Subset.VERSION], box.subsets[Subset.EPOCH]
        part = intersection(box, ValueBox(box.intervals, tuple(subsets)))
        if part is not None:
            found.append(part)
    return found


class _Edge(NamedTuple):
    """Packets use one thing of A and one of B that packets share."""

    a: Shared
    b: Shared


class _Comparing:
    def __init__(
        self,
        a: Acting,
        b: Acting,
        within: Sequence[ValueBox],
        budget: Budget,
        progress: Callable[[float], None] | None,
    ) -> None:
        self._a, self._b, self._within, self._budget, self._progress = a, b, within, budget, progress
        self._aligned = align(a.behaviour, b.behaviour)
        self._effects: tuple[dict[Hashable, Effect], dict[Hashable, Effect]] = ({}, {})
        self._numbers: tuple[list[dict[int, int]], ...] = tuple(_numbers(each.behaviour) for each in (a, b))
        self._contrasts: dict[tuple[int, int, bool], tuple[Contrast, ...]] = {}
        self._shared: dict[tuple[int, int, bool, bool], tuple[_Edge, ...]] = {}
        self._found: dict[tuple[Difference, ...], list[ValueBox]] = {}
        self._open: list[ValueBox] = []
        self._sharing_open: list[ValueBox] = []
        self._edges: dict[_Edge, int] = {}

    def done(self) -> Differences:
        for cell in self._cells(self._open, same=True):
            pair = self._pair(cell)
            self._add(cell, _parts(cell.box, self._contrast(pair, cell.box)))
        if not self._one_to_one(self._edges.keys() | set(self._assumed())):
            self._sharing()
        regions = [Region(tuple(boxes), key) for key, boxes in self._found.items()]
        return Differences(regions, self._open, self._sharing_open)

    def _cells(self, left: list[ValueBox], *, same: bool) -> Iterator[Cell]:
        for each in divide(
            [side.behaviour for side in (self._a, self._b)],
            self._within,
            same=same,
            effect=self._aligned.effect,
            budget=self._budget,
            progress=self._progress,
        ):
            if isinstance(each, Open):
                left.append(each.box)
            else:
                yield each

    def _pair(self, cell: Cell) -> tuple[Effect, Effect]:
        """Give the effects on a cell's packets, and note what they share."""
        pair = self._effect(0, cell.decided[0]), self._effect(1, cell.decided[1])
        for edge in self._of(cell, pair):
            self._edges[edge] = self._edges.get(edge, 0) + cell.box.volume
        return pair

    def _of(self, cell: Cell, pair: tuple[Effect, Effect]) -> tuple[_Edge, ...]:
        """Pair what a cell's packets share, of what they are treated alike in."""
        tcp = _tcp(cell.box) is not None
        key = (id(pair[0]), id(pair[1]), _is_ip(cell.box), tcp)
        known = self._shared.get(key)
        if known is None:
            told = self._contrast(pair, cell.box)
            edges = dict.fromkeys(_edges(*pair, tcp=tcp))
            known = tuple(edge for edge in edges if not any(_is_about(each, edge.a.kind) for each in told))
            self._shared[key] = known
        return known

    def _effect(self, side: int, decided: Decided) -> Effect:
        entered, forwarded, left = self._numbers[side]
        key = (entered[decided.input], forwarded[decided.forwarding], tuple(left[number] for number in decided.output))
        known = self._effects[side].get(key)
        if known is None:
            behaviour = (self._a, self._b)[side].behaviour
            known = self._effects[side][key] = effect(behaviour, decided)
        return known

    def _contrast(self, pair: tuple[Effect, Effect], box: ValueBox) -> tuple[Contrast, ...]:
        ip = _is_ip(box)
        key = (id(pair[0]), id(pair[1]), ip)
        known = self._contrasts.get(key)
        if known is None:
            known = self._contrasts[key] = contrasts(self._a, self._b, *pair, ip=ip)
        return known

    def _add(self, cell: Cell, parts: Iterable[tuple[ValueBox, tuple[Contrast, ...]]]) -> None:
        for box, found in parts:
            told = tuple(
                Difference(
                    each.what,
                    each.a,
                    each.b,
                    _deciders(self._a, cell.decided[0], each.a_by, each.what),
                    _deciders(self._b, cell.decided[1], each.b_by, each.what),
                )
                for each in found
            )
            self._found.setdefault(told, []).append(box)

    def _assumed(self) -> Iterator[_Edge]:
        """Give what packets may share that were left out as surely alike."""
        streams, counters = self._aligned.streams, self._aligned.counters
        for kind, pairs in {
            "meter": streams,
            "second meter": streams,
            "limit": counters,
            "second limit": counters,
        }.items():
            for one, other in pairs.items():
                yield _Edge(Shared(kind, None, one), Shared(kind, None, other))
        for (port, one), (_, other) in self._aligned.queues.items():
            yield _Edge(Shared("queue", port, one), Shared("queue", port, other))

    @staticmethod
    def _one_to_one(edges: Iterable[_Edge]) -> bool:
        there: dict[Shared, Shared] = {}
        back: dict[Shared, Shared] = {}
        return all(there.setdefault(a, b) == b and back.setdefault(b, a) == a for a, b in edges)

    def _sharing(self) -> None:
        """Tell of packets that share something with others on one side only."""
        self._edges.clear()
        cells = []
        for cell in self._cells(self._sharing_open, same=False):
            cells.append((cell, self._of(cell, self._pair(cell))))
        if self._sharing_open or self._one_to_one(self._edges):
            return
        # What most packets use counts as the same thing, the rest as what others than these use.
        kept: tuple[dict[Shared, Shared], dict[Shared, Shared]] = ({}, {})
        for edge in sorted(self._edges, key=lambda each: -self._edges[each]):
            if edge.a not in kept[0] and edge.b not in kept[1]:
                kept[0][edge.a], kept[1][edge.b] = edge.b, edge.a
        of: dict[_Edge, Cell] = {}
        for cell, edges in cells:
            for edge in edges:
                of.setdefault(edge, cell)
        for cell, edges in cells:
            told = []
            for edge in edges:
                if kept[0].get(edge.a) == edge.b:
                    continue
                for side in range(2):
                    mate = kept[side].get(edge[side])
                    if mate is not None:
                        partner = of[_Edge(edge.a, mate) if side == 0 else _Edge(mate, edge.b)]
                        told.append(self._shares(edge, side, of[edge], partner))
            if told:
                self._found.setdefault(tuple(dict.fromkeys(told)), []).append(cell.box)

    def _shares(self, edge: _Edge, side: int, cell: Cell, partner: Cell) -> Difference:
        acting = (self._a, self._b)
        by = [
            _deciders(acting[each], cell.decided[each], (Deciding(INPUT), Deciding(OUTPUT)), edge.a.kind)
            for each in range(2)
        ]
        with_whom = _deciders(acting[side], partner.decided[side], (Deciding(INPUT), Deciding(OUTPUT)), edge.a.kind)
        whose = " and ".join(each.name or "no rule" for each in with_whom)
        words = [f"shared with packets of {whose}", f"not shared with packets of {whose}"]
        if side == 1:
            words.reverse()
        what = edge.a.kind.replace("limit", "limit of connections")
        return Difference(f"shared {what}", words[0], words[1], by[0], by[1], partner.box)


def _edges(one: Effect, other: Effect, *, tcp: bool) -> Iterator[_Edge]:
    """Pair what packets share in A with what they share in B; what only one has is a difference of another kind."""
    for uses, others in zip(one.uses, other.uses, strict=False):
        for kind, a in uses.items():
            b = others.get(kind)
            if b is not None and a.port == b.port and (tcp or "limit" not in kind):
                yield _Edge(a, b)


def _is_ip(box: ValueBox) -> bool:
    return box.subsets[Subset.VERSION] != 1 << Version.NONE


def _is_about(contrast: Contrast, kind: str) -> bool:
    if contrast.what in ("permission", "route"):
        return True
    match kind:
        case "queue":
            return any(each.hook == CLASS for each in contrast.a_by)
        case "limit" | "second limit":
            return contrast.what == "TCP connections"
        case _:
            return contrast.what.startswith(kind.removeprefix("second "))


def _numbers(behaviour: Behaviour) -> list[dict[int, int]]:
    """Number what steps do, by step: equal treatments have equal numbers."""
    result = []
    lists: tuple[Sequence[Step[Any]], ...] = (behaviour.input, behaviour.forwarding, behaviour.output)
    for steps in lists:
        known: dict[object, int] = {}
        numbers = {number: known.setdefault(step.does, len(known)) for number, step in enumerate(steps)}
        result.append({NONE: NONE, **numbers})
    return result


def _parts(box: ValueBox, found: tuple[Contrast, ...]) -> Iterator[tuple[ValueBox, tuple[Contrast, ...]]]:
    """Divide a box by what is different for its packets; leave out where nothing is."""
    if not found:
        return
    if any(each.tcp for each in found):
        tcp = _tcp(box)
        yield from _by_marks(tcp, found) if tcp is not None else ()
        rest = tuple(each for each in found if not each.tcp)
        if rest:
            for piece in difference(box, tcp) if tcp is not None else [box]:
                yield from _by_marks(piece, rest)
    else:
        yield from _by_marks(box, found)


def _tcp(box: ValueBox) -> ValueBox | None:
    subsets = list(box.subsets)
    subsets[Subset.PROTOCOL] &= 1 << PROTOCOLS["tcp"]
    subsets[Subset.FLAGS] &= every(NO_HEADER)
    ip = box.subsets[Subset.VERSION] != 1 << Version.NONE
    return intersection(box, ValueBox(box.intervals, tuple(subsets))) if ip and all(subsets) else None


def _by_marks(box: ValueBox, found: tuple[Contrast, ...]) -> Iterator[tuple[ValueBox, tuple[Contrast, ...]]]:
    if all(each.where is None for each in found):
        yield box, found
        return
    signature = np.zeros((256, UNTAGGED + 1), dtype=np.int64)
    for number, each in enumerate(found):
        signature |= (np.ones_like(signature) if each.where is None else each.where.astype(np.int64)) << number
    asked = np.outer(bits(box.subsets[Subset.TOS], 256), bits(box.subsets[Subset.TAG], UNTAGGED + 1))
    for value in np.unique(signature[asked]):
        if value:
            differing = tuple(each for number, each in enumerate(found) if value >> number & 1)
            for octets, tags in rectangles((signature == value) & asked):
                subsets = list(box.subsets)
                subsets[Subset.TOS], subsets[Subset.TAG] = octets, tags
                yield ValueBox(box.intervals, tuple(subsets)), differing


def bits(subset: int, count: int) -> MarkPairs:
    """Give a subset as an array of truth values."""
    return np.array([bool(subset >> number & 1) for number in range(count)])


def rectangles(pairs: MarkPairs) -> Iterator[tuple[int, int]]:
    """Give pairs of ToS octet and TAG as few products of subsets."""
    by_octets: dict[bytes, int] = {}
    for tag in range(pairs.shape[1]):
        column = pairs[:, tag]
        if column.any():
            octets = np.packbits(column, bitorder="little").tobytes()
            by_octets[octets] = by_octets.get(octets, 0) | 1 << tag
    for octets, tags in by_octets.items():
        yield int.from_bytes(octets, "little"), tags


def _does(what: str) -> Callable[[Treatment], object]:
    """Give what a treatment says about a thing."""
    if "ToS" in what or "802.1p" in what:
        return lambda does: any(marks is not None and marks != UNMARKED for marks in does.colours)
    if "meter" in what:
        return lambda does: does.meter is not None
    return {
        "TCP connections": lambda does: does.connections is not None,
        "limit": lambda does: does.connections is not None,
        "TCP rate": lambda does: does.clamp is not None,
    }.get(what, lambda does: does.stream if what.startswith("buffer") else does != NOTHING)


def _deciders(acting: Acting, decided: Decided, by: Iterable[Deciding], what: str) -> tuple[Decider, ...]:
    behaviour, found, steps = acting.behaviour, [], []
    for each in by:
        if each.hook == CLASS:
            assert each.port is not None
            service = behaviour.service(each.port, each.traffic_class)
            name = f"class {acting.class_name(each.traffic_class)}"
            said = (at for word, at in service.origins.items() if what == word or what.startswith(f"{word} of "))
            origin = next(said, service.origin)
            found.append(Decider(name, origin if origin.line else None))
        elif each.hook in (PRIORITIES, BUFFERS):
            assert each.port is not None
            origins = behaviour.priority_origins if each.hook == PRIORITIES else behaviour.buffer_origins
            if each.port in origins:
                found.append(Decider(each.hook, origins[each.port]))
        elif each.hook == FORWARDING:
            if decided.forwarding != NONE:
                taken = behaviour.forwarding[decided.forwarding]
                found.append(Decider(taken.name, taken.origin))
        elif each.hook == INPUT and decided.input != NONE:
            steps.append(behaviour.input[decided.input])
        elif each.hook == OUTPUT:
            steps += [behaviour.output[number] for number in dict.fromkeys(decided.output) if number != NONE]
    says = _does(what)
    chosen = [step for step in steps if says(step.does)] or steps
    rules = list(dict.fromkeys(Decider(step.name, step.origin) for step in chosen))
    return (*rules, *found) or (Decider("", None),)
