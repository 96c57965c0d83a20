"""A session without end: figures of each period of it, in bounded memory, across a reflector that goes and comes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from phb.stamp.figures import Figures, Probe
from phb.stamp.lines import Line, opened
from phb.stamp.session import Plan, Session
from phb.stamp.sockets import resolve
from phb.stamp.timestamps import Steps, kernel_clock

REOPEN_S: Final = 10.0
"""Seconds without a reply after which a session begins anew, and until the next attempt where there is no way."""

_ROUNDS: Final = 16
"""Most looks for replies before packets count as lost: more than the socket's buffer holds."""

_LAST: Final = 1 << 31
"""Number of the packet at which a session begins anew: there are twice as many."""


@dataclass(frozen=True, slots=True)
class Period:
    """What a period said.

    Attributes:
        figures: None if nothing could be sent. Without times, if this machine's clock was set meanwhile.
        probes: Packets that came back, whose times are right.
        seconds: From its first packet to the first of the next one.
        refused: Datagrams that were no replies.
        late: Replies that came too late, to packets of periods before.
        trouble: What the network said instead, the last of it.
    """

    figures: Figures | None
    probes: Sequence[Probe] = ()
    seconds: float = 0.0
    refused: int = 0
    late: int = 0
    trouble: str | None = None


async def measure_on(plan: Plan, take: Callable[[Period], None]) -> None:
    """Send periods of `plan.count` packets of its first DSCP until cancelled; `take` is called for each, in order.

    A period's figures are told when all its packets have come back, or `plan.wait_s` after its last one was sent:
    packets whose replies come later are lost.
    """
    while True:
        try:
            # Of a host's name this would wait.
            family, address = resolve(plan.host, plan.port)
            with opened(Session(plan.dscps[0], plan), family, address) as line:
                await _periods(line, take)
        except OSError as error:
            take(Period(None, trouble=error.strerror or str(error)))
            await asyncio.sleep(REOPEN_S)


async def _periods(line: Line, take: Callable[[Period], None]) -> None:
    """Send periods until the session has to begin anew."""
    session, loop = line.session, asyncio.get_running_loop()
    plan = session.plan
    ended: deque[tuple[int, float, float]] = deque()
    began = due = heard = loop.time()
    steps, spoilt = Steps(), 0
    while session.sent < _LAST:
        due = await line.send_at(due)
        if steps.stepped():
            # Packets until here may have one of their times by the clock before.
            spoilt = session.sent
        if session.sent % plan.count == 0:
            ended.append((session.sent, loop.time() + plan.wait_s, due - began))
            began = due
        more = line.come()
        while ended and (loop.time() >= ended[0][1] or not session.waiting(ended[0][0])):
            # A process that was held up has its replies in the socket.
            rounds = 0
            while more and rounds < _ROUNDS:
                more, rounds = line.come(), rounds + 1
            until, _, seconds = ended.popleft()
            right = session.first >= spoilt
            figures, probes = session.settle(until)
            period = Period(figures, probes, seconds, session.refused, session.late, session.trouble)
            take(period if right else replace(period, figures=figures.without_times(), probes=()))
            session.refused, session.late, session.trouble, session.clock = 0, 0, None, kernel_clock()
            if figures.replies:
                heard = loop.time()
            elif loop.time() - heard > REOPEN_S:
                return
