"""Port shapers over gNMI, for P4Runtime has none.

A shaped port gets a scheduler policy of OpenConfig's that is called after its interface and belongs to us; a port whose
shaper goes is bound again to what it had at the start. The leaf `/interfaces/interface/state/id` (openconfig-p4rt) says
which interface is P4Runtime's port N.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

from finsy import GNMIClient, GNMIPath, GRPCStatusCode
from finsy.gnmiclient import GNMIClientError, GNMIUpdate
from finsy.proto import gnmi

from phb.device.deadlines import understood
from phb.device.session import Session
from phb.errors import SwitchError
from phb.intent import PortShaper

# Scheduler policies with this prefix are ours.
OURS = "phb-"

_IDS = "interfaces/interface[name=*]/state/id"
_BINDINGS = "qos/interfaces/interface[interface-id=*]/output/scheduler-policy/config/name"
_POLICY = "qos/scheduler-policies/scheduler-policy[name={}]"
_SCHEDULER = "schedulers/scheduler[sequence=0]/one-rate-two-color/config"


@dataclass(frozen=True, slots=True)
class Scheduler:
    """A scheduler policy; fields that it doesn't set are None.

    Attributes:
        rate_bps: `cir`.
        burst_bytes: `bc`: what may pass at the line's rate after a pause.
        overhead_bytes: `overhead` (phb-qos): what is added to an Ethernet frame's length to get what `cir` counts.
        depth: `max-queue-depth-packets`, which a shaper of ours keeps.
    """

    rate_bps: int | None = None
    burst_bytes: int | None = None
    overhead_bytes: int | None = None
    depth: int | None = None

    def __str__(self) -> str:
        if self.rate_bps is None:
            return "unshaped"
        burst = f", burst {self.burst_bytes} bytes" if self.burst_bytes else ""
        overhead = f", frame {self.overhead_bytes:+d} bytes" if self.overhead_bytes else ""
        return f"{self.rate_bps} bit/s{burst}{overhead}"


# The leaves of a scheduler that we read and set.
_LEAVES = {
    "cir": "rate_bps",
    "bc": "burst_bytes",
    "overhead": "overhead_bytes",
    "max-queue-depth-packets": "depth",
}

NO_SCHEDULER = Scheduler()


@dataclass(frozen=True, slots=True)
class PortShaping:
    """How one port is shaped: by the policy that its interface is bound to, if any, and what that policy says."""

    interface: str
    policy: str | None = None
    scheduler: Scheduler = NO_SCHEDULER


@dataclass(frozen=True, slots=True)
class Shaping:
    """How a switch's ports are shaped, by port number, and all of its scheduler policies."""

    ports: Mapping[int, PortShaping]
    policies: Mapping[str, Scheduler]


@dataclass(frozen=True, slots=True)
class ShaperChange:
    """One port whose shaping differs."""

    port: int
    interface: str
    before: Scheduler
    after: Scheduler

    def __str__(self) -> str:
        return f"shaper of port {self.port} ({self.interface}): {self.before} -> {self.after}"


NOTHING = Shaping({}, {})


def wanted(shaping: Shaping | None, shapers: Sequence[PortShaper], address: str) -> Shaping:
    """Give the shaping that a policy asks for.

    A port that the policy doesn't shape is bound to what it had at the start; a shaped one keeps its queue's depth.

    Raises:
        SwitchError: The switch has no such port, or doesn't speak gNMI.
    """
    if shaping is None:
        if shapers:
            raise SwitchError(
                address, f"the switch doesn't speak gNMI, by which {shapers[0].origin} wants a port shaped"
            )
        return NOTHING
    by_port = {shaper.port: shaper for shaper in shapers}
    for shaper in shapers:
        if shaper.port not in shaping.ports:
            message = f"no interface has port number {shaper.port}, which {shaper.origin} wants shaped"
            raise SwitchError(address, message)
    ports = {}
    for number, port in shaping.ports.items():
        own = port.interface if port.interface in shaping.policies else None
        started = NO_SCHEDULER if own is None else shaping.policies[own]
        if number in by_port:
            shaper = by_port[number]
            scheduler = Scheduler(shaper.rate_bps, shaper.burst_bytes, shaper.overhead_bytes, started.depth)
            ports[number] = PortShaping(port.interface, OURS + port.interface, scheduler)
        elif port.policy is not None and port.policy.startswith(OURS):
            ports[number] = PortShaping(port.interface, own, started)
        else:
            ports[number] = port
    return Shaping(ports, shaping.policies)


def changes(before: Shaping | None, after: Shaping) -> list[ShaperChange]:
    """Give the ports whose shaping differs, by port number."""
    if before is None:
        return []
    return [
        ShaperChange(number, port.interface, before.ports[number].scheduler, port.scheduler)
        for number, port in sorted(after.ports.items())
        if before.ports[number] != port
    ]


