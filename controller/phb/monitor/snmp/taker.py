"""Takes observations and answers snmpd from the newest ones; tells it of what is not achieved, and okay again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from phb.monitor.observation import EventKind, Observation, Subject
from phb.monitor.snmp import cbqos, interfaces, setting, slapm
from phb.monitor.snmp.agentx import Oid, VarBind
from phb.monitor.snmp.master import Master, Prepared, Told
from phb.monitor.snmp.monitors import OWN, Control, Monitor, RowStatus, bounds_of, broken_bits, of_objectives, tells
from phb.monitor.snmp.slapm import Base
from phb.monitor.snmp.switches import Entry, KnownSwitch, system_address
from phb.monitor.snmp.tree import Table, Tree

LONGEST_CONTEXT = 32
"""Bytes of a context's name (RFC 3415); a switch with a longer name has none."""

Monitors = dict[tuple[str, int], Monitor]


class SnmpTaker:
    """The agent behind snmpd's AgentX socket: a taker of observations, and a task, `run`.

    The default context has SLAPM-MIB for all switches that can be told apart by their address; the context with a
    switch's name has SLAPM-MIB, CISCO-CLASS-BASED-QOS-MIB, IF-MIB and the system group of that switch.

    Args:
        socket: snmpd's agentXSocket.
        addresses: ``HOST:PORT`` of each switch, as the inventory has it.
        tell: Called with a sentence for whoever runs the monitor.
    """

    def __init__(self, socket: Path, addresses: Mapping[str, str], tell: Told) -> None:
        self.base = Base()
        self._master = Master(socket, self, tell)
        self._addresses: Mapping[str, bytes] = {}
        self._single = False
        self._hidden: list[str] = []
        self._tell = tell
        self._switches: dict[str, KnownSwitch] = {}
        self._monitors: dict[str, Monitors] = {}
        self._structure = 0
        self._trees: dict[str, Tree] = {"": Tree(self._slapm(self._in_default))}
        self.follow(addresses)

    async def run(self) -> None:
        """Keep a session with snmpd until cancelled."""
        await self._master.run()

    def follow(self, addresses: Mapping[str, str]) -> None:
        """Have these switches from now on; those that aren't among them are forgotten."""
        self._addresses = own_addresses(addresses)
        self._single = len(addresses) == 1
        self._structure += 1
        hidden = [name for name in addresses if not self._single and name not in self._addresses]
        if hidden and hidden != self._hidden:
            self._tell(
                f"SNMP: without an address of their own, and so in their own contexts alone: {', '.join(hidden)}"
            )
        self._hidden = hidden
        for name in [name for name in self._switches if name not in addresses]:
            self._master.unregister(name)
            self._trees.pop(name, None)
            del self._switches[name], self._monitors[name]
        for name, switch in self._switches.items():
            switch.address = self._addresses.get(name, b"")

    @property
    def connected(self) -> bool:
        """Whether snmpd has a session with us."""
        return self._master.connected

    # -- observations -------------------------------------------------------

    def take(self, observation: Observation) -> None:
        """Take one."""
        if not observation.switch:
            # No MIB of these has test packets.
            return
        switch = self._switches.get(observation.switch)
        if switch is None:
            switch = self._learn(observation)
        before = switch.structure
        purged = switch.take(observation, self.base.purge_s)
        monitors = self._monitors[switch.name]
        self._follow(switch, monitors, observation, switch.structure != before)
        if observation.sample is None:
            for monitor in monitors.values():
                monitor.away()
        else:
            self._judge(monitors, observation)
        for entry in purged:
            self._forget(entry, monitors)
        if switch.structure != before:
            self._structure += 1

    def _learn(self, observation: Observation) -> KnownSwitch:
        name, now = observation.switch, observation.time_ns
        switch = self._switches[name] = KnownSwitch(name, self._addresses.get(name, b""), now, now, now)
        self._monitors[name] = {}
        self._structure += 1
        if len(name.encode()) <= LONGEST_CONTEXT:
            own = [*interfaces.tables(switch), *self._slapm(lambda: [(switch, b"")]), *cbqos.tables(switch)]
            self._trees[name] = Tree(own)
            self._master.register()
        return switch

    def _follow(self, switch: KnownSwitch, monitors: Monitors, observation: Observation, changed: bool) -> None:
        """Have a row for each subject that the policy has objectives for."""
        if observation.judgements is switch.judgements and not changed:
            return
        switch.judgements = observation.judgements
        bounds = bounds_of(observation.judgements)
        if bounds == switch.bounds and not changed:
            return
        switch.bounds = bounds
        made = {monitor.key: monitor for monitor in of_objectives(switch, observation.judgements)}
        for key in [key for key in monitors if key[0] == OWN and key not in made]:
            del monitors[key]
        for key, monitor in made.items():
            had = monitors.get(key)
            if had is None or had.given != monitor.given or had.window.interval_s != monitor.window.interval_s:
                monitors[key] = monitor
        self._structure += 1

    def _judge(self, monitors: Monitors, observation: Observation) -> None:
        broken = broken_bits(observation.judgements)
        told: dict[Subject, set[EventKind]] = {}
        for event in observation.events:
            if event.judgement is not None and tells(event.judgement):
                told.setdefault(event.judgement.subject, set()).add(event.kind)
        for monitor in monitors.values():
            if monitor.status is not RowStatus.ACTIVE:
                continue
            subject = monitor.entry.subject
            ended = monitor.window.add(observation.changes.get(subject), observation.time_ns)
            if monitor.owner == OWN:
                monitor.become(broken.get(subject, frozenset()))
                kinds: Iterable[EventKind] = told.get(subject, ())
            else:
                kinds = monitor.judge(max(1, self.base.trap_filter)) if ended else ()
            if Control.AGGREGATE_TRAPS in monitor.control:
                for kind in sorted(set(kinds)):
                    number = slapm.NOT_OKAY if kind is EventKind.NOT_ACHIEVED else slapm.OKAY
                    self._master.notify(slapm.state_told(number, monitor, monitor.entry.switch.address))

    def _forget(self, entry: Entry, monitors: Monitors) -> None:
        """Let a rule's rows go."""
        address = entry.switch.address
        gone = [monitor for monitor in monitors.values() if monitor.entry is entry]
        for monitor in gone:
            del monitors[monitor.key]
        if self.base.trap_enable == slapm.ENABLED:
            for monitor in gone:
                self._master.notify(slapm.monitor_deleted(monitor, address))
            self._master.notify(slapm.rule_deleted(entry, address))

    # -- what the master asks -----------------------------------------------

    def contexts(self) -> Iterable[str]:
        """Name the contexts that there are."""
        return tuple(self._trees)

    def subtrees(self, context: str) -> Sequence[Oid]:
        """Name what a context has objects below."""
        if not context:
            return (slapm.ROOT,)
        return (interfaces.SYSTEM, interfaces.INTERFACES, interfaces.IF_MIB, slapm.ROOT, cbqos.ROOT)

    def tree(self, context: str) -> Tree | None:
        """Give the objects of a context."""
        return self._trees.get(context)

    def prepare(self, context: str, bindings: Sequence[VarBind]) -> Prepared:
        """Test a set.

        Raises:
            SetError: It can't be done.
        """
        shown = self._in_default() if not context else [(each, b"") for each in (self._switches.get(context),) if each]

        def find(address: bytes) -> tuple[KnownSwitch, Monitors] | None:
            return next(((each, self._monitors[each.name]) for each, own in shown if own == address), None)

        made = sum(owner != OWN for rows in self._monitors.values() for owner, _ in rows)
        return setting.prepare(self.base, bindings, find, made, self._changed)

    def _changed(self) -> None:
        self._structure += 1

    def _slapm(self, shown: Callable[[], Iterable[tuple[KnownSwitch, bytes]]]) -> list[Table]:  # type: ignore[type-arg]
        return slapm.tables(self.base, shown, lambda switch: self._monitors[switch.name], lambda: self._structure)

    def _in_default(self) -> list[tuple[KnownSwitch, bytes]]:
        """Give the switches of the default context with their addresses there; an only one needs none."""
        return [(each, each.address) for each in self._switches.values() if self._single or each.address]


def own_addresses(addresses: Mapping[str, str]) -> dict[str, bytes]:
    """Give the system address of each switch that has one of its own; an only switch needs none."""
    if len(addresses) == 1:
        return {}
    found = {name: system_address(address) for name, address in addresses.items()}
    every = list(found.values())
    return {name: address for name, address in found.items() if address and every.count(address) == 1}


@asynccontextmanager
async def serve(socket: Path, addresses: Mapping[str, str], tell: Told) -> AsyncIterator[SnmpTaker]:
    """Serve snmpd at its AgentX socket as long as the context lasts; it may come later than we, and come again."""
    taker = SnmpTaker(socket, addresses, tell)
    task = asyncio.create_task(taker.run())
    try:
        yield taker
    finally:
        if not task.cancel():
            task.result()  # it ended by itself: a mistake of ours
        await asyncio.wait([task])
