"""Switches that come, change and go while a watch runs, and one of them that is wrong."""

import asyncio
import signal
from contextlib import ExitStack

import pytest

import phb
from phb.state import Locks, State
from phb.watching.pace import MOST, ROUTINE, URGENT, Pace
from phb_switch import P4RuntimeServer, Switch


def routes(address):
    """Third byte of the networks that the switch routes."""
    entries = asyncio.run(phb.read_entries(address))
    return sorted(int(entry.match["destination"].split(".")[2]) for entry in entries if entry.action == "route")


@pytest.fixture
def addresses():
    """Three switches of this process."""
    with ExitStack() as stack:
        servers = [P4RuntimeServer(Switch(f"s{number}", {}), device_id=1) for number in range(3)]
        for server in servers:
            stack.callback(server.stop)
        yield [f"127.0.0.1:{server.start()}" for server in servers]


@pytest.fixture
def inventory(tmp_path):
    """Write an inventory of names, addresses and more; give its path."""

    def write(*switches):
        path = tmp_path / "network.yaml"
        beside = tmp_path / ".network"
        lines = [f"  - {{name: {name}, address: '{address}', {more}}}" for name, address, more in switches]
        beside.write_text("\n".join(["phb-inventory: 1", "switches:", *lines, ""]))
        return beside.replace(path)

    return write


def test_switches_come_and_change_and_go(watch, addresses, inventory, policy, tmp_path):
    one, two, three = ((f"r{n}", address, f"policies: [p{n}.yaml]") for n, address in enumerate(addresses, 1))
    for number in (1, 3):
        policy(number, f"p{number}.yaml")
    # A wrong policy is no matter of the others.
    path = inventory(one, two)
    running = watch("--inventory", path)
    assert running.wait_for("applied")["switch"] == "r1"
    rejected = next(event for event in running.events if event["event"] == "rejected")
    assert rejected["message"].endswith(
        "no such file or directory, expected a readable policy file; the switch is left alone"
    )
    policy(2, "p2.yaml")
    assert running.wait_for("applied")["switch"] == "r2"
    inventory(one, two, three)
    assert running.wait_for("come")["switch"] == "r3"
    assert running.wait_for("applied")["switch"] == "r3"
    # It gets a new session; the others none.
    inventory(one, two, (*three[:2], f"{three[2]}, election-id: 7"))
    assert running.wait_for("come", "other settings")["switch"] == "r3"
    event = running.wait_for("primary")
    assert (event["switch"], event["id"]) == ("r3", 7)
    running.wait_for("in-sync")
    # Wrong is told, and changes nothing.
    inventory(one, two, two)
    assert "found switch 'r2' again" in running.wait_for("inventory", "the inventory before holds on")["message"]
    inventory(two, three)
    assert running.wait_for("gone")["switch"] == "r1"
    running.wait_for("come")
    running.wait_for("in-sync")
    assert routes(addresses[0]) == [1]
    with State(tmp_path / "state.sqlite") as state:
        assert {address for address, _, _ in Locks(state).all()} == set(addresses[1:])
    # Two of two are hard to believe, until somebody says so.
    inventory(("r9", addresses[0], "policies: [p1.yaml]"))
    assert running.end() == (0, "")


def test_all_but_few_are_gone(watch, addresses, inventory, policy):
    policy(1, "p.yaml")
    everybody = [(f"r{n}", address, "policies: [p.yaml]") for n, address in enumerate(addresses)]
    running = watch("--inventory", inventory(*everybody))
    for _ in addresses:
        running.wait_for("applied")
    inventory(everybody[0])
    running.wait_for("inventory", "gives 1 switches instead of 3")
    running.process.send_signal(signal.SIGHUP)
    assert {running.wait_for("gone")["switch"] for _ in range(2)} == {"r1", "r2"}
    # A file that all of them have is read and compiled once, and is there for each.
    inventory(*everybody)
    for _ in range(2):
        running.wait_for("in-sync")
    policy(2, "p.yaml")
    for _ in addresses:
        running.wait_for("applied")
    assert [routes(address) for address in addresses] == [[2]] * 3


def test_all_policies_are_wrong_at_the_start(watch, addresses, inventory):
    path = inventory(*((f"r{n}", address, f"policies: [p{n % 2}.yaml]") for n, address in enumerate(addresses)))
    code, errors = watch("--inventory", path).end(signal.SIGCONT)
    assert code == 2
    assert errors.splitlines()[-1] == "2 errors"


def test_looks_begin_as_far_apart_as_one_costs():
    used, now = [0.0], [0.0]
    pace = Pace(lambda: now[0], lambda: used[0])
    waits = []
    for _ in range(500):
        used[0] += 0.006
        waits.append(pace.take(urgent=False))
    # Nobody waits for time to pass here, so each waits for all before it.
    assert waits[-1] - waits[-2] == pytest.approx(0.006 / ROUTINE, rel=0.01)
    # What is urgent stands in no queue of what isn't.
    assert pace.take(urgent=True) == 0
    assert pace.take(urgent=True) == pytest.approx(0.006 / URGENT, rel=0.05)
    now[0] = 1000.0
    assert pace.take(urgent=False) == 0


async def test_looks_that_hang_keep_the_others_waiting_for_a_moment_only(monkeypatch):
    monkeypatch.setattr("phb.watching.pace.HANGING_S", 0.05)
    pace = Pace(used=lambda: 0.0)
    ended = []

    async def look(seconds):
        async with pace.turn(urgent=True):
            await asyncio.sleep(seconds)
            ended.append(seconds)

    hanging = [asyncio.create_task(look(60)) for _ in range(MOST)]
    async with asyncio.timeout(30):
        for _ in range(3 * MOST):
            await look(0)
    assert len(ended) == 3 * MOST
    for task in hanging:
        task.cancel()
    await asyncio.wait(hanging)
    # Each place is given back once.
    assert pace._places._value == MOST
