"""Keeping switches as their policies say, for as long as the process runs.

    events > policies (sources, clock), records (locks, history) > sharing (who keeps which switch)
           > switches (sessions, mastership, reconciliation) > fleet > watch

Every switch has a task, every policy that several may share is followed once. A switch that has lost its entries, a
session that broke, a file that changed and a rule whose hour has come all end in the same step: compare what the switch
holds with what it should hold, and write the difference, if there is one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from phb.device.artifact import Artifact
from phb.errors import PhbError
from phb.inventory import Inventory, Switch
from phb.inventory.following import FollowedInventory
from phb.state import State
from phb.watching.events import Event, Kind, Report
from phb.watching.fleet import Fleet
from phb.watching.policies import WatchedPolicy
from phb.watching.records import Records
from phb.watching.sharing import COMMAND as SHARING
from phb.watching.sharing import Shares
from phb.watching.switches import AnotherPrimaryError, Options, WatchedSwitch

__all__ = [
    "AnotherPrimaryError",
    "Event",
    "Following",
    "Kind",
    "Options",
    "Report",
    "WatchedPolicy",
    "WatchedSwitch",
    "watch",
]


class Following:
    """An inventory whose changes a watch follows.

    Attributes:
        asked: Set, it has all sources read at once, and believed.

    Args:
        meant: Gives the switches of an inventory that are to be watched.
    """

    def __init__(self, inventory: FollowedInventory, meant: Callable[[Inventory], Sequence[Switch]]) -> None:
        self.asked = asyncio.Event()
        self._inventory, self._meant = inventory, meant

    async def run(self, fleet: Fleet, report: Report) -> None:
        """Follow it until cancelled."""

        def take(whole: Inventory) -> None:
            try:
                fleet.follow(self._meant(whole))
            except PhbError as error:
                report(Event("", Kind.INVENTORY, f"{error}; the inventory before holds on", {"error": str(error)}))

        await self._inventory.follow(take, self.asked)


async def watch(
    switches: Sequence[Switch],
    artifact: Artifact,
    state: State | None,
    options: Options,
    report: Report,
    following: Following | None = None,
) -> None:
    """Keep switches as their policies say, until cancelled.

    Last good policies, history and locks are in `state`; None does without. With `Options.share` only those are kept
    that are ours among all controllers which share the state. `report` is called with everything that happens. Switches
    come and go with the inventory that is followed.

    Raises:
        InputError: All policies are wrong at the start, and there are no last good ones to begin with.
        LockedError: Somebody else watches or changes a switch at the start, and we are no standby.
        AnotherPrimaryError: Another controller is primary at the start, and we are no standby.
    """
    with ExitStack() as stack:
        records, shares = None, None
        if state is not None:
            records = stack.enter_context(Records.of(state, report))
        if options.share:
            assert state is not None
            assert records is not None
            shares = Shares(stack.enter_context(state.joined(SHARING)), records, report)
        elif state is not None and state.is_shared:
            stack.enter_context(state.joined("watch", rejoins=True))
        fleet = Fleet(artifact, records, options, report, shares)
        tasks = [asyncio.create_task(fleet.run(switches))]
        if following is not None:
            tasks.append(asyncio.create_task(following.run(fleet, report)))
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
