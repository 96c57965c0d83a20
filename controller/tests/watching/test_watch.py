"""A watched switch is as its policy says: real switches and real watches in processes, killed and started again."""

import asyncio
import os
import signal
import subprocess
import sys
import time

import pytest

import phb
from controller.tests.watching.conftest import Counter
from phb import cli
from phb.state import History, State


def routes(address):
    """Third byte of the networks that the switch routes."""
    entries = asyncio.run(phb.read_entries(address))
    return sorted(int(entry.match["destination"].split(".")[2]) for entry in entries if entry.action == "route")


@pytest.fixture
def switch(run_switch):
    running = run_switch()
    yield running
    running.kill()


def where(address):
    return ("--address", address)


def test_files(watch, switch, policy):
    running = watch(*where(switch.address), policy(3))
    running.wait_for("applied", "program loaded")
    assert routes(switch.address) == [3]
    path = policy(4)
    running.wait_for("applied", "1 inserted", "1 deleted")
    assert routes(switch.address) == [4]
    # Touched and rewritten with the same content: nothing has changed.
    path.touch()
    policy(4)
    # Broken, missing, mended: the policy before stays, and each is told once.
    broken = path.with_suffix(".new")
    broken.write_text("phb: 1\nroutes: [")
    broken.replace(path)
    assert f"{path}:3: found broken YAML" in running.wait_for("rejected", "the policy before stays")["error"]
    path.unlink()
    running.wait_for("rejected", "no such file")
    assert routes(switch.address) == [4]
    policy(5)
    running.wait_for("applied")
    assert routes(switch.address) == [5]
    code, errors = running.end()
    assert (code, errors) == (0, "")
    assert running.kinds().count("rejected") == 2
    assert running.kinds().count("applied") == 3
    # Ended is not undone.
    assert routes(switch.address) == [5]


def test_ctrl_c(watch, switch, policy):
    running = watch(*where(switch.address), policy(3))
    running.wait_for("applied")
    assert running.end(signal.SIGINT) == (130, "")


def test_switch_killed_and_started_again(watch, switch, policy):
    running = watch(*where(switch.address), policy(3))
    running.wait_for("applied")
    for _ in range(2):
        switch.kill()
        running.wait_for("unreachable")
        switch.start()
        running.wait_for("applied", "program loaded")
        assert routes(switch.address) == [3]


def test_switch_that_is_not_there_yet(watch, switch, policy):
    switch.kill()
    running = watch(*where(switch.address), policy(3))
    running.wait_for("unreachable")
    # What changes meanwhile counts.
    policy(4)
    running.wait_for("policy")
    switch.start()
    running.wait_for("applied")
    assert routes(switch.address) == [4]


def test_link_flap(watch, switch, policy, link):
    between = link(switch.address)
    running = watch(*where(between.address), policy(3))
    running.wait_for("applied")
    between.cut()
    running.wait_for("unreachable")
    policy(4)
    running.wait_for("policy")
    between.mend()
    running.wait_for("applied", "1 inserted", "1 deleted")
    assert routes(switch.address) == [4]
    between.cut()
    running.wait_for("unreachable")
    between.mend()
    # Nothing was lost, nothing is written.
    running.wait_for("in-sync")


def test_entries_changed_behind_our_back(watch, switch, policy):
    path = policy(3)
    running = watch(*where(switch.address), "--interval", "0.2", path)
    running.wait_for("applied")
    # By somebody with a higher election id, who then leaves.
    other = policy(9, "other.yaml")
    asyncio.run(phb.push(switch.address, [other], election_id=50))
    running.wait_for("applied", "1 inserted", "1 deleted")
    assert routes(switch.address) == [3]


def test_a_port_that_is_not_there_is_refused_once_and_the_session_kept(watch, switch, policy):
    path = policy(3)
    path.write_text(
        path.read_text() + "queueing: [{port: b, schedule: {kind: fifo}, shaper: "
        "{rate: {value: 256, unit: kbit/s, basis: ethernet}}}]\n"
    )
    running = watch(*where(switch.address), "--interval", "0.1", path)
    assert "no interface has port number 2" in running.wait_for("refused")["message"]
    time.sleep(1.0)
    policy(4)
    running.wait_for("applied")
    assert routes(switch.address) == [4]
    assert running.kinds() == ["policy", "primary", "refused", "policy", "applied"]


def test_refused_policy_keeps_the_one_before(watch, start_switch, policy):
    full = []
    switch = start_switch(refuse=lambda update: "I am full" if full else None)
    running = watch(*where(switch.address), "--interval", "0.2", policy(3))
    running.wait_for("applied")
    held = dict(switch.table)
    full.append(True)
    policy(4)
    running.wait_for("refused", "I am full")
    full.clear()
    running.wait_for("in-sync")
    assert switch.table == held
    policy(5)
    running.wait_for("applied")


def test_wrong_policy_at_the_start(watch, switch, policy, tmp_path):
    path = policy(3)
    path.write_text("phb: 2\n")
    code, errors = watch(*where(switch.address), path).end(signal.SIGCONT)
    assert (code, errors) == (2, f"phb: {path}:1: found 2, expected 1\n")
    # With a last good policy in the state, that one is kept, whatever has become of the file.
    policy(3)
    running = watch(*where(switch.address), path)
    running.wait_for("applied")
    running.end()
    switch.kill()
    switch.start()
    path.unlink()
    running = watch(*where(switch.address), path)
    running.wait_for("rejected", "no such file")
    running.wait_for("last-good", "begins with the last good policy, push 1")
    running.wait_for("applied", "program loaded")
    assert routes(switch.address) == [3]
    policy(4)
    running.wait_for("applied")
    assert routes(switch.address) == [4]


