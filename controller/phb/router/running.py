"""The agent beside a switch: its session, its entries, its clock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address

from phb.device.artifact import Artifact
from phb.device.session import Session
from phb.device.tls import Tls
from phb.entries import TableRow, difference
from phb.errors import SwitchError
from phb.intent import Entry, Exact
from phb.origin import UNKNOWN
from phb.pipeline_names import ForwardingException
from phb.router.agent import Agent
from phb.router.inbox import Inbox
from phb.router.neighbours import Key
from phb.router.view import LOOKED_AT, MAPPED, NEIGHBOUR, View, decoded

EXCEPTION = "PhbIngress.forward.exception"
ROLE = "router"
"""Of its own, so that a push needs not wait for the agent, nor the agent for a push (P4Runtime section 5)."""
TICK_S = 0.25
RETRY_S = 0.25
LOOK_S = 2.0
LOOK_SHARE = 20
"""Looking takes no more than a twentieth of the time, however many entries the switch has."""
MOST_AT_ONCE = 256

Teller = Callable[[str, str], None]


@dataclass(frozen=True)
class Place:
    """A switch, and as whom the agent connects to it."""

    address: str
    device_id: int = 1
    role: str = ROLE
    election_id: int = 1
    tls: Tls | None = None
    timeout_s: float = 60.0


async def serve(place: Place, artifact: Artifact, tell: Teller, agent: Agent | None = None) -> None:
    """Answer for a switch until cancelled; wait for a switch that goes away.

    `tell` is called with events: a word for the kind, and a sentence.
    """
    agent = agent or Agent()
    told = ""
    while True:
        packets = Inbox()
        try:
            async with Session(
                place.address,
                place.device_id,
                artifact,
                election_id=place.election_id,
                role=place.role,
                tls=place.tls,
                timeout_s=place.timeout_s,
                on_packet=packets.put,
            ) as session:
                await session.arbitrate()
                told = ""
                await _answer(session, agent, packets, tell)
        except SwitchError as error:
            if error.message != told:
                told = error.message
                tell("unreachable", error.message)
            await asyncio.sleep(RETRY_S)


async def _answer(session: Session, agent: Agent, packets: Inbox, tell: Teller) -> None:
    look_at, tick_at, primary, answering = 0.0, 0.0, None, False
    kept = _Kept(session.artifact)
    while True:
        mastership = session.mastership
        if mastership is None or not (mastership.primary or mastership.somebody):
            # The other agent has gone. The first that asks takes over, with the highest id that the switch has seen.
            highest = mastership.primary_election_id if mastership is not None else None
            mastership = await session.arbitrate(max(session.election_id, highest or 0))
        if mastership.primary != primary:
            primary, answering, look_at = mastership.primary, False, 0.0
            kept = _Kept(session.artifact)
            agent.neighbours.changed |= agent.neighbours.known.keys()
            tell("primary" if primary else "standby", f"in role '{session.role}'")
        if not primary:
            agent.neighbours.forget_all()
            packets.clear()
            await asyncio.sleep(TICK_S)
            continue
        now = time.monotonic()
        if now >= look_at:
            await kept.look(session, agent)
            looked = time.monotonic()
            look_at = looked + max(LOOK_S, LOOK_SHARE * (looked - now))
            for (port, address), mac in agent.neighbours.duplicates.items():
                tell("duplicate", f"{ip_address(address)} at port {port} is also the address of {mac.hex(':')}")
            agent.neighbours.duplicates.clear()
        out = []
        if now >= tick_at:
            tick_at = now + TICK_S
            out = agent.tick(now)
        try:
            async with asyncio.timeout(TICK_S):
                out += agent.packet_in(time.monotonic(), *await packets.get())
        except TimeoutError:
            pass
        while packets and len(out) < MOST_AT_ONCE:
            out += agent.packet_in(time.monotonic(), *packets.take())
        await kept.write(session, agent)
        if kept.is_router and not answering:
            answering = True
            tell("answering", f"at ports {', '.join(map(str, sorted(agent.view.interfaces)))}")
        for port, data in out:
            await session.send_packet(port, data)


@dataclass
class _Kept:
    """The entries that the switch was given last: unchanged ones are neither read again nor written again."""

    artifact: Artifact
    is_router: bool = False
    neighbours: dict[Key, TableRow] = field(default_factory=dict)
    looked_at: list[TableRow] | None = None

    async def look(self, session: Session, agent: Agent) -> None:
        """Read what the router is, and put right what the switch holds of ours."""
        if not await session.runs_artifact():
            agent.neighbours.look(View())
            self.is_router, self.looked_at = False, None
            return
        rows = await session.rows()
        own = {self.artifact.table(name).number for name in self.artifact.agent_tables}
        tables = {self.artifact.table(name).number for name in LOOKED_AT}
        looked_at = [row for row in rows if row.table in tables]
        if looked_at != self.looked_at:
            agent.neighbours.look(View.of(decoded(looked_at, self.artifact)))
            self.looked_at = looked_at
        self.is_router = bool(agent.view.interfaces)
        held = [row for row in rows if row.table in own]
        known = set(self.neighbours.values())
        agent.neighbours.adopt(_neighbours([row for row in held if row not in known], self.artifact, agent.view))
        self._catch_up(agent)
        exceptions = [self.artifact.encode(entry) for entry in _exceptions()] if self.is_router else []
        await session.write(difference(held, [*exceptions, *self.neighbours.values()]), atomic=False)

    async def write(self, session: Session, agent: Agent) -> None:
        """Write what has changed since, once there is a router."""
        if self.is_router and agent.neighbours.changed:
            await session.write(difference(*self._catch_up(agent)), atomic=False)

    def _catch_up(self, agent: Agent) -> tuple[list[TableRow], list[TableRow]]:
        """Give the rows of changed neighbours, before and after."""
        before, after = [], []
        for key in agent.neighbours.changed:
            if (row := self.neighbours.pop(key, None)) is not None:
                before.append(row)
            known = agent.neighbours.known.get(key)
            if known is not None and known.mac is not None:
                row = self.neighbours[key] = self.artifact.encode(_reach(key, known.mac))
                after.append(row)
        agent.neighbours.changed.clear()
        return before, after


def _neighbours(held: Iterable[TableRow], artifact: Artifact, view: View) -> Iterator[tuple[Key, bytes]]:
    """Give the neighbours that an earlier agent has learnt, at ports and in networks that still exist."""
    for entry in decoded(held, artifact, (NEIGHBOUR,)):
        port, address = entry.match["egress_port"], entry.match["address"]
        assert isinstance(port, Exact)
        assert isinstance(address, Exact)
        number = address.value
        packed = (number & 0xFFFFFFFF).to_bytes(4) if number & ~0xFFFFFFFF == MAPPED else number.to_bytes(16)
        if port.value in view.interfaces and view.is_on_link(port.value, packed):
            yield (port.value, packed), entry.parameters["mac"].to_bytes(6)


def _exceptions() -> Iterator[Entry]:
    """Give an entry for each exception: the switch hands over all of them."""
    for code in ForwardingException:
        if code is not ForwardingException.NONE:
            yield Entry(EXCEPTION, {"code": Exact(code)}, "to_controller", {}, 0, UNKNOWN)


def _reach(key: Key, mac: bytes) -> Entry:
    port, address = key
    number = int.from_bytes(address) | (MAPPED if len(address) == 4 else 0)
    match = {"egress_port": Exact(port), "address": Exact(number)}
    return Entry(NEIGHBOUR, match, "reach", {"mac": int.from_bytes(mac)}, 0, UNKNOWN)
