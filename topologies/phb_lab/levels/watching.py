"""Reads switches of a run, as `phb monitor` does, at moments of virtual time."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import phb
from phb import inventory
from phb.deploying import open_session, prepare
from phb.monitor.changes import changes_between
from phb.monitor.judging import Judging
from phb.monitor.observation import Observation
from phb.monitor.reading.interfaces import COUNTERS_S
from phb.monitor.reading.once import Looking
from phb.monitor.sample import Sample
from phb.monitor.wanted import objectives_of
from phb.names import Names
from phb_lab import event_loop
from phb_lab.description import Network
from phb_lab.errors import UsageError
from phb_lab.levels.achieved import NANOSECONDS, Achieved
from phb_lab.levels.asked import Looks

_LONGEST = 3.5
"""Periods without a sample that end with one which tells no rate."""


@dataclass
class _Watched:
    name: str
    looking: Looking
    rates: Mapping[int, int | None]
    judging: Judging
    before: Sample | None = None


class Watching:
    """Looks at the switches whose policies state objectives, or at all; opened when they have their policies.

    Args:
        network: That runs.
        addresses: Of the switches' servers, by name.
        at: When the run begins: rules' validity is judged there (UTC).
        looks: At which, when, and who gets observations, in the thread that looks.

    Raises:
        UsageError: some are to be judged, and no policy of the network states objectives.
    """

    def __init__(self, network: Network, addresses: Mapping[str, str], at: datetime, looks: Looks) -> None:
        self.achieved = Achieved()
        self.period_ns = looks.every_ns
        self._looks = looks
        self._began_ns = int(at.replace(tzinfo=UTC).timestamp()) * NANOSECONDS + looks.before_ns
        self._time_ns = self._began_ns
        self._interfaces_ns = self._began_ns
        self._stack = AsyncExitStack()
        self._watched: list[_Watched] = []
        event_loop.run(self._open(network, addresses, at))

    async def _open(self, network: Network, addresses: Mapping[str, str], at: datetime) -> None:
        artifact = phb.Artifact.load()
        judged = False
        opened = []
        for switch in network.switches:
            where = inventory.Switch(
                name=switch.name,
                address=addresses[switch.name],
                device_id=switch.device_id,
                policies=tuple(str(path) for path in switch.policy_files),
            )
            prepared = prepare(where, artifact, at=at)
            objectives = objectives_of(prepared.policy, Names.of(prepared.intent, prepared.policy))
            judged |= bool(objectives)
            if not objectives and not self._looks.at_all:
                continue
            opened.append(prepared)
            session = await self._stack.enter_async_context(open_session(where, artifact))
            judging = Judging(switch.name)
            judging.follow(objectives, self._began_ns)
            looking = Looking(session, switch.name, prepared, lambda: self._time_ns, queues=self._looks.at_all)
            rates = {port.number: port.rate_bps for port in switch.ports}
            self._watched.append(_Watched(switch.name, looking, rates, judging))
        if self._looks.judged and not judged:
            raise UsageError(f"{network.name}: found no objectives in its policies, expected some to judge")

        self._looks.opened(opened)

    def close(self) -> None:
        """End the sessions."""
        event_loop.run(self._stack.aclose())

    def look(self, now_ns: int) -> None:
        """Read and judge all of them.

        Args:
            now_ns: Since the start of the run; virtual time stands still meanwhile.

        Raises:
            phb.SwitchError: one doesn't answer.
        """
        event_loop.run(self._look(now_ns))
        self._looks.after(now_ns)

    async def _look(self, now_ns: int) -> None:
        self._time_ns = time_ns = self._began_ns + now_ns
        # As often as a monitor asks: they tell more slowly than cells do.
        if interfaces := time_ns >= self._interfaces_ns:
            self._interfaces_ns = time_ns + int(COUNTERS_S * NANOSECONDS)
        reads = await asyncio.gather(*(each.looking.look(interfaces=interfaces) for each in self._watched))
        for watched, read in zip(self._watched, reads, strict=True):
            # Its own clock stands where its last packet was, and of the rates of virtual lines it knows nothing.
            ports = {
                name: replace(port, speed_bps=port.speed_bps or watched.rates.get(port.number))
                for name, port in read.ports.items()
            }
            sample = replace(read, switch_time_ns=time_ns, ports=ports)
            between = changes_between(watched.before, sample, _LONGEST * self.period_ns / NANOSECONDS)
            watched.before = sample
            if not between.changes:
                watched.judging.gap()
            events = (*between.events, *watched.judging.take(between.changes, time_ns))
            judgements = watched.judging.judgements
            self.achieved.take(now_ns, watched.name, judgements, events)
            observation = Observation(watched.name, time_ns, sample, between.changes, between.gap_s, judgements, events)
            for taker in self._looks.takers:
                taker.take(observation)
