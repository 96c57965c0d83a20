"""What the agent asks of a switch, and how often."""

import asyncio
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from scapy.layers.l2 import ARP, Ether

import phb
from phb.entries import Change, applied
from phb.router import running
from phb.router.agent import Agent
from phb.router.inbox import Inbox

POLICY = """\
phb: 1
node: r1
ports: [{number: 1, name: lan, mac: "02:00:00:00:01:fe", addresses: [10.0.0.254/16]}]
"""
HOSTS = 300
FOR_S = 0.6


class Switch:
    """The session with a switch that holds a policy."""

    role, election_id = "router", 1
    mastership = SimpleNamespace(primary=True, somebody=True)

    def __init__(self, artifact, entries):
        self.artifact = artifact
        self.held = [artifact.encode(entry) for entry in entries]
        self.sent, self.changes = 0, []

    async def runs_artifact(self):
        return True

    async def rows(self):
        return self.held

    async def write(self, updates, *, atomic):
        self.changes += [update.change for update in updates]
        self.held = list(applied(self.held, updates))

    async def send_packet(self, port, frame):
        self.sent += 1
        await asyncio.sleep(0)


class Counting(Agent):
    ticks = 0

    def tick(self, now):
        self.ticks += 1
        return super().tick(now)


@pytest.fixture
def switch(write_file, artifact):
    path = Path(write_file("policy.yaml", POLICY))
    return Switch(artifact, phb.load_intent([path], artifact, at=datetime(2026, 1, 5)).entries)


async def answered(switch, agent, senders):
    """Let the agent answer for a while; each sender asks once it has answered the one before."""
    inbox, said = Inbox(), []
    task = asyncio.create_task(running._answer(switch, agent, inbox, lambda *event: said.append(event)))
    until = asyncio.get_running_loop().time() + FOR_S
    for sender in senders:
        asked, before = ARP(op=1, hwsrc="02:00:00:00:01:01", psrc=sender, pdst="10.0.0.254"), switch.sent
        inbox.put((1, 0, bytes(Ether(src="02:00:00:00:01:01") / asked)))
        while switch.sent == before:
            await asyncio.sleep(0)
    await asyncio.sleep(max(0.0, until - asyncio.get_running_loop().time()))
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    return said


def test_many_neighbours_are_each_written_once_and_looked_after_by_the_clock(switch):
    agent = Counting()
    began = len(switch.held)
    hosts = [f"10.0.{1 + number // 200}.{1 + number % 200}" for number in range(HOSTS)]
    asyncio.run(answered(switch, agent, hosts))
    assert set(switch.changes) == {Change.INSERT}
    assert len(switch.changes) == len(switch.held) - began
    assert sum(row.table == switch.artifact.table(running.NEIGHBOUR).number for row in switch.held) == HOSTS
    assert agent.ticks < HOSTS / 10


def test_what_an_agent_before_has_learnt_is_kept(switch):
    asyncio.run(answered(switch, Agent(), ["10.0.0.7"]))
    held, second = list(switch.held), Agent()
    asyncio.run(answered(switch, second, []))
    assert switch.held == held
    assert [address for _, address in second.neighbours.known] == [bytes((10, 0, 0, 7))]


def test_who_claims_the_routers_address_is_named(switch, monkeypatch):
    monkeypatch.setattr(running, "LOOK_S", 0.1)
    agent = Agent()
    agent.neighbours.duplicates[1, bytes((10, 0, 0, 254))] = bytes.fromhex("020000000909")
    said = asyncio.run(answered(switch, agent, []))
    assert ("duplicate", "10.0.0.254 at port 1 is also the address of 02:00:00:00:09:09") in said
    assert len([event for event, _ in said if event == "duplicate"]) == 1
