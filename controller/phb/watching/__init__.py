"""Keeping switches as their policies say, for as long as the process runs.

    events > policies (sources, clock) > switches (sessions, mastership, reconciliation) > watch

Every switch has two tasks: one follows its policies, one its session. A switch that has lost its entries, a session
that broke, a file that changed and a rule whose hour has come all end in the same step: compare what the switch holds
with what it should hold, and write the difference, if there is one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from phb.device.artifact import Artifact
from phb.inventory import Switch
from phb.state import State
from phb.watching.events import Event, Kind, Report
from phb.watching.policies import WatchedPolicy
from phb.watching.switches import AnotherPrimaryError, Options, WatchedSwitch

__all__ = ["AnotherPrimaryError", "Event", "Kind", "Options", "Report", "WatchedPolicy", "WatchedSwitch", "watch"]


async def watch(
    switches: Sequence[Switch], artifact: Artifact, state: State | None, options: Options, report: Report
) -> None:
    """Keep switches as their policies say, until cancelled.

    Last good policies, history and locks are in `state`; None does without. `report` is called with everything that
    happens.

    Raises:
        InputError: A policy is wrong at the start, and there is no last good one to begin with.
        LockedError: Somebody else watches or changes a switch at the start, and we are no standby.
        AnotherPrimaryError: Another controller is primary at the start, and we are no standby.
    """
    policies = [WatchedPolicy(switch, artifact, state, report) for switch in switches]
    for policy in policies:
        await policy.start()
    watched = [WatchedSwitch(policy, state, options, report) for policy in policies]
    tasks = [asyncio.create_task(policy.run()) for policy in policies]
    tasks += [asyncio.create_task(each.run()) for each in watched]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError, Exception):
                await task
        for each in watched:
            each.close()
