"""Stages classify and output: which entry takes a packet, and what is done with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from phb.behaviour.behaviour import NOTHING, Step, Treatment
from phb.intent import Entry, Hook
from phb.packets.boxes import ValueBox, intersection
from phb.packets.space import Version
from phb.proving.tables.matching import boxes
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
        steps: list[Step[Treatment]] = []
        for version in _VERSIONS:
            name = f"{stage}.multi_field_{version.name.lower()}"
            for entries in _decisions(self._tables.of(name), (version,)):
                first = entries[0]
                found = tuple(box for entry in entries for box in boxes(entry, version))
                if first.action == "set_class":
                    steps.append(Step(found, (), does(first), _name(first), first.origin))
                else:
                    steps += _unclassified(found, first, aggregates)
        return (*steps, *aggregates)


def _unclassified(
    found: tuple[ValueBox, ...], entry: Entry, aggregates: Iterable[Step[Treatment]]
) -> Iterator[Step[Treatment]]:
    """Give the steps of packets that no later rule is asked about: aggregates are, as with those that none takes."""
    for aggregate in aggregates:
        shared = [intersection(box, other) for box in found for other in aggregate.boxes]
        if any(shared):
            taken = tuple(box for box in shared if box is not None)
            yield Step(taken, (), aggregate.does, aggregate.name, aggregate.origin)
    yield Step(found, (), NOTHING, _name(entry), entry.origin)


def _classified(entry: Entry) -> Classified:
    given = entry.parameters
    found = Classified(given["policy"], given["stream"], given["traffic_class"])
    if not found.policy:
        # The program would ask the aggregates as well, and count for no policy.
        raise TableFaultError("policy 0, which stands for no policy", entry)
    return found


def _name(entry: Entry) -> str:
    return f"policy {entry.parameters['policy']}" if entry.action == "set_class" else "no policy"


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
        of_others = [(entry, box) for entry in others for box in boxes(entry, version)]
        for entry in some:
            for box in boxes(entry, version):
                for other, other_box in of_others:
                    if intersection(box, other_box) is not None:
                        raise TableFaultError("two entries of one priority for the same packets", entry, other)