@pytest.mark.parametrize("round_", range(3))
def test_controller_killed_and_started_again(watch, switch, policy, tmp_path, round_):
    running = watch(*where(switch.address), policy(3))
    running.wait_for("primary")
    # At once, after a file, while it writes: whenever the kill comes, the next one puts it right.
    if round_:
        running.wait_for("applied")
        policy(4)
    if round_ == 2:
        running.wait_for("policy")
    assert running.end(signal.SIGKILL)[0] == -signal.SIGKILL
    policy(5)
    again = watch(*where(switch.address), tmp_path / "policy.yaml")
    again.wait_for("applied")
    assert routes(switch.address) == [5]
    with State(tmp_path / "state.sqlite") as state:
        assert History(state).last_good(switch.address, 1).command == "watch"


def test_a_watched_switch_is_locked(watch, switch, policy, tmp_path):
    path = policy(3)
    running = watch(*where(switch.address), path)
    running.wait_for("applied")
    command = [sys.executable, "-m", "phb", "push", *where(switch.address), "--state", tmp_path / "state.sqlite", path]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    pushed = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert pushed.returncode == 1
    assert "is being changed by phb watch of " in pushed.stderr
    assert f"(pid {running.process.pid})" in pushed.stderr
    # Nor by a second watch, unless that is a standby.
    code, errors = watch(*where(switch.address), path).end(signal.SIGCONT)
    assert code == 1
    assert "is being changed by phb watch of " in errors


def test_another_primary_with_a_state_of_its_own(watch, switch, policy):
    path = policy(3)
    running = watch(*where(switch.address), "--election-id", "7", path)
    running.wait_for("applied")
    code, errors = watch(*where(switch.address), path, state="other.sqlite").end(signal.SIGCONT)
    assert code == 1
    assert "another controller is primary with election id 7, ours is 1" in errors
    assert "--standby waits for its end" in errors


@pytest.fixture
def counted():
    """A switch in this process; give its address and the updates that it was sent."""
    with Counter() as counter:
        yield counter.address, counter.updates


@pytest.mark.parametrize("shared_state", [True, False])
def test_standby_takes_over_and_does_not_touch_the_data_plane(watch, counted, policy, shared_state):
    address, updates = counted
    path = policy(3)
    primary = watch(*where(address), "--election-id", "10", path)
    primary.wait_for("applied")
    written = len(updates)
    assert written > 0
    standby = watch(
        *where(address), "--standby", "--election-id", "5", path, state="state.sqlite" if shared_state else "2.sqlite"
    )
    assert standby.wait_for("standby")["election_id"] == 10
    primary.end(signal.SIGKILL)
    assert standby.wait_for("primary")["id"] == 11
    standby.wait_for("in-sync")
    assert len(updates) == written
    # Now it is the one that keeps the switch.
    policy(4)
    standby.wait_for("applied")
    assert routes(address) == [4]
    # The first one comes back, and waits in its turn.
    first = watch(*where(address), "--standby", "--election-id", "10", path)
    first.wait_for("standby")
    written = len(updates)
    standby.end()
    first.wait_for("in-sync")
    assert len(updates) == written


def test_standby_finishes_what_the_primary_began(watch, switch, policy):
    path = policy(3)
    primary = watch(*where(switch.address), "--election-id", "10", path)
    primary.wait_for("applied")
    standby = watch(*where(switch.address), "--standby", "--election-id", "5", path, state="2.sqlite")
    standby.wait_for("standby")
    policy(4)
    primary.wait_for("policy")
    primary.end(signal.SIGKILL)
    standby.wait_for("primary")
    while routes(switch.address) != [4]:
        pass
    standby.end()


def test_many_switches(watch, run_switch, policy, tmp_path):
    switches = [run_switch(), run_switch()]
    lines = ["phb-inventory: 1", "switches:"]
    for number, each in enumerate(switches, 1):
        policy(number, f"r{number}.yaml")
        lines.append(f"  - {{name: r{number}, address: '{each.address}', policies: [r{number}.yaml]}}")
    network = tmp_path / "network.yaml"
    network.write_text("\n".join(lines) + "\n")
    running = watch("--inventory", network)
    for _ in switches:
        running.wait_for("applied")
    # One that is gone is no matter of the other.
    switches[0].kill()
    assert running.wait_for("unreachable")["switch"] == "r1"
    policy(7, "r2.yaml")
    assert running.wait_for("applied")["switch"] == "r2"
    assert routes(switches[1].address) == [7]


def test_words_for_people(run_switch, policy, tmp_path):
    command = [sys.executable, "-m", "phb", "watch", *where(run_switch().address), "--no-state", policy(3)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        lines = [process.stdout.readline() for _ in range(3)]
        process.terminate()
        assert process.wait() == 0
    assert [line.split(": ")[1] for line in lines] == ["policy", "primary", "applied"]


def test_no_moment_but_now(capsys, policy):
    assert cli.run(["watch", "--at", "1999-03-01T12:00", str(policy(3))]) == 2
    assert "expected no --at: a watch goes with the clock" in capsys.readouterr().err
