"""Stage user_priority: ToS to 802.1p priority, by port."""

from __future__ import annotations

from phb.decompiler.ports import Ports
from phb.decompiler.rows import NotAPolicyError, Rows, exact
from phb.intent import Entry, Ternary
from phb.model import PriorityMapping, SubnetPriority

_TABLE = "user_priority.map"
_PRECEDENCE = 0xE0


def subnet_priorities(rows: Rows, ports: Ports) -> tuple[SubnetPriority, ...]:
    """Give a statement for each port with a map or left out of the map for all others, and one for that map."""
    own: dict[int | None, list[Entry]] = {}
    left_out: dict[int, Entry] = {}
    for entry in rows.table(_TABLE):
        port = exact(entry.match["egress_port"]) if "egress_port" in entry.match else None
        if entry.action == "set_priority":
            own.setdefault(port, []).append(entry)
        elif port is None or "tos" in entry.match:
            raise NotAPolicyError(entry, "a port is left out of the map for all others, not a ToS")
        else:
            left_out[port] = entry
    if None in own:
        for port, entries in own.items():
            if port is not None and port not in left_out:
                raise NotAPolicyError(entries[0], "a port's own map is asked alone")
    elif left_out:
        raise NotAPolicyError(next(iter(left_out.values())), "there is no map for all others to leave it out of")
    for port in left_out:
        if port != ports.host:
            own.setdefault(port, [])
    return tuple(
        SubnetPriority(
            port=None if port is None else ports.name(port), mask=_mask(entries), mappings=tuple(map(_mapping, entries))
        )
        for port, entries in sorted(own.items(), key=lambda each: -1 if each[0] is None else each[0])
    )


def _bits(entry: Entry) -> Ternary:
    tos = entry.match.get("tos", Ternary(0, 0))
    assert isinstance(tos, Ternary)
    return tos


def _mask(entries: list[Entry]) -> int:
    masks = {_bits(entry).mask for entry in entries} or {_PRECEDENCE}
    if len(masks) > 1:
        raise NotAPolicyError(entries[0], "all of a port's map is under one mask")
    return masks.pop()


def _mapping(entry: Entry) -> PriorityMapping:
    return PriorityMapping(tos=_bits(entry).value, user_priority=entry.parameters["pcp"])
