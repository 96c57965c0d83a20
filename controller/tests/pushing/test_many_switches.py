"""Two hundred switches from one process: all get their policy, and one that fails stops none of the others."""

import asyncio
from datetime import datetime
from functools import partial

import pytest

import phb
from phb import SwitchError
from phb.errors import PushError, PushInterruptedError
from phb.pushing.push import push_each, push_intent

AT = datetime(2026, 1, 1, 12, 0)
SWITCHES = 200


@pytest.fixture
def intent(examples, artifact):
    return phb.load_intent([examples / "c3640.yaml"], artifact, at=AT)


async def test_two_hundred_switches(start_switch, intent, artifact):
    switches = [start_switch() for _ in range(SWITCHES)]
    switches[17].refuse_config = "not this one"
    switches[100].primary = False
    outcomes = await push_each(
        [(switch.address, partial(push_intent, switch.address, intent, artifact)) for switch in switches]
    )
    failed = {place: outcome for place, outcome in enumerate(outcomes) if isinstance(outcome, SwitchError)}
    assert sorted(failed) == [17, 100]
    assert "not this one" in str(failed[17])
    assert failed[100].address == switches[100].address
    assert {len(switch.of_policies) for place, switch in enumerate(switches) if place not in failed} == {
        len(intent.entries)
    }


async def test_not_more_at_once_than_asked():
    running, most = 0, 0

    async def push(number):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1
        return number

    outcomes = await push_each([(str(number), partial(push, number)) for number in range(50)], at_once=7)
    assert outcomes == list(range(50))
    assert most == 7


async def test_interrupted_pushes_say_what_became_of_them():
    started = asyncio.Event()

    async def push(number):
        started.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if number == 0:
                raise PushInterruptedError("0", "interrupted; the push was completed") from None
            raise

    task = asyncio.create_task(push_each([(str(number), partial(push, number)) for number in range(3)], at_once=2))
    await started.wait()
    task.cancel()
    assert [str(outcome) for outcome in await task] == [
        "0: interrupted; the push was completed",
        "1: interrupted before anything was written",
        "2: interrupted before anything was written",
    ]


def test_every_failure_is_reported(start_switch, examples):
    bad = [start_switch(refuse_config="no"), start_switch(primary=False)]
    good = start_switch()
    with pytest.raises(PushError) as caught:
        asyncio.run(
            phb.push_all([phb.Target(switch.address, [examples / "c3640.yaml"]) for switch in (*bad, good)], at=AT)
        )
    assert [failure.address for failure in caught.value.failures] == [switch.address for switch in bad]
    assert all(switch.address in str(caught.value) for switch in bad)
    assert good.table
