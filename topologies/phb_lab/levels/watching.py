"""Reads switches of a run, as `phb monitor` does, at moments of virtual time."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import phb
from phb import inventory
from phb.deploying import Prepared, open_session, prepare
from phb.device.session import Session
from phb.monitor.changes import changes_between
from phb.monitor.judging import Judging
from phb.monitor.observation import Observation, Taker
from phb.monitor.reading.once import read_once
from phb.monitor.sample import Sample
from phb.monitor.wanted import objectives_of
from phb.names import Names
from phb_lab import event_loop
from phb_lab.description import Network
from phb_lab.errors import UsageError
from phb_lab.levels.achieved import NANOSECONDS, Achieved

_LONGEST_S = 3.5


@dataclass
class _Watched:
    name: str
    session: Session
    prepared: Prepared
    judging: Judging
    before: Sample | None = None


class Watching:
    """Looks at the switches whose policies state objectives; opened when they have their policies.

    Args:
        network: That runs.
        addresses: Of the switches' servers, by name.
        at: When the run begins: rules' validity is judged there, and observations are timed from it (UTC).
        takers: Who get observations, in the thread that looks.

    Raises:
        UsageError: no policy of the network states objectives.
    """

    def __init__(
        self, network: Network, addresses: Mapping[str, str], at: datetime, takers: Sequence[Taker] = ()
    ) -> None:
        self.achieved = Achieved()
        self._began_ns = int(at.replace(tzinfo=UTC).timestamp()) * NANOSECONDS
        self._takers = tuple(takers)
        self._stack = AsyncExitStack()
        self._watched: list[_Watched] = []
        event_loop.run(self._open(network, addresses, at))
        if not self._watched:
            raise UsageError(f"{network.name}: found no objectives in its policies, expected some to judge")

    async def _open(self, network: Network, addresses: Mapping[str, str], at: datetime) -> None:
        artifact = phb.Artifact.load()
        for switch in network.switches:
            where = inventory.Switch(
                name=switch.name,
                address=addresses[switch.name],
                device_id=switch.device_id,
                policies=tuple(str(path) for path in switch.policy_files),
            )
            prepared = prepare(where, artifact, at=at)
            objectives = objectives_of(prepared.policy, Names.of(prepared.intent, prepared.policy))
            if not objectives:
                continue
            session = await self._stack.enter_async_context(open_session(where, artifact))
            judging = Judging(switch.name)
            judging.follow(objectives, self._began_ns)
            self._watched.append(_Watched(switch.name, session, prepared, judging))

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

    async def _look(self, now_ns: int) -> None:
        time_ns = self._began_ns + now_ns
        for watched in self._watched:
            read = await read_once(watched.session, watched.name, watched.prepared, lambda: time_ns)
            # Its own clock stands where its last packet was.
            sample = replace(read, switch_time_ns=time_ns)
            between = changes_between(watched.before, sample, _LONGEST_S)
            watched.before = sample
            if not between.changes:
                watched.judging.gap()
            events = (*between.events, *watched.judging.take(between.changes, time_ns))
            judgements = watched.judging.judgements
            self.achieved.take(now_ns, watched.name, judgements, events)
            observation = Observation(watched.name, time_ns, sample, between.changes, between.gap_s, judgements, events)
            for taker in self._takers:
                taker.take(observation)
