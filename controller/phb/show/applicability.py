"""The report of z/OS's SMC Applicability Tool, from counters: the part of a host's TCP traffic that SMC could carry.

Counters only go up, so an interval is the difference of the readings at its end and its beginning.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TypeAlias

from phb.errors import SwitchError
from phb.pipeline_names import (
    LARGEST_SENDS,
    MOST_BEFORE,
    Before,
    Connectivity,
    before_cell,
    connections_cell,
    segments_cell,
    sends_cell,
)
from phb.show.reading import Reading

BUCKETS = len(LARGEST_SENDS) + 1
ELIGIBLE = (Connectivity.DIRECT, Connectivity.ROUTED)

Cells: TypeAlias = Counter[tuple[str, int]]
"""Packets of the stage's counters, by name without its prefix, and index."""

_PREFIX = "applicability_"
_CELLS = {
    "segments": [
        segments_cell(connectivity, inbound=inbound, well_suited=suited)
        for connectivity in Connectivity
        for inbound in (False, True)
        for suited in (False, True)
    ],
    "connections": [
        connections_cell(connectivity, well_suited=suited) for connectivity in Connectivity for suited in (False, True)
    ],
    "sends": [sends_cell(connectivity, bucket) for connectivity in ELIGIBLE for bucket in range(BUCKETS)],
    "before": [
        before_cell(connectivity, what, number)
        for connectivity in ELIGIBLE
        for what in Before
        for number in range(1, MOST_BEFORE + 1)
    ],
}
_UNTRACKED = "untracked_connections"


@dataclass(frozen=True, slots=True)
class PeerCounts:
    """The counts of connections with one kind of peers, or with several.

    Attributes:
        connections: Established ones.
        well_suited: Those of them that are neither short-lived nor trivial.
        outbound: Segments.
        inbound: Segments.
        suited_outbound: Segments of well-suited connections.
        suited_inbound: Segments of well-suited connections.
        sends: Of the host in well-suited connections, by bucket of `LARGEST_SENDS`.
    """

    connections: int
    well_suited: int
    outbound: int
    inbound: int
    suited_outbound: int
    suited_inbound: int
    sends: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ApplicabilityReport:
    """All TCP traffic of the host, and the part with listed peers.

    Attributes:
        all: With any peer.
        direct: With peers in a network of the host's own.
        indirect: With peers behind a router.
        untracked: Connections of the whole node that found no slot: only their segments are counted.
    """

    all: PeerCounts
    direct: PeerCounts
    indirect: PeerCounts
    untracked: int


async def read_cells(reading: Reading) -> Cells:
    """Read the counters of stage applicability.

    Raises:
        SwitchError: It counts nothing, because no policy on the switch asks for it.
    """
    if not reading.held.table("applicability.host_port"):
        raise SwitchError(
            reading.session.address,
            "it counts nothing for a report of applicability: push a policy with 'applicability' first",
        )
    cells: Cells = Counter()
    for name, indexes in _CELLS.items():
        for index, value in (await reading.counter(_PREFIX + name, indexes)).items():
            cells[name, index] = value.packets
    cells[_UNTRACKED, 0] = sum(value.packets for value in (await reading.counter(_UNTRACKED, [0])).values())
    return cells


def interval(before: Cells, after: Cells, address: str) -> Cells:
    """Give the counts between two readings; refuse counters that went back, as after a restart."""
    if any(after[cell] < count for cell, count in before.items()):
        raise SwitchError(address, "its counters began anew during the interval; what was before is lost")
    return Counter({cell: count - before[cell] for cell, count in after.items()})


def report(cells: Cells) -> ApplicabilityReport:
    """Sum the counters up in the rows of the report."""
    return ApplicabilityReport(
        all=_part(cells, tuple(Connectivity)),
        direct=_part(cells, (Connectivity.DIRECT,)),
        indirect=_part(cells, (Connectivity.ROUTED,)),
        untracked=cells[_UNTRACKED, 0],
    )


def _part(cells: Cells, kinds: tuple[Connectivity, ...]) -> PeerCounts:
    def connections(*, well_suited: bool) -> int:
        return sum(cells["connections", connections_cell(kind, well_suited=well_suited)] for kind in kinds)

    def segments(*, inbound: bool, well_suited: bool) -> int:
        return sum(cells["segments", segments_cell(kind, inbound=inbound, well_suited=well_suited)] for kind in kinds)

    def earlier(what: Before) -> int:
        # A packet in the cell of a number stands for so many.
        return sum(
            number * cells["before", before_cell(kind, what, number)]
            for kind in kinds
            for number in range(1, MOST_BEFORE + 1)
        )

    sends = [sum(cells["sends", sends_cell(kind, bucket)] for kind in kinds) for bucket in range(BUCKETS)]
    sends[0] += earlier(Before.SMALL_SENDS)
    sends[1] += earlier(Before.MEDIUM_SENDS)
    outbound, inbound = (segments(inbound=way, well_suited=True) for way in (False, True))
    return PeerCounts(
        connections=connections(well_suited=False),
        well_suited=connections(well_suited=True),
        outbound=outbound + segments(inbound=False, well_suited=False),
        inbound=inbound + segments(inbound=True, well_suited=False),
        suited_outbound=outbound + earlier(Before.OUTBOUND),
        suited_inbound=inbound + earlier(Before.INBOUND),
        sends=tuple(sends),
    )
