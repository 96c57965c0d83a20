"""Stages classify and output: which entry takes a packet, and what is done with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Final

from phb.behaviour.behaviour import Step, Treatment
from phb.intent import Entry, Hook
from phb.packets.boxes import ValueBox
from phb.packets.space import Version
from phb.proving.tables.matching import boxes
from phb.proving.tables.overlaps import Overlaps
from phb.proving.tables.rows import TableFaultError, Tables
from phb.proving.tables.treating import Classified, Stages

_STAGE: Final = {Hook.INPUT: "classify", Hook.OUTPUT: "output"}
_VERSIONS: Final = (Version.IPV4, Version.IPV6)


class Hooks:
    """The steps of both hooks."""

    def __init__(self, tables: Tables, *, track_connections: bool) -> None:
        self._tables = tables
        self._track_connections = track_connections
        self.input = self._steps(Hook.INPUT)
        self.output = self._steps(Hook.OUTPUT)

    def _steps(self, hook: Hook) -> tuple[Step[Treatment], ...]:
        stages = Stages(self._tables, hook, track_connections=self._track_connections)
        treatments: dict[Classified, Treatment] = {}

        def does(entry: Entry) -> Treatment:
            found = _classified(entry)
            if found not in treatments:
                treatments[found] = stages.treatment(found)
            return treatments[found]

        stage = _STAGE[hook]
        aggregates = [
            Step(
                tuple(box for version in Version for entry in entries for box in boxes(entry, version)),
                (),
                does(entries[0]),
                _name(entries[0]),
                entries[0].origin,
            )
            for entries in _decisions(self._tables.of(f"{stage}.behaviour_aggregate"), tuple(Version))
        ]
        rules = [
            step
            for version in _VERSIONS
            for step in _rules(self._tables.of(f"{stage}.multi_field_{version.name.lower()}"), version, does)
        ]
        return (*rules, *aggregates)


def _rules(entries: Iterable[Entry], version: Version, does: Callable[[Entry], Treatment]) -> Iterator[Step[Treatment]]:
    """Give the steps of a multi-field table.

    An entry that leaves packets unclassified takes them from the entries after it, and behaviour aggregates are asked
    about them as about those that none takes: so it is an exception of all steps after it, and no step.
    """
    decisions = [
        (part[0], tuple(box for entry in part for box in boxes(entry, version)))
        for part in _decisions(entries, (version,))
    ]
    found = Overlaps(box for _, taken in decisions for box in taken)
    unless: dict[int, list[ValueBox]] = defaultdict(list)
    first = 0
    for entry, taken in decisions:
        first += len(taken)
        if entry.action != "set_class":
            for box in taken:
                for number in found.after(first, box):
                    unless[number].append(box)
    first = 0
    for entry, taken in decisions:
        excepted = [box for number in range(first, first + len(taken)) for box in unless[number]]
        first += len(taken)
        if entry.action == "set_class":
            yield Step(taken, tuple(dict.fromkeys(excepted)), does(entry), _name(entry), entry.origin)


def _classified(entry: Entry) -> Classified:
    given = entry.parameters
    found = Classified(given["policy"], given["stream"], given["traffic_class"])
    if not found.policy:
        # The program would ask the aggregates as well, and count for no policy.
        raise TableFaultError("policy 0, which stands for no policy", entry)
    return found


def _name(entry: Entry) -> str:
    return f"policy {entry.parameters['policy']}"


def _decisions(entries: Iterable[Entry], versions: tuple[Version, ...]) -> Iterator[list[Entry]]:
    """Give the entries of each priority; refuse two that say different things of the same packets."""
    for _, group in groupby(entries, key=lambda entry: entry.priority):
        alike: dict[tuple[str, tuple[tuple[str, int], ...]], list[Entry]] = {}
        for entry in group:
            alike.setdefault((entry.action, tuple(sorted(entry.parameters.items()))), []).append(entry)
        parts = list(alike.values())
        for place, part in enumerate(parts[1:], 1):
            for earlier in parts[:place]:
                _check_apart(earlier, part, versions)
        yield from parts


def _check_apart(some: list[Entry], others: list[Entry], versions: tuple[Version, ...]) -> None:
    for version in versions:
        ours, theirs = ([(entry, box) for entry in part for box in boxes(entry, version)] for part in (some, others))
        overlaps = Overlaps(box for _, box in theirs)
        for entry, box in ours:
            for number in overlaps.after(0, box):
                raise TableFaultError("two entries of one priority for the same packets", entry, theirs[number][0])
