"""The parts of a table with priorities: the entries of each rule, and its exceptions, which stand before them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from phb.compiler.matching import Box, intersection
from phb.decompiler.boxes import box
from phb.intent import Entry


@dataclass(frozen=True)
class Part:
    """One policy's part of a table: the entries that give it, and its exceptions before them that lie in no other."""

    taken: tuple[Entry, ...]
    excepted: tuple[Entry, ...]


Parts = dict[int, Part]


def parts_of(entries: Sequence[Entry]) -> Parts:
    """Split the entries of one table, in the order in which they are asked, into policies.

    A policy's own entries are the last that give it: before them may stand what remains for the exception of an earlier
    policy. All between the own entries of two policies is exceptions of the second one.
    """
    runs: list[tuple[int, list[Entry]]] = []
    for entry in entries:
        policy = entry.parameters["policy"] if entry.action == "set_class" else 0
        if not runs or runs[-1][0] != policy:
            runs.append((policy, []))
        runs[-1][1].append(entry)
    last = {policy: place for place, (policy, _) in enumerate(runs)}
    parts: Parts = {}
    before: list[Entry] = []
    for place, (policy, run) in enumerate(runs):
        if policy and last[policy] == place:
            parts[policy] = Part(tuple(run), tuple(_largest(before)))
            before = []
        else:
            before += run
    return parts


def _largest(entries: Iterable[Entry]) -> list[Entry]:
    """Leave out entries that lie within another one."""
    boxes: dict[Box, Entry] = {}
    for entry in entries:
        boxes.setdefault(box(entry), entry)
    return [entry for each, entry in boxes.items() if not any(_within(each, other) for other in boxes)]


def _within(one: Box, other: Box) -> bool:
    return one != other and intersection(one, other) == one