class PortShapers:
    """The shapers of one switch, for ``async with``: phb-switch answers gNMI at the port of P4Runtime."""

    def __init__(self, session: Session) -> None:
        self.address = session.address
        self._channel = session.channel
        self._timeout_s = session.timeout_s
        self._client = GNMIClient(session.address)

    async def __aenter__(self) -> Self:
        await self._client.open(channel=self._channel)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def read(self) -> Shaping | None:
        """Read how the ports are shaped; None if the switch doesn't speak gNMI."""
        try:
            ids = await self.get(_IDS)
            bindings = await self.get(_BINDINGS)
            policies = await self.get("qos/scheduler-policies")
        except GNMIClientError as error:
            if error.code is GRPCStatusCode.UNIMPLEMENTED:
                return None
            raise self.failed(error) from None
        with understood(self.address):
            return _shaping(ids, bindings, policies)

    async def get(self, path: str) -> Sequence[GNMIUpdate]:
        """Give the leaves below a path; none where the switch has no such node (no interfaces, bindings, policies).

        Raises:
            GNMIClientError: It refuses, or can't be reached.
        """
        try:
            return await self._client.get(_parsed(path))
        except GNMIClientError as error:
            if error.code is GRPCStatusCode.NOT_FOUND:
                return ()
            raise

    async def apply(self, before: Shaping | None, after: Shaping) -> None:
        """Go from one shaping to another, in one request that the switch carries out as a whole.

        To put a switch back: ``apply(await read(), before)``.

        Raises:
            SwitchError: The switch refused, and is as it was; or it can't be reached.
        """
        updates: list[tuple[GNMIPath, Any]] = []
        deletions: list[GNMIPath] = []
        for number, port in after.ports.items():
            old = before.ports.get(number) if before is not None else None
            if old == port:
                continue
            binding = GNMIPath(_BINDINGS.replace("*", port.interface))
            if old is not None and old.policy is not None and old.policy.startswith(OURS):
                deletions.append(GNMIPath(_POLICY.format(old.policy)))
            if port.policy is None:
                deletions.append(binding)
                continue
            if port.policy.startswith(OURS):
                updates += _settings(port)
            updates.append((binding, gnmi.TypedValue(string_val=port.policy)))
        if updates or deletions:
            await self.set(updates, deletions)

    async def set(self, updates: Sequence[tuple[GNMIPath, Any]], deletions: Sequence[GNMIPath]) -> None:
        """Change settings in one request that the switch carries out as a whole: first what goes, then what comes.

        Raises:
            SwitchError: The switch refused, and is as it was; or it can't be reached.
        """
        try:
            with understood(self.address):
                await self._client.set(update=updates, delete=deletions)
        except GNMIClientError as error:
            raise self.failed(error) from None

    def failed(self, error: GNMIClientError) -> SwitchError:
        """Turn a failed call into an error in the switch's words."""
        if error.code is GRPCStatusCode.DEADLINE_EXCEEDED:
            return SwitchError(self.address, f"no answer to gNMI within {self._timeout_s:g} s (--timeout)")
        return SwitchError(self.address, f"gNMI: {error.message or error.code.name}")


@lru_cache(maxsize=64)
def _parsed(path: str) -> GNMIPath:
    """Read a path: with thousands of switches that took a tenth of each push."""
    return GNMIPath(path)


def _shaping(ids: Sequence[GNMIUpdate], bindings: Sequence[GNMIUpdate], policies: Sequence[GNMIUpdate]) -> Shaping:
    found: dict[str, Scheduler] = {}
    for update in policies:
        name = update.path["scheduler-policy", "name"]
        said = {_LEAVES[leaf]: int(update.value)} if (leaf := update.path.last) in _LEAVES else {}
        found[name] = replace(found.get(name, NO_SCHEDULER), **said)
    bound = {update.path["interface", "interface-id"]: str(update.value) for update in bindings}
    ports = {}
    for update in ids:
        interface = update.path["interface", "name"]
        policy = bound.get(interface)
        scheduler = NO_SCHEDULER if policy is None else found.get(policy, NO_SCHEDULER)
        ports[int(update.value)] = PortShaping(interface, policy, scheduler)
    return Shaping(ports, found)


def _settings(port: PortShaping) -> list[tuple[GNMIPath, Any]]:
    scheduler = f"{_POLICY.format(port.policy)}/{_SCHEDULER}"
    leaves: list[tuple[GNMIPath, Any]] = [
        (GNMIPath(f"{scheduler}/queuing-behavior"), gnmi.TypedValue(string_val="SHAPE"))
    ]
    for leaf, name in _LEAVES.items():
        value = getattr(port.scheduler, name)
        if value is not None:
            typed = gnmi.TypedValue(uint_val=value) if value >= 0 else gnmi.TypedValue(int_val=value)
            leaves.append((GNMIPath(f"{scheduler}/{leaf}"), typed))
    return leaves
