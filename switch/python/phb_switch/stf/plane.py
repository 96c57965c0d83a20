"""The control plane of a file's statements: :class:`InProcess` or P4Runtime (``phb_switch.stf.p4runtime``)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from phb_switch._native import Match, Switch, Update
from phb_switch.stf.statements import StatementError
from phb_switch.stf.values import KeyMatch

# Of google.rpc.Code.
_ABORTED = 10

Arguments = Sequence[tuple[str, bytes]]
Replicas = Sequence[tuple[int, int]]
Rates = tuple[int, int, int, int]
Change = TypeVar("Change")
_Change_co = TypeVar("_Change_co", covariant=True)


@dataclass(frozen=True)
class Table:
    """A table: keys are (name, kind, width), actions (name, parameters with widths)."""

    name: str
    keys: Sequence[tuple[str, str, int]]
    actions: Sequence[tuple[str, Sequence[tuple[str, int]]]]
    is_const: bool


@dataclass(frozen=True)
class Entry:
    """The name of an entry: table, keys and priority."""

    table: str
    keys: tuple[tuple[str, KeyMatch], ...]
    priority: int


class Replicating(Protocol[_Change_co]):
    """Changes of multicast groups and clone sessions."""

    def multicast_group(self, group: int, replicas: Replicas | None) -> _Change_co:
        """Makes or replaces a multicast group of (port, instance); None removes it."""

    def clone_session(self, session: int, replicas: Replicas | None) -> _Change_co:
        """Makes or replaces a clone session; None removes it."""


class Plane(Replicating[Change], Protocol[Change]):
    """A control plane, which writes changes together."""

    tables: Sequence[Table]
    counters: Mapping[str, int]
    """Indirect counters with their numbers of cells."""
    direct_counters: Mapping[str, str]
    """Direct counters with their tables."""
    registers: Mapping[str, tuple[int, int]]
    """Registers with their numbers of cells, and the bits of one."""
    meters: Mapping[str, int]

    def insert(self, entry: Entry, action: str, arguments: Arguments) -> Change:
        """Adds an entry."""

    def delete(self, entry: Entry) -> Change:
        """Removes an entry."""

    def default_action(self, table: str, action: str, arguments: Arguments) -> Change:
        """Sets a default action."""

    def set_counter(self, name: str, index: int, packets: int, octets: int) -> Change:
        """Sets a cell of an indirect counter."""

    def set_direct_counter(self, entry: Entry, packets: int, octets: int) -> Change:
        """Sets the counter of an entry."""

    def set_register(self, name: str, index: int, value: bytes) -> Change:
        """Sets a cell of a register."""

    def set_meter(self, name: str, index: int, rates: Rates) -> Change:
        """Configures a cell of a meter: committed rate and burst, peak rate and burst."""

    def write(self, changes: Sequence[Change]) -> None:
        """Makes all changes or none; StatementError if one is refused."""

    def read_counter(self, name: str, index: int) -> tuple[int, int]:
        """Packets and bytes of a cell."""

    def read_direct_counter(self, entry: Entry) -> tuple[int, int]:
        """Packets and bytes of an entry."""

    def read_register(self, name: str, index: int | None) -> list[int]:
        """The value of a cell, or of all."""


class InProcess(Plane[Update]):
    """A switch of this process with its program loaded."""

    def __init__(self, switch: Switch, artifact: str) -> None:
        self._switch = switch
        self.tables = [Table(each.name, each.keys, each.actions, each.is_const) for each in switch.tables()]
        self.counters = switch.counters()
        self.registers = switch.registers()
        self.meters = switch.meters()
        # The native module names tables; a file names their counters.
        arrays = json.loads(artifact).get("counter_arrays", [])
        self.direct_counters = {each["name"]: each["binding"] for each in arrays if each.get("is_direct")}

    def insert(self, entry: Entry, action: str, arguments: Arguments) -> Update:
        """Adds an entry."""
        return Update.insert(entry.table, _matches(entry), entry.priority, action, arguments)

    def delete(self, entry: Entry) -> Update:
        """Removes an entry."""
        return Update.delete(entry.table, _matches(entry), entry.priority)

    def default_action(self, table: str, action: str, arguments: Arguments) -> Update:
        """Sets a default action."""
        return Update.default_action(table, action, arguments)

    def set_counter(self, name: str, index: int, packets: int, octets: int) -> Update:
        """Sets a cell of an indirect counter."""
        return Update.counter(name, index, packets, octets)

    def set_direct_counter(self, entry: Entry, packets: int, octets: int) -> Update:
        """Sets the counter of an entry."""
        return Update.direct_counter(entry.table, _matches(entry), entry.priority, packets, octets)

    def set_register(self, name: str, index: int, value: bytes) -> Update:
        """Sets a cell of a register."""
        return Update.register(name, index, value)

    def set_meter(self, name: str, index: int, rates: Rates) -> Update:
        """Configures a cell of a meter."""
        return Update.meter(name, index, rates)

    def multicast_group(self, group: int, replicas: Replicas | None) -> Update:
        """Makes, replaces or removes a multicast group."""
        return Update.multicast_group(group, replicas)

    def clone_session(self, session: int, replicas: Replicas | None) -> Update:
        """Makes, replaces or removes a clone session."""
        return Update.clone_session(session, replicas, 0, None)

    def write(self, changes: Sequence[Update]) -> None:
        """Makes all changes or none."""
        failed = [(code, message) for code, message in self._switch.write(changes, atomic=True) if code]
        for code, message in failed:
            # The others have no reason.
            if code != _ABORTED or len(failed) == 1:
                raise StatementError(message)

    def read_counter(self, name: str, index: int) -> tuple[int, int]:
        """Packets and bytes of a cell."""
        return self._switch.read_counter(name, index, 1)[0]

    def read_direct_counter(self, entry: Entry) -> tuple[int, int]:
        """Packets and bytes of an entry."""
        return self._switch.read_direct_counter(entry.table, _matches(entry), entry.priority)

    def read_register(self, name: str, index: int | None) -> list[int]:
        """The value of a cell, or of all."""
        return self._switch.read_register(name, *(() if index is None else (index, 1)))


def _matches(entry: Entry) -> list[tuple[str, Match]]:
    return [(name, key.native()) for name, key in entry.keys]
