"""Controllers that share switches: one owner each, whoever is killed, frozen or cut off; nothing is written twice."""

import asyncio
import signal
import time
from collections import Counter as Counted
from contextlib import ExitStack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.tests.watching.conftest import Counter
from phb import cli
from phb.inventory import Switch
from phb.state import History, Holder, Locks, PushOutcome, State
from phb.watching.records import Records
from phb.watching.sharing import owner

SWITCHES = 5
TOKENS = st.sets(st.text("0123456789abcdef", min_size=16, max_size=16), min_size=1, max_size=6)


@given(TOKENS, st.sets(st.text(min_size=1), max_size=30))
def test_every_switch_has_one_owner_and_only_those_of_the_dead_move(members, switches):
    before = {switch: owner(switch, members) for switch in switches}
    assert set(before.values()) <= members
    assert before == {switch: owner(switch, sorted(members)) for switch in switches}
    for dead in members:
        left = members - {dead}
        for switch, had in before.items():
            now = owner(switch, left)
            assert now == had if had != dead else now in left or not left


def test_shares_are_alike():
    """Of 2,000 switches three members have a third each, give or take what chance does (six standard deviations)."""
    counts = Counted(owner(f"10.0.{n // 250}.{n % 250}:9559 1", ("a" * 16, "b" * 16, "c" * 16)) for n in range(2000))
    assert all(abs(count - 667) < 6 * 21 for count in counts.values())


@pytest.fixture
def switches():
    """Switches whose writes are noted."""
    with ExitStack() as stack:
        yield [stack.enter_context(Counter()) for _ in range(SWITCHES)]


@pytest.fixture
def inventory(tmp_path, switches, policy):
    """All of them with the same policy."""
    policy(1)
    path = tmp_path / "network.yaml"
    lines = [f"  - {{name: s{n}, address: '{s.address}', policies: [policy.yaml]}}" for n, s in enumerate(switches)]
    path.write_text("\n".join(["phb-inventory: 1", "switches:", *lines, ""]))
    return path


def networks(switch):
    """What happened to routes: kind of update and third byte of the network, in the order of writes."""
    found = []
    for update in list(switch.updates):
        match = update.entity.table_entry.match
        if match and len(match[0].lpm.value) == 4:
            found.append((update.type, match[0].lpm.value[2]))
    return found


def routes(switch):
    held = Counted()
    for kind, network in networks(switch):
        held[network] += {1: 1, 2: 0, 3: -1}[kind]  # insert, modify, delete
    return sorted(held.elements())


def until_all_hold(switches, number):
    until = time.monotonic() + 90
    while any(routes(switch) != [number] for switch in switches):
        assert time.monotonic() < until, [routes(switch) for switch in switches]
        time.sleep(0.05)


def written(switch):
    """How often each network was inserted."""
    return Counted(network for kind, network in networks(switch) if kind == 1)


def test_killed_frozen_and_without_the_database(watch, database, postgresql, switches, inventory, policy):
    def start():
        return watch("--inventory", inventory, "--share", state=database)

    first, second = start(), start()
    for each in (first, second):
        each.wait_for("members", "2 controllers share the switches")
    until_all_hold(switches, 1)
    policy(2)
    until_all_hold(switches, 2)
    # Frozen: the other takes its switches over, above its election id, and does what the file says meanwhile.
    first.process.send_signal(signal.SIGSTOP)
    policy(3)
    until_all_hold(switches, 3)
    # It wakes up, finds that it was taken for dead, and joins anew.
    first.process.send_signal(signal.SIGCONT)
    first.wait_for("members", "took this controller for dead")
    first.wait_for("members", "2 controllers share")
    policy(4)
    until_all_hold(switches, 4)
    # Killed, while it writes.
    policy(5)
    second.end(signal.SIGKILL)
    first.wait_for("members", "one controller keeps")
    until_all_hold(switches, 5)
    # The database is away: switches are kept, and what was done is recorded later.
    postgresql.stop("immediate")
    first.wait_for("database", "switches are kept all the same")
    policy(6)
    until_all_hold(switches, 6)
    postgresql.start()
    first.wait_for("database", "it answers again")
    third = start()
    third.wait_for("members", "2 controllers share")
    policy(7)
    until_all_hold(switches, 7)
    assert third.end()[0] == 0
    first.wait_for("members", "one controller keeps")
    assert first.end() == (0, "")
    for switch in switches:
        assert written(switch) == dict.fromkeys(range(1, 8), 1)
    with State(database) as state:
        pushes = [push for push in History(state).pushes(limit=1000) if push.outcome is PushOutcome.APPLIED]
        # A push that was cut off by the kill has no end, and the one after it found everything there.
        assert {push.address for push in pushes} == {switch.address for switch in switches}
        assert Locks(state).all() == []


def test_two_on_one_machine_with_a_file_as_their_state(watch, switches, inventory, policy):
    first, second = (watch("--inventory", inventory, "--share") for _ in range(2))
    for each in (first, second):
        each.wait_for("members", "2 controllers share")
    until_all_hold(switches, 1)
    assert second.end() == (0, "")
    first.wait_for("members", "one controller keeps")
    # One on another host, whose files are others: the switches are taken over, and that is told.
    policy(9, "other.yaml")
    other = inventory.with_name("other-network.yaml")
    other.write_text(inventory.read_text().replace("policy.yaml", "other.yaml"))
    third = watch("--inventory", other, "--share")
    third.wait_for("members", "2 controllers share")
    assert first.end() == (0, "")
    assert "do all controllers read the same files?" in third.wait_for("differs")["message"]
    until_all_hold(switches, 9)
    assert third.end() == (0, "")
    for switch in switches:
        assert written(switch) == {1: 1, 9: 1}


async def test_a_lock_that_nobody_waits_for_is_given_back(tmp_path):
    places = [Switch(name=f"s{n}", address=f"a:{n + 1}", policies=("p",)) for n in range(3)]
    with State(tmp_path / "state.sqlite") as state, Records.of(state, pytest.fail) as records:
        asking = [asyncio.create_task(records.take(place)) for place in places]
        await asyncio.sleep(0)
        asking[1].cancel()
        await asyncio.wait(asking)
        assert [task.cancelled() for task in asking] == [False, True, False]
        assert isinstance(await records.take(places[0]), Holder)
        async with asyncio.timeout(30):
            while {address for address, _, _ in Locks(state).all()} != {"a:1", "a:3"}:
                await asyncio.sleep(0.01)


@pytest.mark.parametrize("other", ["--standby", "--no-state"])
def test_what_does_not_go_together(capsys, other, policy):
    assert cli.run(["watch", "--share", other, str(policy(1))]) == 2
    assert f"--share: found {other} beside it, expected a state" in capsys.readouterr().err
