"""Stage buffer: private buffers of streams, and the pool that they share with everything else."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Final

from phb.behaviour.behaviour import Fact
from phb.behaviour.facts import buffer
from phb.intent import Entry, Ternary
from phb.packets.space import every
from phb.proving.tables.rows import TableFaultError, Tables, number

_STREAM: Final = every(12)
_MICROSECONDS: Final = 1000


def buffers(tables: Tables, profiles: Mapping[int, int]) -> dict[tuple[int, Hashable], tuple[Fact, ...]]:
    """Give the buffers of streams at every port; `profiles` are those of the ports."""
    by_profile: dict[int, dict[int | None, Entry]] = {}
    accounts: dict[int, Entry] = {}
    for row in tables.of("buffer.stream_buffer"):
        stream = _stream(row)
        rows = by_profile.setdefault(number(row, "profile"), {})
        if stream in rows:
            raise TableFaultError("two buffers of one stream", rows[stream], row)
        if None in rows and rows[None].priority >= row.priority:
            raise TableFaultError("a buffer of a stream behind that of all others", row)
        rows[stream] = row
        account = row.parameters["index"]
        if accounts.setdefault(account, row) is not row:
            raise TableFaultError("two buffers of one account", accounts[account], row)
    found: dict[tuple[int, Hashable], tuple[Fact, ...]] = {}
    pools: dict[int, int] = {}
    for port, profile in profiles.items():
        rows = by_profile.get(profile, {})
        idle_ms, lent = _idle(tables, profile, rows)
        for stream, row in rows.items():
            given = row.parameters
            if pools.setdefault(given["pool"], port) != port:
                raise TableFaultError("a pool of two ports", row)
            own = given["private_bytes"] if stream is not None or given["private_bytes"] else None
            found[port, stream] = buffer(own, given["shared_bytes"], given["holes"], idle_ms=idle_ms, lent=lent)
        if len({row.parameters["pool"] for row in rows.values()}) > 1:
            raise TableFaultError("two pools of one port", *rows.values())
    return found


def _stream(row: Entry) -> int | None:
    asked = row.match.get("stream")
    if not isinstance(asked, Ternary):
        return None
    if asked.mask != _STREAM:
        raise TableFaultError("a buffer of a part of the streams", row)
    return asked.value


def _idle(tables: Tables, profile: int, rows: Mapping[int | None, Entry]) -> tuple[int, int]:
    """Give after how many ms private buffers are lent, and the bytes of all of them; 0 for never."""
    found = tables.by_key("buffer.idle_stream", "profile", "turn")
    turns = {turn: row for (of, turn), row in found.items() if of == profile}
    if not turns:
        return 0, 0
    first = next(iter(turns.values()))
    private = {row.parameters["index"]: row.parameters["private_bytes"] for key, row in rows.items() if key is not None}
    if {row.parameters["index"]: row.parameters["private_bytes"] for row in turns.values()} != private:
        raise TableFaultError("other buffers that may be lent than there are", first)
    following = {turn: (turn + 1) % len(turns) for turn in range(len(turns))}
    if {turn: row.parameters["next_turn"] for turn, row in turns.items()} != following:
        raise TableFaultError("buffers that are not looked at in turn", first)
    timeouts = {row.parameters["timeout_us"] for row in turns.values()}
    if len(timeouts) > 1 or min(timeouts) % _MICROSECONDS:
        raise TableFaultError("several times after which a buffer is lent, or no whole milliseconds", first)
    return min(timeouts) // _MICROSECONDS, sum(private.values())
