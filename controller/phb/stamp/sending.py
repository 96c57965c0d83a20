"""The sender: test packets of one or more DSCPs side by side, each a session of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from phb.stamp.lines import opened
from phb.stamp.session import Plan, Session
from phb.stamp.sockets import Address, resolve

__all__ = ["Plan", "Session", "measure", "synchronised"]


async def measure(plan: Plan, sent: Callable[[], None] = lambda: None) -> list[Session]:
    """Send all of it and wait for replies; `sent` is called for each packet.

    Sessions begin a part of the interval after each other, so that their packets don't meet at the sender. Who is late
    sends no two packets at once to make up for it.

    Raises:
        OSError: The host isn't known, or nothing can be sent there.
    """
    family, address = resolve(plan.host, plan.port)
    sessions = [Session(dscp, plan) for dscp in plan.dscps]
    step = plan.interval_s / len(sessions)
    await asyncio.gather(
        *(_run(session, family, address, number * step, sent) for number, session in enumerate(sessions))
    )
    return sessions


async def _run(session: Session, family: int, address: Address, begin_s: float, sent: Callable[[], None]) -> None:
    plan, loop = session.plan, asyncio.get_running_loop()
    with opened(session, family, address) as line:
        at = loop.time() + begin_s
        for _ in range(plan.count):
            at = await line.send_at(at)
            sent()
        until = loop.time() + plan.wait_s
        while session.waiting() and (left := until - loop.time()) > 0:
            line.arrived.clear()
            try:
                await asyncio.wait_for(line.arrived.wait(), left)
            except TimeoutError:
                break
        line.come()


def synchronised(sessions: Sequence[Session]) -> bool:
    """Whether both sides say that their clocks are synchronised, so that times of one direction mean something."""
    return all(
        each.clock.synchronised and each.reflector_clock is not None and each.reflector_clock.synchronised
        for each in sessions
    )
