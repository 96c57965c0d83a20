"""Rollouts: shared, halted, taken back, gone on with; and what else may happen to them."""

import asyncio
import threading

import pytest

from controller.tests.rollout.fleet import SETTINGS, begun, prepared, route, work, worked
from phb.errors import InputError
from phb.rollout.records import Condition, Rollouts, Standing
from phb.rollout.work import Work
from phb.state import History, Locks, State


@pytest.fixture
def rolled_out(state, place, tmp_path, artifact):
    """Have switches hold a version of the policy by a rollout in one wave."""

    def roll_out(fleet, version):
        number = begun(state, prepared(tmp_path, fleet, version, artifact), (len(fleet),), at=SETTINGS.at)
        assert work(place, number, artifact).condition is Condition.DONE
        return number

    return roll_out


def full(update):
    return "full"


def standings(state, number):
    return [each.standing.value for each in Rollouts(state).switches(number)]


@pytest.mark.parametrize("place", ["sqlite", "postgresql"], indirect=True)
def test_two_share_a_rollout(switches, state, place, tmp_path, artifact):
    fleet = switches(6)
    number = begun(state, prepared(tmp_path, fleet, 3, artifact), (2, 4))

    async def both():
        with State(place) as other:
            return await asyncio.gather(worked(state, number, artifact), worked(other, number, artifact))

    for rollout in asyncio.run(both()):
        assert rollout.condition is Condition.DONE
    assert [route(switch) for switch in fleet] == [3] * 6
    for switch in fleet:
        assert set(switch.updates().values()) == {1}
        pushes = History(state).pushes(switch.address, 1)
        assert [(push.command, push.outcome.value) for push in pushes] == [(f"rollout {number}", "applied")]
    assert Locks(state).all() == []


def test_a_switch_that_refuses_halts_it_and_what_was_pushed_goes_back(
    switches, state, place, tmp_path, artifact, rolled_out
):
    fleet = switches(4)
    rolled_out(fleet, 3)
    fleet[2].refuse = full
    number = begun(state, prepared(tmp_path, fleet, 4, artifact), (1, 2, 1))
    rollout = work(place, number, artifact)
    assert rollout.condition is Condition.TAKEN_BACK
    assert rollout.message.startswith("s2: the switch refused")
    assert [route(switch) for switch in fleet] == [3, 3, 3, 3]
    # Nobody has touched the last wave.
    assert len(fleet[3].writes) == 1
    assert standings(state, number)[3] == "waiting"
    history = History(state)
    assert history.last_good(fleet[0].address, 1).command == "rollback"
    # As if nothing had been: the next step back is the one before.
    assert history.back(fleet[0].address, 1) is None
    assert "1 of" not in rollout.message


def test_what_was_empty_is_empty_again(switches, state, place, tmp_path, artifact):
    fleet = switches(2)
    number = begun(state, prepared(tmp_path, fleet, 3, artifact), (1, 1))
    fleet[1].refuse = full
    assert work(place, number, artifact).condition is Condition.TAKEN_BACK
    assert [route(switch) for switch in fleet] == [None, None]
    assert History(state).back(fleet[0].address, 1) is None
    assert History(state).given(fleet[0].address, 1) == []


def test_what_the_history_does_not_know_is_read_and_given_back(switches, place, tmp_path, artifact, rolled_out):
    fleet = switches(1)
    rolled_out(fleet, 3)
    elsewhere = str(tmp_path / "other.sqlite")
    with State(elsewhere) as state:
        number = begun(state, prepared(tmp_path, fleet, 4, artifact), (1,))
        assert work(elsewhere, number, artifact).condition is Condition.DONE
        found = History(state).pushes(fleet[0].address, 1)[-1]
        assert (found.command, found.files) == ("found", ("found.yaml",))
        Rollouts(state).abort(number, "a test")
        assert work(elsewhere, number, artifact).condition is Condition.TAKEN_BACK
    assert route(fleet[0]) == 3


