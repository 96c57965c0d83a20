"""Which packets two behaviours treat differently: cells of an engine, compared by effect and put together again."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

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
from phb.packets.many import Boxes, Ints, Subsets, alike
from phb.packets.space import NO_HEADER, UNTAGGED, Subset, Version, box_of, every, every_packet
from phb.regions.answer import divide_many
from phb.regions.budget import Budget
from phb.regions.cell import Cell, Cells
from phb.regions.cell import decided as decided_of
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

    boxes: Boxes
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
    open: Sequence[ValueBox] = ()
    sharing_open: Sequence[ValueBox] = ()


def differences(
    a: Acting,
    b: Acting,
    epochs: int,
    *,
    within: Sequence[ValueBox] | None = None,
    by_rule: bool = False,
    budget: Budget | None = None,
    progress: Callable[[float], None] | None = None,
) -> Differences:
    """Compare what two behaviours do with every packet.

    What is done differently in the same way is one region; what is shared with others on one side only stays by itself:
    with whom is a matter of each.

    Args:
        a: One.
        b: The other.
        epochs: Subset of the epochs that both know.
        within: Disjoint boxes of the packets that are asked about; None is every packet, at ports that lead anywhere.
        by_rule: Whether what different rules do is a region each.
        budget: When it is spent, the rest stays open.
        progress: Is told the share of the work that is done.
    """
    if within is None:
        within = _arriving(every_packet(epochs), (*a.behaviour.forwarding, *b.behaviour.forwarding))
    return _Comparing(a, b, within, budget or Budget(), progress, by_rule=by_rule).done()


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


_Marks: TypeAlias = tuple[int, int]
"""ToS octets and TAGs, as subsets."""


class _Group(NamedTuple):
    """Cells in which the same is done with packets of the same subsets; one of their boxes."""

    pair: tuple[Effect, Effect]
    box: ValueBox
    rows: NDArray[np.intp]


@dataclass
class _Found:
    """What becomes a region: what is different, and where, with the cells of which the steps decide."""

    told: tuple[Contrast, ...]
    boxes: list[Boxes] = field(default_factory=list)
    deciding: dict[tuple[int, int, tuple[Deciding, ...]], list[NDArray[np.intp]]] = field(default_factory=dict)


class _Comparing:
    def __init__(
        self,
        a: Acting,
        b: Acting,
        within: Sequence[ValueBox],
        budget: Budget,
        progress: Callable[[float], None] | None,
        *,
        by_rule: bool,
    ) -> None:
        self._a, self._b, self._within, self._budget, self._progress = a, b, within, budget, progress
        self._by_rule = by_rule
        self._aligned = align(a.behaviour, b.behaviour)
        self._effects: tuple[dict[Hashable, Effect], dict[Hashable, Effect]] = ({}, {})
        self._does = [_numbers(each.behaviour) for each in (a, b)]
        self._contrasts: dict[tuple[int, int, bool], tuple[Contrast, ...]] = {}
        self._shared: dict[tuple[int, int, bool, bool], tuple[_Edge, ...]] = {}
        self._by_marks: dict[tuple[int, ...], list[tuple[_Marks, tuple[Contrast, ...]]]] = {}
        self._regions: list[Region] = []
        self._open: list[Boxes] = []
        self._sharing_open: list[Boxes] = []

    def done(self) -> Differences:
        cells = self._cells(self._open, same=True)
        # All at once is faster than by region.
        _ = cells.boxes.sizes
        groups = self._groups(cells)
        self._differing(cells, groups)
        edges = {edge for group in groups for edge in self._of(group)}
        if not self._one_to_one(edges | set(self._assumed())):
            self._sharing()
        return Differences(self._regions, Boxes.joined(self._open), Boxes.joined(self._sharing_open))

    def _cells(self, left: list[Boxes], *, same: bool) -> Cells:
        found = []
        for each in divide_many(
            [side.behaviour for side in (self._a, self._b)],
            self._within,
            same=same,
            effect=self._aligned.effect,
            budget=self._budget,
            progress=self._progress,
        ):
            if isinstance(each, Cells):
                found.append(each)
            else:
                left.append(each)
        return Cells.joined(found, 2)

    def _groups(self, cells: Cells) -> list[_Group]:
        """Put cells together, in the order of their first ones."""
        columns: list[NDArray[np.signedinteger]] = [cells.boxes.kind]
        for side, (entered, forwarded, left) in enumerate(self._does):
            steps = cells.decided[:, side].T
            columns += [entered[steps[0]], forwarded[steps[1]], *(left[each] for each in steps[2:])]
            columns += list(steps) if self._by_rule else []
        order, starts = alike(columns)
        groups = []
        for rows in np.split(order, starts[1:]) if len(order) else ():
            pair = [self._effect(side, cells.decided[rows[0], side]) for side in range(2)]
            groups.append(_Group((pair[0], pair[1]), cells.boxes[int(rows[0])], rows))
        groups.sort(key=lambda group: int(group.rows[0]))
        return groups

    def _differing(self, cells: Cells, groups: Sequence[_Group]) -> None:
        """Make regions of what is done differently."""
        found: dict[Hashable, _Found] = {}
        for group in groups:
            for subsets, told in self._parts(group):
                key: tuple[Hashable, ...] = tuple((each.what, each.a, each.b) for each in told)
                if self._by_rule:
                    key += tuple(map(tuple, cells.decided[group.rows[0]].tolist()))
                one = found.setdefault(key, _Found(told))
                one.boxes.append(cells.boxes.chosen(group.rows).with_subsets(subsets))
                for number, each in enumerate(told):
                    for side, by in enumerate((each.a_by, each.b_by)):
                        one.deciding.setdefault((number, side, by), []).append(group.rows)
        numbers = [_numbered(cells.decided[:, side]) for side in range(2)]
        known: dict[Hashable, tuple[Decider, ...]] = {}
        for one in found.values():
            deciders: dict[tuple[int, int], dict[tuple[Decider, ...], None]] = {}
            for (number, side, by), rows in one.deciding.items():
                what = one.told[number].what
                said = deciders.setdefault((number, side), {})
                for decided in np.unique(numbers[side][0][np.concatenate(rows)]).tolist():
                    key = (side, by, what, decided)
                    if key not in known:
                        row = cells.decided[numbers[side][1][decided], side]
                        known[key] = _deciders((self._a, self._b)[side], decided_of(row), by, what)
                    said[known[key]] = None
            # What one rule of each side decides stands in the order in which it counts.
            single = all(len(each) == 1 for each in deciders.values())
            by_side = {
                at: next(iter(each)) if single else _in_order({decider for by in each for decider in by})
                for at, each in deciders.items()
            }
            regions = [
                Difference(each.what, each.a, each.b, by_side[number, 0], by_side[number, 1])
                for number, each in enumerate(one.told)
            ]
            self._regions.append(Region(Boxes.joined(one.boxes), tuple(regions)))

    def _parts(self, group: _Group) -> Iterator[tuple[Subsets, tuple[Contrast, ...]]]:
        """Divide the packets of a group by what is different for them; leave out where nothing is."""
        pair, ip = group.pair, _is_ip(group.box)
        for box, found in _by_protocol(group.box, self._contrast(pair, group.box)):
            subsets = box.subsets
            marks = subsets[Subset.TOS], subsets[Subset.TAG]
            # Of one pair, all contrasts or those that aren't of TCP alone.
            key = (id(pair[0]), id(pair[1]), ip, len(found), *marks)
            if key not in self._by_marks:
                self._by_marks[key] = list(_by_marks(marks, found))
            for (tos, tag), differing in self._by_marks[key]:
                yield (*subsets[: Subset.TOS], tos, tag, *subsets[Subset.TAG + 1 :]), differing

    def _of(self, group: _Group) -> tuple[_Edge, ...]:
        """Pair what packets share, of what they are treated alike in."""
        pair, tcp = group.pair, _tcp(group.box) is not None
        key = (id(pair[0]), id(pair[1]), _is_ip(group.box), tcp)
        known = self._shared.get(key)
        if known is None:
            told = self._contrast(pair, group.box)
            edges = dict.fromkeys(_edges(*pair, tcp=tcp))
            known = tuple(edge for edge in edges if not any(_is_about(each, edge.a.kind) for each in told))
            self._shared[key] = known
        return known

    def _effect(self, side: int, steps: Ints) -> Effect:
        entered, forwarded, left = self._does[side]
        key = (int(entered[steps[0]]), int(forwarded[steps[1]]), *left[steps[2:]].tolist())
        known = self._effects[side].get(key)
        if known is None:
            behaviour = (self._a, self._b)[side].behaviour
            known = self._effects[side][key] = effect(behaviour, decided_of(steps))
        return known

    def _contrast(self, pair: tuple[Effect, Effect], box: ValueBox) -> tuple[Contrast, ...]:
        ip = _is_ip(box)
        key = (id(pair[0]), id(pair[1]), ip)
        known = self._contrasts.get(key)
        if known is None:
            known = self._contrasts[key] = contrasts(self._a, self._b, *pair, ip=ip)
        return known

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
        cells = self._cells(self._sharing_open, same=False)
        groups = self._groups(cells)
        sizes: dict[_Edge, int] = {}
        first: dict[_Edge, int] = {}
        for group in groups:
            shared = self._of(group)
            size = cells.boxes.chosen(group.rows).volume() if shared else 0
            for edge in shared:
                sizes[edge] = sizes.get(edge, 0) + size
                first[edge] = min(int(group.rows[0]), first.get(edge, len(cells.boxes)))
        if self._sharing_open or self._one_to_one(sizes):
            return
        # What most packets use counts as the same thing, the rest as what others than these use.
        kept: tuple[dict[Shared, Shared], dict[Shared, Shared]] = ({}, {})
        for edge in sorted(sizes, key=lambda each: -sizes[each]):
            if edge.a not in kept[0] and edge.b not in kept[1]:
                kept[0][edge.a], kept[1][edge.b] = edge.b, edge.a

        def cell(edge: _Edge) -> Cell:
            return cells[first[edge]]

        found: dict[tuple[Difference, ...], list[Boxes]] = {}
        for group in groups:
            told = []
            for edge in self._of(group):
                if kept[0].get(edge.a) == edge.b:
                    continue
                for side in range(2):
                    mate = kept[side].get(edge[side])
                    if mate is not None:
                        partner = _Edge(edge.a, mate) if side == 0 else _Edge(mate, edge.b)
                        told.append(self._shares(edge, side, cell(edge), cell(partner)))
            if told:
                found.setdefault(tuple(dict.fromkeys(told)), []).append(cells.boxes.chosen(group.rows))
        self._regions += [Region(Boxes.joined(boxes), told) for told, boxes in found.items()]

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


def _numbers(behaviour: Behaviour) -> tuple[Ints, Ints, Ints]:
    """Number what steps do, by step: equal treatments have equal numbers. The last one is that of NONE."""
    lists: tuple[Sequence[Step[Any]], ...] = (behaviour.input, behaviour.forwarding, behaviour.output)
    found = []
    for steps in lists:
        known: dict[object, int] = {}
        found.append(np.array([*(known.setdefault(step.does, len(known)) for step in steps), NONE], np.int32))
    return found[0], found[1], found[2]


def _numbered(rows: Ints) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Number rows, equal ones alike; give the numbers, and by number the first of these rows."""
    order, starts = alike(list(rows.T))
    numbers = np.zeros(len(rows), np.intp)
    numbers[order] = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(order)))
    return numbers, order[starts]


