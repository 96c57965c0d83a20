"""Steps of behaviours as arrays, so that many are compared with a box at once.

Values of an interval dimension are replaced by their ranks among the ends of all intervals, values of a subset
dimension by atoms: sets of values that no step tells apart. ToS octet and TAG are one dimension of pairs, MARK, since
what output steps ask of the new marks is a set of pairs of old ones.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from phb.behaviour.behaviour import NO_ROUTE, NOTHING, Behaviour, Route, Step, Treatment
from phb.behaviour.deciding import COLOURS, NONE
from phb.behaviour.marks import Marks, table
from phb.packets.boxes import ValueBox
from phb.packets.many import Boxes, Ints, Subsets, as_values
from phb.packets.space import PORTS, UNTAGGED, Dimension, Subset, every
from phb.regions.effects import Apart, Effects
from phb.values import LAST_QOS_GROUP

Bools: TypeAlias = NDArray[np.bool_]
Words: TypeAlias = NDArray[np.uint64]

INTERVALS: Final = len(Dimension)
SIMPLE: Final = (Subset.VERSION, Subset.INGRESS, Subset.PROTOCOL, Subset.FLAGS, Subset.EPOCH)
"""Subset dimensions of cells; MARK is behind them. EGRESS and GROUP are asked by output steps alone."""
MARK: Final = INTERVALS + len(SIMPLE)
"""The number of dimension MARK, counted from the intervals on."""
DIMENSIONS: Final = MARK + 1
OF_CELLS: Final = (1 << DIMENSIONS) - 1
"""Of a mask of dimensions: those in which cells can be cut."""
LATER: Final = 1 << DIMENSIONS
"""Of a mask: an output step asks for what is known only when the input treatment and the port are."""
_TAGS: Final = UNTAGGED + 1
_NO_LIMIT: Final = (every(256), every(_TAGS), every(LAST_QOS_GROUP + 1), PORTS)
_Raw: TypeAlias = tuple[int, int, int, int]  # what an output box asks: ToS, TAG, GROUP, EGRESS


def has_packets(box: ValueBox) -> bool:
    """Whether a box isn't empty: faster than `ValueBox.volume`."""
    return all(box.subsets) and all(low <= high for low, high in box.intervals)


