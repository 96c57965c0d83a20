"""The policy that a live switch holds."""

from __future__ import annotations

from dataclasses import dataclass

from phb.decompiler import decompile
from phb.device.artifact import Artifact
from phb.device.deadlines import understood
from phb.device.gnmi import OURS, PortShapers
from phb.device.references import References
from phb.device.session import Session
from phb.intent import Entry, PortShaper
from phb.inventory import Switch
from phb.model import PolicySet
from phb.origin import UNKNOWN
from phb.pushing.phases import Held
from phb.show.looking import look, reading_of
from phb.show.reading import Reading


@dataclass(frozen=True)
class Recovered:
    """The policy that a switch holds, and what it was read from."""

    policy: PolicySet
    entries: tuple[Entry, ...]
    shapers: tuple[PortShaper, ...]


async def policy_of(where: Switch, artifact: Artifact) -> PolicySet:
    """As `recover`, the policy alone."""
    return (await recover(where, artifact)).policy


async def recover(where: Switch, artifact: Artifact) -> Recovered:
    """Read a switch, and give the policy that a push would find there already.

    Rules and classes have the names of the last push; ports are called by their numbers, for no entry says their names.

    Raises:
        NotAPolicyError: The switch holds an entry that no policy compiles to.
        SwitchError: The switch refused, can't be reached, or runs another program.
    """
    return await look(where, artifact, None, _recovered)


async def policy_over(session: Session) -> PolicySet:
    """`policy_of` over a session that is open."""
    return (await _recovered(await reading_of(session, None))).policy


async def _recovered(reading: Reading) -> Recovered:
    artifact = reading.session.artifact
    # Keys and what a router's control plane has learnt are no part of a policy.
    others = {artifact.table(name).number for name in (*artifact.key_tables, *artifact.agent_tables)}
    held = Held.of(entry.row for entry in reading.held if entry.row.table not in others)
    with understood(reading.session.address):
        entries = [artifact.named(row) for row in held.visible(References(artifact))]
    shapers = await _shapers(reading)
    return Recovered(decompile(entries, reading.names, shapers), tuple(entries), tuple(shapers))


async def _shapers(reading: Reading) -> list[PortShaper]:
    async with PortShapers(reading.session) as ports:
        shaping = await ports.read()
    return [
        PortShaper(
            port=number,
            port_name=port.interface,
            rate_bps=port.scheduler.rate_bps,
            burst_bytes=port.scheduler.burst_bytes or 0,
            overhead_bytes=port.scheduler.overhead_bytes or 0,
            origin=UNKNOWN,
        )
        for number, port in (shaping.ports.items() if shaping is not None else ())
        if port.policy is not None and port.policy.startswith(OURS) and port.scheduler.rate_bps is not None
    ]