def _by_protocol(box: ValueBox, found: tuple[Contrast, ...]) -> Iterator[tuple[ValueBox, tuple[Contrast, ...]]]:
    """Divide a box by whether TCP connections are different for its packets; leave out where nothing is."""
    rest = tuple(each for each in found if not each.tcp)
    tcp = _tcp(box) if len(rest) < len(found) else None
    if tcp is not None:
        yield tcp, found
    if rest:
        yield from ((piece, rest) for piece in ([box] if tcp is None else difference(box, tcp)))


def _tcp(box: ValueBox) -> ValueBox | None:
    subsets = list(box.subsets)
    subsets[Subset.PROTOCOL] &= 1 << PROTOCOLS["tcp"]
    subsets[Subset.FLAGS] &= every(NO_HEADER)
    ip = box.subsets[Subset.VERSION] != 1 << Version.NONE
    return intersection(box, ValueBox(box.intervals, tuple(subsets))) if ip and all(subsets) else None


def _by_marks(marks: _Marks, found: tuple[Contrast, ...]) -> Iterator[tuple[_Marks, tuple[Contrast, ...]]]:
    """Divide ToS octets and TAGs by what is different for them; leave out where nothing is."""
    if all(each.where is None for each in found):
        yield marks, found
        return
    signature = np.zeros((256, UNTAGGED + 1), dtype=np.int64)
    for number, each in enumerate(found):
        signature |= (np.ones_like(signature) if each.where is None else each.where.astype(np.int64)) << number
    asked = np.outer(bits(marks[0], 256), bits(marks[1], UNTAGGED + 1))
    for value in np.unique(signature[asked]):
        if value:
            differing = tuple(each for number, each in enumerate(found) if value >> number & 1)
            yield from ((pair, differing) for pair in rectangles((signature == value) & asked))


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