def members(bits: int, count: int) -> Bools:
    """Give a subset as an array of what is in it."""
    octets = np.frombuffer((bits & every(count)).to_bytes((count + 7) // 8, "little"), np.uint8)
    return np.unpackbits(octets, bitorder="little")[:count].astype(bool)


def _packed(rows: Bools) -> Words:
    """Give rows of atoms as rows of 64-bit words."""
    count = rows.shape[1]
    words = -(-count // 64)
    padded = np.zeros((len(rows), words * 64), bool)
    padded[:, :count] = rows
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


class Atoms:
    """Sets of values of one dimension that no subset tells apart."""

    def __init__(self, count: int) -> None:
        """Begin with one atom of `count` values."""
        self.labels = np.zeros(count, np.int64)

    def refine(self, labels: NDArray[Any]) -> None:
        """Tell values apart that have different labels, below 2^20."""
        self.labels = np.unique(self.labels << 20 | labels, return_inverse=True)[1].reshape(-1)

    def finish(self) -> None:
        """Number the atoms."""
        self.first = np.unique(self.labels, return_index=True)[1]
        self.words = -(-len(self.first) // 64)

    def pack(self, rows: Bools) -> Words:
        """Give subsets, one a row of all values, as words of those atoms that they have any value of."""
        met = np.zeros((len(rows), len(self.first)), bool)
        number, value = np.nonzero(rows)
        met[number, self.labels[value]] = True
        return _packed(met)

    def values(self, words: Words) -> Bools:
        """Give the values of a subset of atoms."""
        return np.unpackbits(words.view(np.uint8), bitorder="little").astype(bool)[self.labels]

    def integer(self, words: Words) -> int:
        """Give the values of a subset of atoms as bits."""
        return _integer(self.values(words))


@dataclass
class Entries:
    """Boxes of steps, in the order in which they count; those of a list follow each other.

    A list ends with an entry that takes every packet, for those that no step takes. Boxes that a step doesn't take
    (`unless`) stand before the others of the step.

    Attributes:
        low, high: Ranks of intervals, by entry and dimension; `high` is behind the last one.
        bits: Atoms of subsets, by entry; words of `Arrays.words`.
        step: Index in the behaviour's list, or NONE.
        effect: What the step does: equal in one of the kinds of lists if the same.
        group: Which entries are of one step.
        without: Of `unless`.
        later: LATER, or 0.
    """

    low: Ints
    high: Ints
    bits: Words
    step: Ints
    effect: Ints
    group: Ints
    without: Bools
    later: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.step)

    def joined(self, other: Entries) -> Entries:
        """Give these, then the others."""
        return Entries(
            *(np.concatenate((mine, others)) for mine, others in zip(self._all(), other._all(), strict=True))
        )

    def chosen(self, which: Any) -> Entries:
        """Give some, by index."""
        return Entries(*(each[which] for each in self._all()))

    def _all(self) -> tuple[NDArray[Any], ...]:
        return self.low, self.high, self.bits, self.step, self.effect, self.group, self.without, self.later


@dataclass
class _Numbered:
    """Numbers what the steps of a list do."""

    effect: Callable[[Any], Hashable]
    apart: Apart | None
    numbers: dict[Hashable, int]
    # By identity: most steps share a treatment, and hashing one takes long.
    _known: dict[int, int] = field(default_factory=dict)

    def of(self, does: Treatment | Route, step: Step[Any] | None) -> int:
        """Give the number of what a step does: equal numbers for the same."""
        if id(does) not in self._known:
            self._known[id(does)] = self._number(self.effect(does))
        number = self._known[id(does)]
        return number if self.apart is None or step is None else self._number((number, self.apart(step)))

    def _number(self, key: Hashable) -> int:
        return self.numbers.setdefault(key, len(self.numbers))


@dataclass
class _Gathered:
    """Entries before the coordinates are known."""

    boxes: list[ValueBox | None] = field(default_factory=list)
    step: list[int] = field(default_factory=list)
    effect: list[int] = field(default_factory=list)
    group: list[int] = field(default_factory=list)
    without: list[bool] = field(default_factory=list)
    does: list[Treatment | Route] = field(default_factory=list)

    def add(self, steps: Sequence[Step[Any]], otherwise: Treatment | Route, effect: _Numbered) -> None:
        group = self.group[-1] if self.group else 0
        for number, step in enumerate(steps):
            group += 1
            of_step = [(box, True) for box in step.unless if has_packets(box)]
            of_step += [(box, False) for box in step.boxes if has_packets(box)]
            count = len(of_step)
            self.boxes += [box for box, _ in of_step]
            self.without += [without for _, without in of_step]
            self.step += [number] * count
            self.group += [group] * count
            self.effect += [effect.of(step.does, step)] * count
            self.does += [step.does] * count
        self.boxes.append(None)
        self.without.append(False)
        self.step.append(NONE)
        self.group.append(group + 1)
        self.effect.append(effect.of(otherwise, None))
        self.does.append(otherwise)


class Arrays:
    """Behaviours and the packets that are divided, in common coordinates.

    Lists are numbered: the input lists of all behaviours, the forwarding lists, the output lists.

    Attributes:
        starts: Of each list, its first entry, and behind the last list the end.
        blocked: By entry of an input list, whether it drops packets.
        port: By entry of a forwarding list: the egress port, or NONE.
        treatment: By entry of an input list: an index in `colours` of its behaviour.
        colours: By behaviour, by treatment: the marks that each colour gets, None where packets don't come so far.
        words: By dimension, the words of `bits` that hold its atoms (of intervals: none).
        cells: Low and high ranks and bits of what is divided.
        roots: By cell: the boxes of `within` that it stands for, by number, and their subsets.
        raw: By entry of an output list: which packets it asks for once their marks are known, as an index in `asked`.
    """

    def __init__(
        self, behaviours: Sequence[Behaviour], within: Sequence[ValueBox], effects: Effects, apart: Apart | None = None
    ) -> None:
        """Make arrays of behaviours."""
        count = self.count = len(behaviours)
        gathered = _Gathered()
        self.starts: list[int] = []
        for kind in ("input", "forwarding", "output"):
            numbers: dict[Hashable, int] = {}
            otherwise = NO_ROUTE if kind == "forwarding" else NOTHING
            for number, behaviour in enumerate(behaviours):
                self.starts.append(len(gathered.step))
                gathered.add(getattr(behaviour, kind), otherwise, _Numbered(partial(effects, number), apart, numbers))
        self.starts.append(len(gathered.step))
        first_forwarding, first_output = self.starts[count], self.starts[2 * count]
        self._treatments(gathered, first_forwarding)
        self.port = np.full(first_output, NONE, np.int32)
        for number in range(first_forwarding, first_output):
            port = gathered.does[number].port  # type: ignore[union-attr]
            self.port[number] = NONE if port is None else port
        self._asked(gathered, first_output)
        boxes = [*gathered.boxes, *within]
        low, high = self._ranks(boxes)
        size = len(gathered.step)
        bits = self._bits(boxes, first_output, size)
        self._sides = [
            np.unique(np.concatenate(([0, len(ends) - 1], low[:size, dimension], high[:size, dimension])))
            for dimension, ends in enumerate(self.ends)
        ]
        self._whole = [*within], low[size:], high[size:], bits[size:]
        self._roots(slice(None))
        self.entries = Entries(
            low[:size],
            high[:size],
            bits[:size],
            np.array(gathered.step, np.int32),
            np.array(gathered.effect, np.int32),
            np.array(gathered.group, np.int32),
            np.array(gathered.without, bool),
            np.zeros(size, np.uint16),
        )
        self.entries.later[first_output:] = np.where(self.raw == self._unasked, 0, LATER)
        self.size = size
        self._effects = int(self.entries.effect.max()) + 1
        self._marked: dict[tuple[int, Marks], int] = {}
        self.kinds: dict[Subsets, int] = {}
        self._known: dict[bytes, list[tuple[int, int]]] = {}

    def _treatments(self, gathered: _Gathered, end: int) -> None:
        self.blocked = np.zeros(end, bool)
        self.treatment = np.zeros(end, np.int32)
        self.colours: list[list[tuple[Marks | None, ...]]] = []
        for number in range(self.count):
            known: dict[tuple[Marks | None, ...], int] = {}
            by_identity: dict[int, int] = {}
            for entry in range(self.starts[number], self.starts[number + 1]):
                does = gathered.does[entry]
                assert isinstance(does, Treatment)
                self.blocked[entry] = does.blocked
                if id(does) not in by_identity:
                    marks = tuple(
                        None if does.blocked or (colour and does.meter is None) else does.colours[colour]
                        for colour in range(COLOURS)
                    )
                    by_identity[id(does)] = known.setdefault(marks, len(known))
                self.treatment[entry] = by_identity[id(does)]
            self.colours.append(list(known))

    def part(self, which: Sequence[int], behaviours: Sequence[Behaviour], apart: Apart | None) -> Arrays:
        """Give the same for some boxes of `within` alone, by number.

        Args:
            which: These boxes, at least one.
            behaviours: Those that are literals, with nothing that tells steps apart.
            apart: What tells them apart now; None is nothing.
        """
        part = copy(self)
        part._marked, part.kinds, part._known = {}, {}, {}
        part._roots(list(which))
        part.entries = self.entries.chosen(np.arange(self.size))
        if apart is not None:
            part.entries.effect[:] = self._effects_apart(behaviours, apart)
        return part

    def _effects_apart(self, behaviours: Sequence[Behaviour], apart: Apart) -> Ints:
        effect = self.entries.effect[: self.size].copy()
        numbers: dict[Hashable, int] = {}
        lists = (getattr(behaviour, kind) for kind in ("input", "forwarding", "output") for behaviour in behaviours)
        for (start, end), steps in zip(pairwise(self.starts), lists, strict=True):
            for number, step in enumerate(steps):
                key = apart(step)
                if key is None:
                    continue
                rows = start + np.flatnonzero(self.entries.step[start:end] == number)
                if len(rows):
                    effect[rows] = numbers.setdefault((int(effect[rows[0]]), key), self._effects + len(numbers))
        return effect

    def _roots(self, which: Any) -> None:
        """Make cells of boxes of `within`, one of all that no entry tells apart: they are divided alike.

        Each reaches to the next side of an entry; what lies beyond the boxes is left out of what is given.
        """
        within, low, high, bits = self._whole
        self.low, self.high, bits = low[which], high[which], bits[which]
        begin, end = self.low.copy(), self.high.copy()
        for dimension, known in enumerate(self._sides):
            begin[:, dimension] = known[np.searchsorted(known, self.low[:, dimension], "right") - 1]
            end[:, dimension] = known[np.searchsorted(known, self.high[:, dimension])]
        groups: dict[bytes, list[int]] = {}
        for number, key in enumerate(voids(np.column_stack((begin, end, bits.view(np.int32)))).tolist()):
            groups.setdefault(key, []).append(number)
        first = [group[0] for group in groups.values()]
        self.cells = begin[first], end[first], bits[first]
        chosen = within if isinstance(which, slice) else [within[number] for number in which]
        self.roots = [[(number, chosen[number].subsets) for number in group] for group in groups.values()]

    def _asked(self, gathered: _Gathered, start: int) -> None:
        asked: dict[_Raw, int] = {_NO_LIMIT: 0}
        raw = []
        for box in gathered.boxes[start:]:
            key = _NO_LIMIT
            if box is not None:
                tos, tag, group, egress = (
                    box.subsets[each] for each in (Subset.TOS, Subset.TAG, Subset.GROUP, Subset.EGRESS)
                )
                key = (tos & _NO_LIMIT[0], tag & _NO_LIMIT[1], group & _NO_LIMIT[2], egress & _NO_LIMIT[3])
            raw.append(asked.setdefault(key, len(asked)))
        self.raw = np.array(raw, np.int32)
        self._unasked = 0
        self.asked = list(asked)

    def _ranks(self, boxes: Sequence[ValueBox | None]) -> tuple[Ints, Ints]:
        low, high = np.zeros((2, len(boxes), INTERVALS), np.int32)
        self.ends: list[NDArray[Any]] = []
        for dimension in range(INTERVALS):
            pairs = [(0, 0) if box is None else box.intervals[dimension] for box in boxes]
            ends = sorted({end for first, last in set(pairs) for end in (first, last + 1)})
            rank = {end: number for number, end in enumerate(ends)}
            low[:, dimension] = [rank[first] for first, _ in pairs]
            high[:, dimension] = [
                len(ends) - 1 if box is None else rank[last + 1] for box, (_, last) in zip(boxes, pairs, strict=True)
            ]
            # Of entries that take every packet: from the first end on.
            low[[box is None for box in boxes], dimension] = 0
            self.ends.append(as_values(ends))
        return low, high

    def _bits(self, boxes: Sequence[ValueBox | None], first_output: int, end: int) -> Words:
        parts = []
        self.atoms: list[Atoms] = []
        for dimension in SIMPLE:
            subsets = [-1 if box is None else box.subsets[dimension] for box in boxes]
            width = max(1, max((bits.bit_length() for bits in set(subsets)), default=1))
            distinct: dict[int, int] = {}
            index = [distinct.setdefault(bits & every(width), len(distinct)) for bits in subsets]
            rows = np.stack([members(bits, width) for bits in distinct])
            atoms = Atoms(width)
            for number in sorted(set(index[:end])):
                atoms.refine(rows[number])
            atoms.finish()
            self.atoms.append(atoms)
            parts.append(atoms.pack(rows)[index])
        marks: dict[tuple[int, int], int] = {_NO_LIMIT[:2]: 0}
        index = [
            0
            if box is None or first_output <= number < end
            else marks.setdefault((box.subsets[Subset.TOS], box.subsets[Subset.TAG]), len(marks))
            for number, box in enumerate(boxes)
        ]
        rows = np.stack([np.outer(members(tag, _TAGS), members(tos, 256)).reshape(-1) for tos, tag in marks])
        atoms = Atoms(_TAGS * 256)
        for number in sorted(set(index[:end])):
            atoms.refine(rows[number])
        # What output steps tell apart, of the marks that input treatments give.
        tos_class, tag_class = Atoms(256), Atoms(_TAGS)
        for tos in {each[0] for each in self.asked}:
            tos_class.refine(members(tos, 256))
        for tag in {each[1] for each in self.asked}:
            tag_class.refine(members(tag, _TAGS))
        for made in {made for treated in self.colours for colours in treated for made in colours if made is not None}:
            new = table(made)
            atoms.refine((tos_class.labels[new[..., 0]] * _TAGS + tag_class.labels[new[..., 1]]).T.reshape(-1))
        atoms.finish()
        self.atoms.append(atoms)
        parts.append(atoms.pack(rows)[index])
        self.words = [slice(0, 0)] * INTERVALS
        at = 0
        for each in self.atoms:
            self.words.append(slice(at, at + each.words))
            at += each.words
        return np.concatenate(parts, axis=1)

    def marked(self, behaviour: int, marks: Marks) -> int:
        """Give the first entry of an output list as it is asked by packets, given the marks that they get then.

        The entries have the order of the output list; they ask for the marks that packets have before. A box that no
        packet can get to has no atoms of MARK.
        """
        key = (behaviour, marks)
        if key not in self._marked:
            start, end = self.starts[2 * self.count + behaviour : 2 * self.count + behaviour + 2]
            made = table(marks)
            used, index = np.unique(
                self.raw[start - self.starts[2 * self.count] : end - self.starts[2 * self.count]], return_inverse=True
            )
            rows = []
            for number in used:
                tos, tag, group, _ = self.asked[number]
                has_group = group >> (0 if marks.group is None else int(made[0, 0, 2])) & 1
                taken = members(tos, 256)[made[..., 0]] & members(tag, _TAGS)[made[..., 1]] & bool(has_group)
                rows.append(taken.T.reshape(-1))
            entries = self.entries.chosen(np.arange(start, end))
            entries.bits[:, self.words[MARK]] = self.atoms[-1].pack(np.stack(rows))[index.reshape(-1)]
            entries.later[:] = 0
            self._marked[key] = len(self.entries)
            self.entries = self.entries.joined(entries)
        return self._marked[key]

    def egress(self) -> Bools:
        """Give, by port and by index in `asked`, whether packets that leave by the port are asked for."""
        return np.stack([members(egress, PORTS.bit_length()) for *_, egress in self.asked], axis=1)

    def boxes(self, root: Ints, low: Ints, high: Ints, bits: Words) -> tuple[Boxes, NDArray[np.intp]]:
        """Give cells, parts of boxes of `within`, as boxes, and the number of the cell of each box.

        There are several of a cell where its pairs of ToS and TAG are no product.
        """
        found = []
        for number, key in enumerate(voids(np.column_stack((root.astype(np.uint64), bits))).tolist()):
            if key not in self._known:
                self._known[key] = list(self._kinds_of(self.roots[root[number]], bits[number]))
            found.append(self._known[key])
        cell = np.repeat(np.arange(len(root)), [len(each) for each in found])
        of, kind = np.array([pair for each in found for pair in each], np.int32).reshape(-1, 2).T
        low, high = np.maximum(low[cell], self.low[of]), np.minimum(high[cell], self.high[of])
        return Boxes(self.ends, low, high, self.kinds, kind), cell

    def _kinds_of(self, roots: Sequence[tuple[int, Subsets]], bits: Words) -> Iterator[tuple[int, int]]:
        """Give the boxes of `within` that a cell has a part of, by number, and the subsets of that part."""
        integers = {
            dimension: self.atoms[number].integer(bits[self.words[INTERVALS + number]])
            for number, dimension in enumerate(SIMPLE)
        }
        products = self._products(bits[self.words[MARK]])
        for root, whole in roots:
            subsets = list(whole)
            for dimension, values in integers.items():
                subsets[dimension] &= values
            for tos, tags in products:
                subsets[Subset.TOS], subsets[Subset.TAG] = whole[Subset.TOS] & tos, whole[Subset.TAG] & tags
                if all(subsets):
                    yield root, self.kinds.setdefault(tuple(subsets), len(self.kinds))

    def _products(self, words: Words) -> list[tuple[int, int]]:
        by_tos: dict[int, int] = {}
        for tag, row in enumerate(self.atoms[-1].values(words).reshape(_TAGS, 256)):
            tos = _integer(row)
            if tos:
                by_tos[tos] = by_tos.get(tos, 0) | 1 << tag
        return list(by_tos.items())


def _integer(row: Bools) -> int:
    return int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little")


def voids(rows: NDArray[Any]) -> NDArray[Any]:
    """Give rows as values that compare."""
    rows = np.ascontiguousarray(rows)
    return rows.view(f"V{rows.itemsize * rows.shape[1]}").reshape(-1)