def test_a_database_that_is_away_is_waited_for(switches, postgresql, database, tmp_path, artifact):
    fleet = switches(4)
    said = []
    with State(database, patience_s=0) as state:
        number = begun(state, prepared(tmp_path, fleet, 3, artifact), (2, 2))
        stopped = threading.Event()

        def stop(update):
            fleet[0].on_update = lambda update: None
            postgresql.stop("immediate")
            stopped.set()

        def say(words):
            said.append(words)
            if "doesn't answer" in words:
                stopped.wait(30)
                postgresql.start()

        fleet[0].on_update = stop

        rollout = asyncio.run(worked(state, number, artifact, say=say))
    assert rollout.condition is Condition.DONE
    assert [route(switch) for switch in fleet] == [3, 3, 3, 3]
    for switch in fleet:
        assert set(switch.updates().values()) == {1}
    assert "doesn't answer" in said[0]
    assert said[1:] == ["the database answers again"]


def test_failures_that_are_allowed_do_not_halt_it(switches, state, place, tmp_path, artifact):
    fleet = switches(3)
    fleet[0].refuse = full
    number = begun(state, prepared(tmp_path, fleet, 3, artifact), (1, 2), most_failures=1)
    rollout = work(place, number, artifact)
    assert (rollout.condition, rollout.failures) == (Condition.DONE, 1)
    assert [route(switch) for switch in fleet] == [None, 3, 3]


def test_halted_only_and_gone_on_with(switches, state, place, tmp_path, artifact):
    fleet = switches(3)
    fleet[1].refuse = full
    number = begun(state, prepared(tmp_path, fleet, 3, artifact), (1, 1, 1), take_back=False)
    assert work(place, number, artifact).condition is Condition.HALTED
    assert [route(switch) for switch in fleet] == [3, None, None]
    fleet[1].refuse = lambda update: None
    Rollouts(state).resume(number)
    assert work(place, number, artifact).condition is Condition.DONE
    assert [route(switch) for switch in fleet] == [3, 3, 3]
    assert set(fleet[0].updates().values()) == {1}
    with pytest.raises(InputError, match="which is done"):
        Rollouts(state).resume(number)


def test_one_that_cannot_be_taken_back_is_told(switches, state, place, tmp_path, artifact, rolled_out):
    fleet = switches(2)
    rolled_out(fleet, 3)
    number = begun(state, prepared(tmp_path, fleet, 4, artifact), (2,))
    assert work(place, number, artifact).condition is Condition.DONE
    fleet[0].refuse = full
    Rollouts(state).abort(number, "a test")
    rollout = work(place, number, artifact)
    assert (rollout.condition, rollout.failures) == (Condition.TAKEN_BACK, 1)
    assert standings(state, number) == ["left", "taken back"]
    assert [route(switch) for switch in fleet] == [4, 3]


def test_what_somebody_has_given_a_switch_since_stays(switches, state, place, tmp_path, artifact, rolled_out):
    fleet = switches(2)
    number = rolled_out(fleet, 3)
    by_hand = rolled_out(fleet[:1], 5)
    Rollouts(state).abort(number, "a test")
    assert work(place, number, artifact).condition is Condition.TAKEN_BACK
    assert [route(switch) for switch in fleet] == [5, None]
    assert standings(state, number) == ["left", "taken back"]
    assert standings(state, by_hand) == ["pushed"]


def test_one_that_is_gone_on_with_goes_back_to_what_came_between(
    switches, state, place, tmp_path, artifact, rolled_out
):
    fleet = switches(1)
    number = rolled_out(fleet, 3)
    Rollouts(state).abort(number, "a test")
    assert work(place, number, artifact).condition is Condition.TAKEN_BACK
    rolled_out(fleet, 5)
    Rollouts(state).resume(number)
    assert work(place, number, artifact).condition is Condition.DONE
    assert route(fleet[0]) == 3
    Rollouts(state).abort(number, "a test")
    assert work(place, number, artifact).condition is Condition.TAKEN_BACK
    assert route(fleet[0]) == 5


