"""A client sets a switch's OpenConfig by gNMI while a watch of that switch runs."""

import asyncio

import pytest

from phb.inventory import Switch as Where
from phb.watching import Kind, Options, watch

from . import settings
from .bench import ROUTES, Bench

PATIENCE = 60.0


@pytest.fixture
def bench():
    found = Bench()
    yield found
    found.close()


async def until(holds):
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.05)


async def test_settings_come_into_force_or_a_problem_is_told(bench, artifact, write_file):
    sources = [str(write_file("routes.yaml", ROUTES)), f"gnmi://{bench.address}"]
    where = Where(name="dut", address=bench.address, device_id=1, policies=sources)
    events = []
    task = asyncio.create_task(watch([where], artifact, None, Options(interval_s=0.1), events.append))

    def said(kind, words):
        return any(event.kind is kind and words in event.message for event in events)

    def told(leaf):
        return bench.leaves("/controller/state").get(f"/controller/state/{leaf}")

    try:
        await until(lambda: said(Kind.APPLIED, "program loaded"))
        qos = settings.traffic_test({"NC1": 1}, {"BE1": 1})
        bench.replace("/qos", qos)
        await until(lambda: told("applied") == 1)
        assert set(bench.queues()) >= {"NC1", "BE1", "class-default"}
        # What the compiler refuses stays a setting, its reason is told, and what is in force stays.
        second = settings.scheduler(5, {"AF1": 1}, 8)
        qos["scheduler-policies"]["scheduler-policy"][0]["schedulers"]["scheduler"].append(second)
        bench.replace("/qos", qos)
        await until(lambda: told("problem") is not None)
        assert "a second scheduler by weights in policy 'out'" in told("problem")
        assert said(Kind.REJECTED, "a second scheduler by weights")
        policy = "/qos/scheduler-policies/scheduler-policy[name=out]/schedulers"
        in_force = [where for where in bench.leaves(policy) if where.endswith("/state/sequence")]
        assert len(in_force) == 2
        # A change that needs no other entries is in force, too.
        qos["scheduler-policies"]["scheduler-policy"][0]["schedulers"]["scheduler"].pop()
        qos["queues"]["queue"].append({"name": "spare", "config": {"name": "spare"}})
        bench.replace("/qos", qos)
        await until(lambda: told("applied") == 3)
        assert told("problem") is None
    finally:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
