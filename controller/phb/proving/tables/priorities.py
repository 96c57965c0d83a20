"""Stage user_priority: the 802.1p priority of a tagged frame by the port it leaves through and its final ToS octet."""

from __future__ import annotations

from phb.intent import Entry, Exact, Ternary
from phb.model import LAST_PORT
from phb.packets.space import every
from phb.proving.tables.matching import masked
from phb.proving.tables.rows import TableFaultError, Tables

_OCTETS = 256


def user_priorities(tables: Tables) -> dict[int, tuple[int | None, ...]]:
    """Give the map of every port that has one; None leaves the priority."""
    entries = tables.of("user_priority.map")
    named = {asked.value for entry in entries if isinstance(asked := entry.match.get("egress_port"), Exact)}
    others = _map(entries, None)
    maps = dict.fromkeys(range(LAST_PORT + 1), others) if _says(others) else {}
    maps |= {port: _map(entries, port) for port in named}
    return {port: by_tos for port, by_tos in maps.items() if by_tos is others or _says(by_tos)}


def _says(by_tos: tuple[int | None, ...]) -> bool:
    return any(each is not None for each in by_tos)


def _map(entries: list[Entry], port: int | None) -> tuple[int | None, ...]:
    made: list[int | None] = [None] * _OCTETS
    by: list[Entry | None] = [None] * _OCTETS
    for entry in entries:
        if entry.match.get("egress_port") not in (None, Exact(port if port is not None else -1)):
            continue
        asked = entry.match.get("tos")
        octets = masked(asked.value, asked.mask, 8) if isinstance(asked, Ternary) else every(_OCTETS)
        says = entry.parameters["pcp"] if entry.action == "set_priority" else None
        for tos in range(_OCTETS):
            earlier = by[tos]
            if octets >> tos & 1 and earlier is None:
                made[tos], by[tos] = says, entry
            elif octets >> tos & 1 and earlier is not None and earlier.priority == entry.priority and made[tos] != says:
                raise TableFaultError("two entries of one priority for the same packets", earlier, entry)
    return tuple(made)
