"""The control plane of a file over Thrift, by bmv2's runtime services."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

from phb_switch import ThriftServer
from phb_switch._native import Switch
from phb_switch.stf.client import UnreachableError
from phb_switch.stf.plane import Arguments, Entry, Plane, Rates, Replicas, Table
from phb_switch.stf.runner import RunResult, VirtualTime, new_switch, run_on
from phb_switch.stf.statements import Statement, StatementError
from phb_switch.stf.thrift_client import Long, NotCarriedOutError, RefusedError, ThriftClient
from phb_switch.stf.values import KeyMatch

Change: TypeAlias = Callable[[], None]

_LARGEST_PRIORITY = 2**31 - 1
_LARGEST = 2**63
# Groups that clone sessions of several replicas lead to: beyond those of files.
_OF_SESSIONS = 1 << 15


class Thrift(Plane[Change]):
    """The control plane of a switch that has an artifact's program; LoadError for one that we don't load.

    What is not answered raises UnreachableError.
    """

    def __init__(self, client: ThriftClient, artifact: str) -> None:
        self._client = client
        known = Switch("names", {})
        known.load(artifact)
        self.tables = [Table(each.name, each.keys, each.actions, each.is_const) for each in known.tables()]
        self.counters, self.registers, self.meters = known.counters(), known.registers(), known.meters()
        program = json.loads(artifact)
        arrays = program.get("counter_arrays", [])
        self.direct_counters = {each["name"]: each["binding"] for each in arrays if each.get("is_direct")}
        tables = [table for pipeline in program["pipelines"] for table in pipeline["tables"]]
        self._profiles = {
            table["name"]: table.get("action_profile") or table.get("act_prof_name")
            for table in tables
            if table.get("type", "simple") != "simple"
        }
        self._of_valid = {table["name"]: [key["match_type"] == "valid" for key in table["key"]] for table in tables}
        self._named = {table.name: table for table in self.tables}
        self._widths = {name: dict(parameters) for table in self.tables for name, parameters in table.actions}
        self._handles: dict[Entry, int] = {}
        self._groups: dict[int, tuple[int, list[int]]] = {}

    def insert(self, entry: Entry, action: str, arguments: Arguments) -> Change:
        """Adds an entry; in a table with an action profile, with a member of its own."""
        table, key, data = entry.table, self._key(entry), self._data(action, arguments)
        options = {1: _LARGEST_PRIORITY - entry.priority} if entry.priority else {}

        def add() -> None:
            profile = self._profiles.get(table)
            if profile is None:
                self._handles[entry] = self._table("bm_mt_add_entry", table, key, action, data, options)
            else:
                member = self._table("bm_mt_act_prof_add_member", profile, action, data)
                self._handles[entry] = self._table("bm_mt_indirect_add_entry", table, key, member, options)

        return add

    def delete(self, entry: Entry) -> Change:
        """Removes an entry."""
        method = "bm_mt_indirect_delete_entry" if entry.table in self._profiles else "bm_mt_delete_entry"

        def remove() -> None:
            self._table(method, entry.table, self._handle(entry))
            del self._handles[entry]

        return remove

    def default_action(self, table: str, action: str, arguments: Arguments) -> Change:
        """Sets a default action."""
        profile, data = self._profiles.get(table), self._data(action, arguments)
        if profile is None:
            return self._later("bm_mt_set_default_action", table, action, data)

        def change() -> None:
            member = self._table("bm_mt_act_prof_add_member", profile, action, data)
            self._table("bm_mt_indirect_set_default_member", table, member)

        return change

    def set_counter(self, name: str, index: int, packets: int, octets: int) -> Change:
        """Sets a cell of an indirect counter."""
        return self._later("bm_counter_write", name, index, _count(packets, octets))

    def set_direct_counter(self, entry: Entry, packets: int, octets: int) -> Change:
        """Sets the counter of an entry."""
        value = _count(packets, octets)
        return lambda: self._table("bm_mt_write_counter", entry.table, self._handle(entry), value)

    def set_register(self, name: str, index: int, value: bytes) -> Change:
        """Sets a cell of a register; StatementError for what Thrift has no number for."""
        number = int.from_bytes(value, "big")
        if number >= _LARGEST:
            raise StatementError(f"found {number}, expected a number that Thrift can tell, less than 2^63")
        return self._later("bm_register_write", name, index, Long(number))

    def set_meter(self, name: str, index: int, rates: Rates) -> Change:
        """Configures a cell of a meter."""
        pairs = [{1: rate / 1_000_000, 2: burst} for rate, burst in (rates[:2], rates[2:])]
        return self._later("bm_meter_set_rates", name, index, pairs)

    def multicast_group(self, group: int, replicas: Replicas | None) -> Change:
        """Makes, replaces or removes a multicast group, with a node per instance."""
        return lambda: self._set_group(group, replicas)

    def clone_session(self, session: int, replicas: Replicas | None) -> Change:
        """Makes, replaces or removes a clone session: to a port, or to a group of its own."""

        def change() -> None:
            if replicas is None:
                self._session("mirroring_session_delete", session)
            elif len(replicas) == 1 and replicas[0][1] == 0:
                self._session("mirroring_session_add", session, {1: replicas[0][0]})
            else:
                self._session("mirroring_session_add", session, {2: session | _OF_SESSIONS})
            if replicas is None or len(replicas) == 1:
                self._set_group(session | _OF_SESSIONS, None)
            else:
                self._set_group(session | _OF_SESSIONS, replicas)

        return change

    def write(self, changes: Sequence[Change]) -> None:
        """Makes all changes, or those up to the first that is refused."""
        for change in changes:
            change()

    def read_counter(self, name: str, index: int) -> tuple[int, int]:
        """Packets and bytes of a cell."""
        return _counts(self._table("bm_counter_read", name, index))

    def read_direct_counter(self, entry: Entry) -> tuple[int, int]:
        """Packets and bytes of an entry."""
        return _counts(self._table("bm_mt_read_counter", entry.table, self._handle(entry)))

    def read_register(self, name: str, index: int | None) -> list[int]:
        """The value of a cell, or of all; StatementError for what Thrift has no number for."""
        if self.registers[name][1] > 64:
            raise StatementError(f"register {name} has {self.registers[name][1]} bits, and Thrift's numbers 64")
        if index is None:
            return [value % 2**64 for value in self._table("bm_register_read_all", name)]
        return [self._table("bm_register_read", name, index) % 2**64]

    def _set_group(self, group: int, replicas: Replicas | None) -> None:
        if group in self._groups:
            handle, nodes = self._groups.pop(group)
            for node in nodes:
                self._replication("bm_mc_node_destroy", node)
            self._replication("bm_mc_mgrp_destroy", handle)
        if replicas is not None:
            handle, nodes = self._replication("bm_mc_mgrp_create", group), []
            self._groups[group] = handle, nodes
            for instance in dict.fromkeys(instance for _, instance in replicas):
                ports = [port for port, of in replicas if of == instance]
                nodes.append(self._replication("bm_mc_node_create", instance, _port_map(ports), ""))
                self._replication("bm_mc_node_associate", handle, nodes[-1])

    def _key(self, entry: Entry) -> list[dict[int, Any]]:
        given = dict(entry.keys)
        keys = zip(self._named[entry.table].keys, self._of_valid[entry.table], strict=True)
        return [_match(given.get(name), kind, bits, is_valid) for (name, kind, bits), is_valid in keys]

    def _data(self, action: str, arguments: Arguments) -> list[bytes]:
        widths = self._widths[action]
        return [value.rjust(_bytes(widths[name]), b"\0") for name, value in arguments]

    def _handle(self, entry: Entry) -> int:
        if entry not in self._handles:
            raise StatementError(f"table {entry.table} has no such entry")
        return self._handles[entry]

    def _later(self, method: str, *arguments: Any) -> Change:
        return lambda: self._table(method, *arguments)

    def _table(self, method: str, *arguments: Any) -> Any:
        return self._call("standard", method, 0, *arguments)

    def _replication(self, method: str, *arguments: Any) -> Any:
        return self._call("simple_pre_lag", method, 0, *arguments)

    def _session(self, method: str, *arguments: Any) -> Any:
        return self._call("simple_switch", method, *arguments)

    def _call(self, service: str, method: str, *arguments: Any) -> Any:
        try:
            return self._client.call(method, *arguments, service=service)
        except RefusedError as error:
            raise StatementError(f"{method} is refused with code {error.code}") from None
        except NotCarriedOutError as error:
            raise StatementError(f"{method}: {error}") from None
        except (EOFError, OSError) as error:
            # The next answer would be this one's.
            self._client.close()
            raise UnreachableError(f"{method} is not answered: {error}") from None


def _bytes(bits: int) -> int:
    return (bits + 7) // 8


def _match(key: KeyMatch | None, kind: str, bits: int, is_valid: bool) -> dict[int, Any]:
    """A BmMatchParam; None is anything."""
    anything, full = bytes(_bytes(bits)), ((1 << bits) - 1).to_bytes(_bytes(bits), "big")
    value = anything if key is None else key.value.rjust(_bytes(bits), b"\0")
    second = None if key is None else key.second
    if isinstance(second, bytes):
        second = second.rjust(_bytes(bits), b"\0")
    if is_valid:
        return {1: 3, 5: {1: any(value)}}
    match kind:
        case "lpm":
            return {1: 1, 3: {1: value, 2: second or 0}}
        case "ternary" | "optional":
            mask = anything if key is None else second if second is not None else full
            return {1: 2, 4: {1: value, 2: mask}}
        case "range":
            return {1: 4, 6: {1: value, 2: full if key is None else second}}
        case _:
            return {1: 0, 2: {1: value}}


def _port_map(ports: Sequence[int]) -> str:
    """Ports as digits, that of port 0 last."""
    return "".join("01"[port in ports] for port in range(max(ports, default=-1), -1, -1))


def _count(packets: int, octets: int) -> dict[int, Long]:
    return {1: Long(octets), 2: Long(packets)}


def _counts(value: dict[int, int]) -> tuple[int, int]:
    return value[2], value[1]


@contextmanager
def served(switch: Switch) -> Iterator[ThriftClient]:
    """A client of a switch of this process."""
    server = ThriftServer(switch)
    client = ThriftClient(server.start())
    try:
        yield client
    finally:
        client.close()
        server.stop()


def run(artifact: str, statements: Sequence[Statement], seed: int = 1, reads_state: bool = False) -> RunResult:
    """Runs a file's statements on a program in this process over Thrift; LoadError if the switch refuses it."""
    switch = new_switch(seed)
    switch.load(artifact)
    with served(switch) as client:
        return run_on(VirtualTime(switch), Thrift(client, artifact), statements, reads_state)
