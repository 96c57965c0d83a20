"""Random packets, many at once, against what the engines say of two behaviours: a differential.

``python -m benchmarks.many_packets --packets 5000000`` compares random policies with edited ones until so many IPv4
packets have been looked at, and ends with an error at the first that contradicts. Half of the packets lie at sides of
the boxes of steps, where mistakes are.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from random import Random
from typing import Annotated, Any, Final

import numpy as np
import typer
from numpy.typing import NDArray

from benchmarks.behaviours import PAIRS, five_fields
from phb.behaviour.behaviour import Behaviour, Step
from phb.behaviour.deciding import COLOURS, NONE, Decided, leaving, route, treatment
from phb.behaviour.marks import KEPT, table
from phb.packets.boxes import ValueBox
from phb.packets.space import Dimension, Packet, Subset, Version, box_of, every_packet
from phb.regions import answer
from phb.regions.cell import Cell
from phb.regions.literals import Kinds
from phb.regions.solver import Solver

_AT_ONCE: Final = 200_000
# Behaviours have any number of epochs: which ones a box asks for is always looked at.
_WHOLE: Final = box_of(Version.IPV4, epochs=0)


@dataclass(frozen=True)
class Packets:
    """IPv4 packets: a row for each, its values in the dimensions."""

    intervals: NDArray[np.int64]
    subsets: NDArray[np.int64]

    def __len__(self) -> int:
        """Give how many there are."""
        return len(self.intervals)

    def some(self, rows: NDArray[Any]) -> Packets:
        """Give the packets of some rows."""
        return Packets(self.intervals[rows], self.subsets[rows])

    def one(self, row: int) -> Packet:
        """Give one."""
        return Packet(tuple(map(int, self.intervals[row])), tuple(map(int, self.subsets[row])))

    def inside(self, box: ValueBox) -> NDArray[np.bool_]:
        """Tell which lie in a box."""
        inside = np.ones(len(self), dtype=np.bool_)
        for number, (interval, whole) in enumerate(zip(box.intervals, _WHOLE.intervals, strict=True)):
            if interval != whole:
                values = self.intervals[:, number]
                inside &= (values >= interval[0]) & (values <= interval[1])
        for number, (bits, all_bits) in enumerate(zip(box.subsets, _WHOLE.subsets, strict=True)):
            if bits != all_bits:
                inside &= _members(bits)[self.subsets[:, number]]
        return inside


@cache
def _members(bits: int) -> NDArray[np.bool_]:
    return np.array([bits >> value & 1 for value in range(1024)], dtype=np.bool_)


def made_up(random: np.random.Generator, number: int, within: Sequence[ValueBox], near: Sequence[ValueBox]) -> Packets:
    """Make packets of some boxes, half of them at sides of others."""
    parts = []
    for box in within:
        rows = -(-number // len(within))
        intervals = np.stack([random.integers(low, high + 1, rows) for low, high in box.intervals], axis=1)
        subsets = np.stack([random.choice(np.flatnonzero(_members(bits)), rows) for bits in box.subsets], axis=1)
        if near:
            of = random.integers(0, len(near), rows)
            for dimension in Dimension:
                ends = np.array([each.intervals[dimension] for each in near])
                values = ends[of, random.integers(0, 2, rows)] + random.integers(-1, 2, rows)
                low, high = box.intervals[dimension]
                moved = (random.random(rows) < 0.5) & (low <= values) & (values <= high)
                intervals[moved, dimension] = values[moved]
        parts.append(Packets(intervals, subsets))
    return Packets(np.concatenate([part.intervals for part in parts]), np.concatenate([part.subsets for part in parts]))


def first(steps: Sequence[Step[Any]], packets: Packets) -> NDArray[np.int64]:
    """Give the index of the first step that takes each packet."""
    found = np.full(len(packets), NONE)
    rows = np.arange(len(packets))
    for number, step in enumerate(steps):
        left = packets.some(rows)
        taken = _in_any(step.boxes, left) & ~_in_any(step.unless, left)
        found[rows[taken]] = number
        rows = rows[~taken]
        if not len(rows):
            break
    return found


def _in_any(boxes: Iterable[ValueBox], packets: Packets) -> NDArray[np.bool_]:
    inside = np.zeros(len(packets), dtype=np.bool_)
    for box in boxes:
        if box.subsets[Subset.VERSION] >> Version.IPV4 & 1:
            inside |= packets.inside(box)
    return inside


def decided(behaviour: Behaviour, packets: Packets) -> NDArray[np.int64]:
    """Give the steps that take each packet, as `phb.behaviour.deciding.decide` does: output by colour."""
    steps = np.full((len(packets), 2 + COLOURS), NONE)
    steps[:, 0], steps[:, 1] = first(behaviour.input, packets), first(behaviour.forwarding, packets)
    for entered, forwarded in np.unique(steps[:, :2], axis=0):
        rows = np.flatnonzero((steps[:, 0] == entered) & (steps[:, 1] == forwarded))
        port, treated = route(behaviour, forwarded).port, treatment(behaviour.input, entered)
        for colour in range(COLOURS):
            marks = treated.colours[colour]
            if port is None or marks is None or leaving(packets.one(rows[0]), treated, colour, port) is None:
                continue
            part = packets.some(rows)
            subsets = part.subsets.copy()
            made = table(marks)[subsets[:, Subset.TOS], subsets[:, Subset.TAG]]
            subsets[:, Subset.TOS], subsets[:, Subset.TAG] = made[:, 0], made[:, 1]
            subsets[:, Subset.EGRESS] = port
            subsets[:, Subset.GROUP] = np.where(made[:, 2] == KEPT, subsets[:, Subset.GROUP], made[:, 2])
            steps[rows, 2 + colour] = first(behaviour.output, Packets(part.intervals, subsets))
    return steps


def contradictions(behaviours: tuple[Behaviour, Behaviour], cells: Iterable[Cell], packets: Packets) -> list[str]:
    """Give the packets for which a comparison isn't true: each in words.

    Packets of a cell have to take its steps; those outside all cells have to have the same effects.
    """
    steps = [decided(behaviour, packets) for behaviour in behaviours]
    told = np.zeros(len(packets), dtype=np.bool_)
    wrong = []
    for cell in cells:
        rows = np.flatnonzero(packets.inside(cell.box)) if cell.box.subsets[Subset.VERSION] & 1 else np.zeros(0, int)
        told[rows] = True
        for each, expected in zip(steps, cell.decided, strict=True):
            others = rows[(each[rows] != [expected.input, expected.forwarding, *expected.output]).any(axis=1)]
            wrong += [f"{packets.one(row)}: {each[row]}, not {expected}" for row in others]
    kinds = Kinds(behaviours)
    rows = np.flatnonzero(~told)
    for pair in np.unique(np.concatenate([each[rows] for each in steps], axis=1), axis=0):
        taken = [
            Decided(int(half[0]), int(half[1]), (int(half[2]), int(half[3]), int(half[4])))
            for half in np.split(pair, 2)
        ]
        if kinds.effect(0, taken[0]) != kinds.effect(1, taken[1]):
            wrong.append(f"packets outside all regions are treated by {taken[0]} and {taken[1]}")
    return wrong


def compare(one: Behaviour, other: Behaviour, random: np.random.Generator, number: int) -> tuple[int, list[str]]:
    """Compare two behaviours; give how many packets were looked at, and contradictions."""
    ipv4 = [box for box in every_packet(1) if box.subsets[Subset.VERSION] == 1 << Version.IPV4]
    cells = list(answer.divide((one, other), ipv4, same=True))
    different = [cell for cell in cells if isinstance(cell, Cell)]
    near = [box for each in (one, other) for steps in (each.input, each.output) for step in steps for box in step.boxes]
    near = [box for box in near if box.subsets[Subset.VERSION] & 1]
    packets = made_up(random, number, ipv4, [*near, *(cell.box for cell in different)])
    wrong = contradictions((one, other), different, packets)
    if len(different) < len(cells):
        wrong.append("a question was left open without a limit")
    kinds = Kinds((one, other))
    by_boxes = any(kinds.effect(0, cell.decided[0]) != kinds.effect(1, cell.decided[1]) for cell in different)
    if (Solver((one, other), ipv4).find() is not None) != by_boxes:
        wrong.append(f"boxes find {'a' if by_boxes else 'no'} difference, and the solver says otherwise")
    return len(packets), wrong


def main(
    packets: Annotated[int, typer.Option(help="How many packets to look at.")] = 1_000_000,
    rules: Annotated[int, typer.Option(help="Of each policy.")] = 100,
    seed: Annotated[int, typer.Option(help="Of policies and packets.")] = 1,
) -> None:
    """Compare random policies with edited ones until so many packets have been looked at."""
    began, looked_at = time.monotonic(), 0
    for number in count(seed):
        policy = five_fields(Random(number).randrange(2, rules + 1), number)
        for name, change in PAIRS.items():
            looked, wrong = compare(policy, change(policy), np.random.default_rng(number), _AT_ONCE)
            looked_at += looked
            if wrong:
                raise SystemExit(f"seed {number}, {name}: {len(wrong)} contradictions\n" + "\n".join(wrong[:10]))
        if looked_at >= packets:
            break
    print(f"{looked_at} packets, {number - seed + 1} policies: no contradiction in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    typer.run(main)
