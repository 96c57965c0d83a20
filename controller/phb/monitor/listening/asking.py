"""Answers that figures don't give: from the policies that the monitor has, and from a switch on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from time import monotonic
from typing import Any, Final, Protocol

from phb.deploying import Prepared, deploy, prepare, recalled
from phb.device.artifact import Artifact
from phb.encodings import decode
from phb.errors import PhbError
from phb.explain import as_json as explanation_as_json
from phb.explain import explain, parse_packet
from phb.inventory import Switch
from phb.monitor.listening.routes import NotKnownError
from phb.monitor.live.live import Live
from phb.monitor.wanted import direction_of
from phb.origin import Origin
from phb.pushing.report import Report
from phb.show.looking import look
from phb.show.queues import as_json as queues_as_json
from phb.show.queues import read_queues
from phb.state import History, Place, State
from phb.state.history import ROLLBACK
from phb.visible import visible

QUEUES_S: Final = 1.0
"""Seconds between two looks at the queues of one switch, however many ask."""

ANSWER_S: Final = 8.0
"""Seconds that a switch, or an explanation, may take."""

MOST_EXPLAINED: Final = 2
"""Explanations at once. One whose time is over still takes its turn."""

PAGE: Final = "page"
"""The command of a push in the history that the page asked for."""


class Known(Protocol):
    """Who knows switches and their policies: a monitor."""

    def switch(self, name: str) -> Switch | None:
        """Give a switch; None where it isn't watched."""

    def prepared(self, switch: str) -> Prepared | None:
        """Give the policies that a switch has been given, as far as they are known."""


class Asking:
    """Answers of a monitor (`phb.monitor.listening.Asked`).

    Args:
        state: Where pushes are recorded, and what is taken back is known from.
    """

    def __init__(
        self,
        monitor: Known,
        live: Live,
        artifact: Artifact,
        state: Place,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
    ) -> None:
        self._monitor = monitor
        self._live = live
        self._artifact = artifact
        self._state = state
        self._now = now
        self._explaining = asyncio.Semaphore(MOST_EXPLAINED)
        self._looks: dict[str, asyncio.Lock] = {}
        self._queues: dict[str, tuple[float, Any]] = {}

    async def policy(self, switch: str) -> Any:
        """Give the policy's files as lines, and for each rule the line that its counters belong to."""
        prepared = self._prepared(switch)
        rules = [
            {"rule": each.rule, "direction": direction_of(each), "file": each.origin.file, "line": each.origin.line}
            for each in prepared.intent.policies
        ]
        files = [
            {"path": each.name, "lines": decode(each.content, each.name).text.split("\n")}
            for each in prepared.documents
        ]
        return {"files": files, "rules": rules}

    async def queues(self, switch: str) -> Any:
        """Give what queues hold now, as ``phb show queue --json`` does, and ports' rates; at most each second anew."""
        async with self._looks.setdefault(switch, asyncio.Lock()):
            known = self._queues.get(switch)
            if known is not None and monotonic() - known[0] < QUEUES_S:
                return known[1]
            where, prepared = self._switch(switch), self._monitor.prepared(switch)
            ports = await _in_time(look(where, self._artifact, prepared, read_queues), switch)
            observation = self._live.observation(switch)
            sample = None if observation is None else observation.sample
            rates = {} if sample is None else {port.number: port.speed_bps for port in sample.ports.values()}
            found = [{**each, "rate_bps": rates.get(each["port"])} for each in queues_as_json(ports, every=False)]
            self._queues[switch] = monotonic(), {"ports": found}
            return self._queues[switch][1]

    async def objectives(self, switch: str, seconds: float) -> Any:
        """Give each objective with the changes of its state."""
        return self._live.objectives(switch, seconds)

    async def explain(self, switch: str, packet: str) -> Any:
        """Give what the switch does with a packet, as ``phb explain --json`` does."""
        prepared = self._prepared(switch)
        if self._explaining.locked():
            raise PhbError("others are asking: try again in a second")
        await self._explaining.acquire()
        work = asyncio.ensure_future(asyncio.to_thread(self._explain, prepared, packet))
        work.add_done_callback(lambda _: self._explaining.release())
        return await _in_time(asyncio.shield(work), "the explanation")

    def _explain(self, prepared: Prepared, packet: str) -> Any:
        beyond: list[Any] = []
        told = explain(
            prepared.policy,
            self._artifact,
            [parse_packet(packet, Origin("packet"))],
            at=self._now(),
            beyond=beyond,
            target=prepared.switch.target.value,
        )
        packets = [explanation_as_json(each) for each in told]
        return {"packets": packets, "warnings": [str(each) for each in beyond if not each.aside]}

    async def rollback(self, switch: str, push: int | None = None) -> Any:
        """Give a switch its policy of before again, unless another push than `push` was the last one."""
        where = self._switch(switch)
        with self._opened() as state:
            history = History(state)
            last = history.pushes(where.address, where.device_id, 1)
            if push is not None and last and last[0].number != push:
                raise PhbError(f"push {last[0].number} has come meanwhile, by {visible(last[0].user)}: look again")
            before = history.back(where.address, where.device_id)
            if before is None:
                raise PhbError("nothing before the policy that it has, as far as the state knows")
            work = asyncio.to_thread(recalled, history, before, where, self._artifact, self._now())
            # Under the command that later rollbacks count back along.
            return _reported(await deploy(await work, state, command=ROLLBACK))

    async def push(self, switch: str) -> Any:
        """Give a switch the policy of its files."""
        where = self._switch(switch)
        if not where.policies:
            raise PhbError("the monitor knows no policy files of this switch")
        prepared = await asyncio.to_thread(prepare, where, self._artifact, at=self._now())
        with self._opened() as state:
            return _reported(await deploy(prepared, state, command=PAGE))

    @contextmanager
    def _opened(self) -> Iterator[State]:
        # A database that is away holds up nobody: the switches are read by the same process.
        with State(self._state, patience_s=0) as state, state.joined(PAGE):
            yield state

    def _switch(self, name: str) -> Switch:
        switch = self._monitor.switch(name)
        if switch is None:
            raise NotKnownError(f"no switch '{visible(name)}' is watched")
        return switch

    def _prepared(self, switch: str) -> Prepared:
        prepared = self._monitor.prepared(switch)
        if prepared is None:
            raise NotKnownError("the monitor knows no policy of this switch")
        return prepared


async def _in_time(work: Awaitable[Any], of: str) -> Any:
    try:
        async with asyncio.timeout(ANSWER_S):
            return await work
    except TimeoutError:
        raise PhbError(f"{visible(of)} took longer than {ANSWER_S:g} s") from None


def _reported(report: Report) -> Mapping[str, Any]:
    return {"differs": report.differs, "written": report.written, "notices": [str(each) for each in report.notices]}