@pytest.mark.parametrize("place", ["sqlite", "postgresql"], indirect=True)
def test_a_switch_is_in_one_rollout_at_a_time(switches, state, tmp_path, artifact):
    fleet = switches(3)
    first = begun(state, prepared(tmp_path, fleet[:2], 3, artifact), (2,))
    with pytest.raises(InputError, match=f"switch 's1', which rollout {first} of .* is pushing to"):
        begun(state, prepared(tmp_path, fleet, 4, artifact)[1:], (2,), wait_s=1.0)
    assert len(Rollouts(state).all()) == 1
    begun(state, prepared(tmp_path, fleet, 4, artifact)[2:], (1,), wait_s=2.0)


def test_a_switch_that_somebody_changes_is_waited_for(switches, state, place, tmp_path, artifact):
    fleet = switches(2)
    with State(place) as other:
        lock = Locks(other).try_take(fleet[0].address, 1, "watch")
        number = begun(state, prepared(tmp_path, fleet, 3, artifact), (2,), wait_s=30.0)

        async def given_back():
            work = asyncio.create_task(worked(state, number, artifact))
            while route(fleet[1]) is None:
                await asyncio.sleep(0.02)
            Locks(other).give_back(lock)
            return await work

        assert asyncio.run(given_back()).condition is Condition.DONE
        Locks(other).try_take(fleet[0].address, 1, "watch")
        number = begun(state, prepared(tmp_path, fleet, 4, artifact), (2,))
        rollout = work(place, number, artifact)
    assert rollout.condition is Condition.TAKEN_BACK
    assert "s0: is being changed by phb watch" in rollout.message
    assert [route(switch) for switch in fleet] == [3, 3]


def test_one_of_another_program_cannot_be_joined(switches, state, place, tmp_path, artifact):
    fleet = switches(1)
    for settings in ({"version": "0.0.0"}, {"program": 1}):
        number = begun(state, prepared(tmp_path, fleet, 3, artifact), (1,), **settings)
        with pytest.raises(InputError, match=f"rollout {number}, which was begun with"):
            work(place, number, artifact)
        Rollouts(state).halt(number, "a test")
    assert fleet[0].writes == []


def test_all_that_cannot_be_reached_end_it_soon(switches, state, place, tmp_path, artifact):
    (switch,) = switches(1)
    gone = prepared(tmp_path, [switch] * 3, 3, artifact)
    for number, each in enumerate(gone):
        object.__setattr__(each.switch, "__dict__", {**each.switch.__dict__, "address": f"127.0.0.1:{number + 1}"})
    number = begun(state, gone, (1, 2))
    rollout = work(place, number, artifact)
    assert rollout.condition is Condition.TAKEN_BACK
    assert rollout.message.startswith("s0: the switch can't be reached")
    assert standings(state, number) == ["failed", "waiting", "waiting"]


def test_an_interrupted_one_finishes_what_is_under_way(switches, state, place, tmp_path, artifact):
    fleet = switches(3)
    number = begun(state, prepared(tmp_path, fleet, 3, artifact), (1, 2))

    async def interrupted(at, halts):
        with state.joined("rollout") as member:
            work = Work(state, number, artifact, member, halts=halts)
            fleet[at].on_update = lambda update: setattr(work, "interrupted", True)
            return await work.run()

    assert asyncio.run(interrupted(0, False)).condition is Condition.RUNNING
    assert [route(switch) for switch in fleet] == [3, None, None]
    rollout = asyncio.run(interrupted(1, True))
    assert (rollout.condition, rollout.count(Standing.TAKEN)) == (Condition.HALTED, 0)
    assert rollout.message.startswith("interrupted by ")
