"""Counters of a switch, only the cells that an entry makes count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from phb.device.session import CounterValue, Session
from phb.names import Names
from phb.show.held import HeldTables

NOTHING = CounterValue(0, 0)


class Reading:
    """One look at a switch: its tables, read once, and counters, read on demand; needs no mastership."""

    def __init__(self, session: Session, held: HeldTables, names: Names) -> None:
        self.session = session
        self.held = held
        self.names = names

    async def counter(self, name: str, indexes: Iterable[int]) -> Mapping[int, CounterValue]:
        """Read the cells that aren't zero; none where the program has no such counter."""
        wanted = sorted(set(indexes))
        if not wanted or name not in self.session.artifact.counters:
            return {}
        return await self.session.counter(name, wanted)

    async def registers(self, name: str, indexes: Sequence[int]) -> Mapping[int, int]:
        """Read cells of a register; none where the program has no such array, or the switch can't read registers."""
        if not indexes or name not in self.session.artifact.registers:
            return {}
        return await self.session.registers(name, indexes) or {}


def add(values: Iterable[CounterValue]) -> CounterValue:
    """Add cells up."""
    packets = octets = 0
    for value in values:
        packets += value.packets
        octets += value.bytes
    return CounterValue(packets, octets)
