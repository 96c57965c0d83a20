"""What a switch is told after a push, by gNMI: which settings are in force, what can't be, and what counts it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from finsy import GNMIPath, GRPCStatusCode
from finsy.gnmiclient import GNMIClientError
from finsy.proto import gnmi

from phb.device.deadlines import understood
from phb.device.gnmi import PortShapers
from phb.device.session import Session
from phb.formats.openconfig.counting import Counting, counting
from phb.openconfig.counters import counters
from phb.openconfig.source import SCHEME, address_of, wanted_of
from phb.pushing.report import Report

_IDS = "interfaces/interface[name=*]/state/id"
_COUNTERS = "controller/counters"
# Of a JSON document in a Set; a switch takes 64 KiB.
_LONGEST = 48 * 1024


class Sourced(Protocol):
    """A source's content, as `phb.sources.Document`."""

    @property
    def name(self) -> str:
        """Its path or address."""

    @property
    def content(self) -> bytes:
        """What it holds."""


@dataclass(frozen=True)
class _Said:
    """What a switch has been told."""

    cells: Mapping[str, str] = field(default_factory=dict)
    applied: int | None = None
    problem: str | None = None


async def tell_applied(session: Session, report: Report, documents: Sequence[Sourced]) -> None:
    """Say what the switch holds since a push, or was found to hold by a dry run without differences.

    Nothing is said to a switch that knows no controllers.

    Raises:
        SwitchError: The switch refused, or can't be reached; it forwards as before.
    """
    own = next((each for each in documents if is_own([each.name], session.address)), None)
    async with PortShapers(session) as server:
        said = await _said(server)
        if said is None:
            return
        with understood(session.address):
            interfaces = {int(each.value): each.path["interface", "name"] for each in await _get(server, _IDS)}
        told = counting(own.content) if own is not None else Counting()
        wanted = counters(session.artifact, interfaces, report.queues, report.policies, report.streams, told)
        applied = said.applied if own is None else wanted_of(own.content)
        problem = said.problem if own is None else None
        await _tell(server, said, _Said(wanted, applied, problem))


async def tell_problem(session: Session, problem: str) -> None:
    """Say why the switch's settings can't be in force.

    Raises:
        SwitchError: As `tell_applied`.
    """
    async with PortShapers(session) as server:
        said = await _said(server)
        if said is not None:
            await _tell(server, said, _Said(said.cells, said.applied, problem.encode()[:250].decode(errors="ignore")))


def is_own(sources: Iterable[str], address: str) -> bool:
    """Whether one of the sources is the settings of the switch at this address."""
    return any(name.startswith(SCHEME) and address_of(name) == address for name in sources)


async def _get(server: PortShapers, path: str) -> Sequence[Any]:
    try:
        return await server.get(path)
    except GNMIClientError as error:
        raise server.failed(error) from None


async def _said(server: PortShapers) -> _Said | None:
    """Read what the switch was told; None where it has no place for it."""
    try:
        leaves = await server.get("controller")
    except GNMIClientError as error:
        if error.code in (GRPCStatusCode.UNIMPLEMENTED, GRPCStatusCode.INVALID_ARGUMENT):
            return None
        raise server.failed(error) from None
    if not leaves:
        return None
    cells: dict[str, str] = {}
    applied = problem = None
    with understood(server.address):
        for each in leaves:
            if "state" in [element.name for element in each.path.path.elem]:
                continue
            match each.path.last:
                case "cells":
                    cells[each.path["counter", "path"]] = str(each.value)
                case "applied":
                    applied = int(each.value)
                case "problem":
                    problem = str(each.value)
    return _Said(cells, applied, problem)


async def _tell(server: PortShapers, before: _Said, after: _Said) -> None:
    updates: list[tuple[GNMIPath, Any]] = []
    deletions: list[GNMIPath] = []
    if before.cells != after.cells:
        deletions.append(GNMIPath(_COUNTERS))
        updates += [(GNMIPath(_COUNTERS), gnmi.TypedValue(json_ietf_val=part)) for part in _parts(after.cells)]
    if before.applied != after.applied and after.applied is not None:
        updates.append((GNMIPath("controller/config/applied"), gnmi.TypedValue(uint_val=after.applied)))
    if before.problem != after.problem:
        problem = GNMIPath("controller/config/problem")
        if after.problem is None:
            deletions.append(problem)
        else:
            updates.append((problem, gnmi.TypedValue(string_val=after.problem)))
    if updates or deletions:
        await server.set(updates, deletions)


def _parts(cells: Mapping[str, str]) -> Iterator[bytes]:
    """Give the list of counters in documents that a switch takes."""
    entries = [
        json.dumps({"path": path, "config": {"path": path, "cells": each}}) for path, each in sorted(cells.items())
    ]
    part: list[str] = []
    length = 0
    for entry in entries:
        if length + len(entry) > _LONGEST:
            yield _document(part)
            part, length = [], 0
        part.append(entry)
        length += len(entry) + 2
    if part:
        yield _document(part)


def _document(entries: Sequence[str]) -> bytes:
    return f'{{"counter": [{", ".join(entries)}]}}'.encode()
