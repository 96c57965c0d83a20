"""The agent beside a switch: its session, its entries, its clock."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from phb.device.artifact import Artifact
from phb.device.session import Session
from phb.device.tls import Tls
from phb.errors import SwitchError
from phb.intent import Entry, Exact
from phb.origin import UNKNOWN
from phb.pipeline_names import ForwardingException
from phb.pushing.difference import Row, difference
from phb.router.agent import Agent, Key
from phb.router.view import MAPPED, NEIGHBOUR, View, decoded

EXCEPTION = "PhbIngress.forward.exception"
ROLE = "router"
"""Of its own, so that a push needs not wait for the agent, nor the agent for a push (P4Runtime section 5)."""
TICK_S = 0.25
RETRY_S = 0.25
LOOK_S = 2.0
MOST_AT_ONCE = 256

Teller = Callable[[str, str], None]


@dataclass(frozen=True)
class Place:
    """A switch, and as whom the agent comes to it."""

    address: str
    device_id: int = 1
    role: str = ROLE
    election_id: int = 1
    tls: Tls | None = None
    timeout_s: float = 60.0


async def serve(place: Place, artifact: Artifact, tell: Teller, agent: Agent | None = None) -> None:
    """Answer for a switch until cancelled; a switch that goes away is waited for.

    Args:
        place: Where it is.
        artifact: What it runs.
        tell: Is told events: a word for the kind, and a sentence.
        agent: What answers; None is one with the usual limits.

    """
    agent = agent or Agent()
    told = ""
    while True:
        try:
            async with Session(
                place.address,
                place.device_id,
                artifact,
                election_id=place.election_id,
                role=place.role,
                tls=place.tls,
                timeout_s=place.timeout_s,
            ) as session:
                packets: asyncio.Queue[tuple[int, int, bytes]] = asyncio.Queue(4096)
                session.packets = packets
                await session.arbitrate()
                told = ""
                await _answer(session, agent, packets, tell)
        except SwitchError as error:
            if error.message != told:
                told = error.message
                tell("unreachable", error.message)
            await asyncio.sleep(RETRY_S)


async def _answer(session: Session, agent: Agent, packets: asyncio.Queue[tuple[int, int, bytes]], tell: Teller) -> None:
    looked, primary, answering = float("-inf"), None, False
    held: list[Row] | None = None
    changes = -1
    while True:
        mastership = session.mastership
        if mastership is None or not (mastership.primary or mastership.somebody):
            # Another agent has gone. Whoever asks first takes over, with the highest id that the switch has seen.
            highest = mastership.primary_election_id if mastership is not None else None
            mastership = await session.arbitrate(max(session.election_id, highest or 0))
        if mastership.primary != primary:
            primary, answering, looked = mastership.primary, False, float("-inf")
            tell("primary" if primary else "standby", f"in role '{session.role}'")
        if not primary:
            agent.forget_all()
            while not packets.empty():
                packets.get_nowait()
            await asyncio.sleep(TICK_S)
            continue
        now = time.monotonic()
        if now - looked >= LOOK_S:
            looked, changes = now, -1
            held = await _look(session, agent)
        out = agent.tick(now)
        try:
            async with asyncio.timeout(TICK_S):
                out += agent.packet_in(time.monotonic(), *await packets.get())
        except TimeoutError:
            pass
        while not packets.empty() and len(out) < MOST_AT_ONCE:
            out += agent.packet_in(time.monotonic(), *packets.get_nowait())
        if held is not None and changes != agent.changes:
            changes = agent.changes
            held = await _write(session, agent, held)
            if held and not answering:
                answering = True
                tell("answering", f"at ports {', '.join(map(str, sorted(agent.view.interfaces)))}")
        for port, data in out:
            await session.send_packet(port, data)


async def _look(session: Session, agent: Agent) -> list[Row] | None:
    """Read what the router is; give the rows of the agent's own tables, or None where another program runs."""
    if not await session.runs_artifact():
        agent.look(View())
        return None
    rows = await session.rows()
    artifact = session.artifact
    own = {artifact.table(name).number for name in artifact.agent_tables}
    held = [row for row in rows if row.table in own]
    agent.look(View.of(decoded(rows, artifact)))
    agent.adopt(_neighbours(held, artifact, agent.view))
    return held


async def _write(session: Session, agent: Agent, held: list[Row]) -> list[Row]:
    wanted = [session.artifact.encode(entry) for entry in _entries(agent)]
    updates = difference(held, wanted)
    await session.write(updates, atomic=False)
    return wanted


def _neighbours(held: Iterable[Row], artifact: Artifact, view: View) -> Iterator[tuple[Key, bytes]]:
    """What an agent before this one has learnt, of the ports and networks that there still are."""
    for entry in decoded(held, artifact, (NEIGHBOUR,)):
        port, address = entry.match["egress_port"], entry.match["address"]
        assert isinstance(port, Exact)
        assert isinstance(address, Exact)
        number = address.value
        packed = (number & 0xFFFFFFFF).to_bytes(4) if number & ~0xFFFFFFFF == MAPPED else number.to_bytes(16)
        if port.value in view.interfaces and view.is_on_link(port.value, packed):
            yield (port.value, packed), entry.parameters["mac"].to_bytes(6)


def _entries(agent: Agent) -> list[Entry]:
    """What the agent's tables should hold: every exception, once there is a router, and the known neighbours."""
    if not agent.view.interfaces:
        return []
    entries = [
        Entry(EXCEPTION, {"code": Exact(code)}, "to_controller", {}, 0, UNKNOWN)
        for code in ForwardingException
        if code is not ForwardingException.NONE
    ]
    for (port, address), known in agent.neighbours.items():
        if known.mac is not None:
            number = int.from_bytes(address) | (MAPPED if len(address) == 4 else 0)
            match = {"egress_port": Exact(port), "address": Exact(number)}
            entries.append(Entry(NEIGHBOUR, match, "reach", {"mac": int.from_bytes(known.mac)}, 0, UNKNOWN))
    return entries
