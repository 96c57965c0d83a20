"""A process that works on a rollout until a certain step, and is killed or frozen there.

`STEPS` are the steps by name: a function, and whether it happens before or after its call. Processes are forked from
one that has imported everything, and has no threads yet.
"""

import asyncio
import importlib
import inspect
import multiprocessing
import os
import signal

import controller.tests.rollout.fleet as fleet
from phb import Artifact

FUNCTIONS = {
    "claim": "phb.rollout.records:Rollouts.claim",
    "claim back": "phb.rollout.records:Rollouts.claim_back",
    "found": "phb.rollout.records:Rollouts.found",
    "note": "phb.rollout.records:Rollouts.note",
    "go on": "phb.rollout.records:Rollouts.go_on",
    "arbitrate": "phb.device.session:Session.arbitrate",
    "load": "phb.device.session:Session.set_artifact",
    "write": "phb.device.session:Session.write",
    "push": "phb.rollout.flight:push_over",
    "tell": "phb.rollout.flight:told",
}

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload([__name__])


def dying(place, number, step, when, nth, how=signal.SIGKILL):
    """Start a process that works on a rollout until before or after the nth call of a step; give it."""
    process = CONTEXT.Process(target=_work, args=(place, number, step, when, nth, how), daemon=True)
    process.start()
    return process


def _work(place, number, step, when, nth, how):
    owner, _, name = FUNCTIONS[step].partition(":")
    owner = importlib.import_module(owner)
    *parts, last = name.split(".")
    for part in parts:
        owner = getattr(owner, part)
    function = getattr(owner, last)
    calls = 0

    def here(now):
        nonlocal calls
        calls += now == when
        if now == when and calls == nth:
            os.kill(os.getpid(), how)

    if inspect.iscoroutinefunction(function):

        async def instead(*arguments, **options):
            here("before")
            result = await function(*arguments, **options)
            here("after")
            return result
    else:

        def instead(*arguments, **options):
            here("before")
            result = function(*arguments, **options)
            here("after")
            return result

    setattr(owner, last, instead)
    fleet.work(place, number, Artifact.load())
    asyncio.set_event_loop(None)
