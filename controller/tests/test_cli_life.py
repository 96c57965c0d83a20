"""The life of a policy on the command line: plan, push, history, rollback, locks; one switch and many."""

import json
import os
import re
import subprocess
import sys

import pytest

from phb.state import History, Locks, State

PROCESS_ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}

ROUTE = """\
phb: 1
node: r1
ports: [{number: 1, name: a, address: 10.0.1.1}, {number: 2, name: b, address: 10.0.2.1}]
routes:
  - {destination: 10.0.%d.0/24, port: b, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}
"""


@pytest.fixture
def policy(write_file):
    """Write a policy whose route says which version it is; give its path."""
    return lambda number, name="policy.yaml": write_file(name, ROUTE % number)


def held(phb, address):
    """Which version of the policy the switch holds."""
    _, out, _ = phb("show", "entries", "--address", address, "--json")
    (entry,) = [entry for entry in json.loads(out) if "ipv4" in entry["table"] and entry["match"]]
    return entry["match"]


def test_a_plan_is_pushed_as_it_was_or_not_at_all(phb, policy, start_switch):
    switch = start_switch()
    where = ("--address", switch.address)
    _, out, _ = phb("plan", *where, "--json", policy(3))
    digest = json.loads(out)["plan"]
    assert f"plan {digest}" in phb("plan", *where, policy(3))[1]
    # The file has changed since.
    code, out, err = phb("push", *where, "--plan", digest, policy(4))
    assert (code, out) == (1, "")
    assert f"the switch or the files have changed since plan {digest}; the plan is now " in err
    assert switch.config is None
    # The switch has changed since.
    assert phb("push", *where, policy(5))[0] == 0
    assert phb("push", *where, "--plan", digest, policy(3))[0] == 1
    _, out, _ = phb("plan", *where, "--json", policy(3))
    assert phb("push", *where, "--plan", json.loads(out)["plan"], policy(3))[0] == 0


def test_history_and_rollback(phb, policy, start_switch, tmp_path):
    switch = start_switch()
    where = ("--address", switch.address)
    for number in (3, 4, 4):
        assert phb("push", *where, policy(number))[0] == 0
    shown = held(phb, switch.address)
    (tmp_path / "policy.yaml").unlink()

    code, out, _ = phb("rollback", *where, "--dry-run")
    assert code == 0
    assert "1 to insert" in out
    assert held(phb, switch.address) == shown
    # The newest two say the same: back is to the one before them.
    assert phb("rollback", *where)[0] == 0
    third = held(phb, switch.address)
    assert third != shown
    assert phb("rollback", *where, "--to", "2")[0] == 0
    assert held(phb, switch.address) == shown

    _, out, _ = phb("history", *where, "--json")
    pushes = json.loads(out)
    assert [push["number"] for push in pushes] == [5, 4, 3, 2, 1]
    assert [push["command"] for push in pushes] == ["rollback", "rollback", "push", "push", "push"]
    assert [push["outcome"] for push in pushes] == ["applied", "applied", "unchanged", "applied", "applied"]
    assert all(push["files"] == [str(tmp_path / "policy.yaml")] for push in pushes)
    assert pushes[0]["digest"] == pushes[3]["digest"] != pushes[4]["digest"]
    out = phb("history")[1]
    assert "rollback" in out
    assert str(tmp_path / "policy.yaml") in re.sub(r"\s", "", out)


def marks(phb, *where):
    """Which push is current, and which the next rollback goes to."""
    pushes = json.loads(phb("history", *where, "--json")[1])
    return tuple([push["number"] for push in pushes if push[mark]] for mark in ("current", "rollback_goes_here"))


def test_rollbacks_go_back_step_by_step(phb, policy, start_switch):
    switch = start_switch()
    where = ("--address", switch.address)
    at = {}
    for number in (3, 4, 5):
        assert phb("push", *where, policy(number))[0] == 0
        at[number] = held(phb, switch.address)
    assert marks(phb, *where) == ([3], [2])
    for number in (4, 3):
        assert phb("rollback", *where)[0] == 0
        assert held(phb, switch.address) == at[number]
    assert marks(phb, *where) == ([5], [])
    code, _, err = phb("rollback", *where)
    assert code == 2
    assert "nothing before the policy that it has" in err
    # Forward by number, and on from there.
    assert phb("rollback", *where, "--to", "3")[0] == 0
    assert phb("push", *where, policy(6))[0] == 0
    assert marks(phb, *where) == ([7], [6])
    for number in (5, 3):
        assert phb("rollback", *where)[0] == 0
        assert held(phb, switch.address) == at[number]
    assert phb("rollback", *where)[0] == 2


def test_a_rollback_says_where_it_goes(phb, policy, start_switch):
    where = ("--address", start_switch().address)
    for number in (3, 4):
        assert phb("push", *where, policy(number))[0] == 0
    assert re.search(r": back to push 1, \d{4}-\S+Z: \S+policy.yaml\n", phb("rollback", *where, "--dry-run")[1])
    assert "plan" in json.loads(phb("rollback", *where, "--dry-run", "--json")[1])


def test_a_rollback_is_for_the_kind_of_switch_that_the_push_was_for(phb, policy, start_switch):
    """On bmv2 every queue gets a limit: without its --target the policy is another one."""
    switch = start_switch(atomic=False)
    where = ("--address", switch.address)
    for number in (3, 4):
        assert phb("push", *where, "--target", "bmv2", policy(number))[0] == 0
    code, _, err = phb("rollback", *where)
    assert (code, err) == (0, "")
    assert " 0 to insert, 0 to modify, 0 to delete" in phb("plan", *where, "--target", "bmv2", policy(3))[1]
    assert json.loads(phb("show", "switch", "--json", *where)[1])["target"] == "bmv2"
    assert "kind, and what" in phb("rollback", *where, "--target", "phb-switch", "--to", "1")[2]


def test_a_rollback_that_failed_is_done_again(phb, policy, start_switch):
    switch = start_switch()
    where = ("--address", switch.address)
    for number in (3, 4, 5):
        assert phb("push", *where, policy(number))[0] == 0
    switch.refuse = lambda update: "I am full"
    assert phb("rollback", *where)[0] == 1
    switch.refuse = lambda update: None
    assert marks(phb, *where) == ([3], [2])


def test_the_policy_of_another_node_is_pushed_only_where_somebody_says_so(phb, policy, write_file, start_switch):
    switch = start_switch()
    where = ("--address", switch.address)
    other = write_file("other.yaml", (ROUTE % 4).replace("node: r1", "node: r2"))
    assert phb("push", *where, policy(3))[0] == 0
    shown = held(phb, switch.address)
    for looking in (("push", "--dry-run"), ("plan",)):
        code, _, err = phb(*looking, *where, other)
        assert code == 0
        assert "warning: " in err
        assert "has the policy of node 'r1', and would get that of 'r2'" in err
    code, out, err = phb("push", *where, other)
    assert (code, out) == (2, "")
    assert all(words in err for words in ("node 'r1'", "'r2'", "--yes", "nothing was pushed"))
    assert held(phb, switch.address) == shown
    assert phb("push", *where, "--yes", other)[0] == 0
    # Neither a rollback nor the same node is asked about.
    assert phb("push", *where, other)[0] == 0
    assert phb("rollback", *where)[0] == 0
    assert held(phb, switch.address) == shown


def test_a_switch_that_was_started_anew_has_no_other_nodes_policy(phb, policy, write_file, start_switch):
    switch = start_switch()
    where = ("--address", switch.address)
    assert phb("push", *where, policy(3))[0] == 0
    switch.config = None
    switch.table.clear()
    other = write_file("other.yaml", (ROUTE % 4).replace("node: r1", "node: r2"))
    assert "warning" not in phb("plan", *where, other)[2]
    assert phb("push", *where, other)[0] == 0


@pytest.mark.parametrize(("answer", "code"), [(True, 0), (False, 2)])
def test_at_a_terminal_a_person_is_asked(phb, policy, write_file, start_switch, monkeypatch, answer, code):
    switch = start_switch()
    where = ("--address", switch.address)
    assert phb("push", *where, policy(3))[0] == 0
    asked = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda words, **_: asked.append(words) or answer)
    other = write_file("other.yaml", (ROUTE % 4).replace("node: r1", "node: r2"))
    assert phb("push", *where, other)[0] == code
    assert len(asked) == 1


def test_a_policy_that_is_pushed_again_is_a_step(phb, policy, start_switch):
    switch = start_switch()
    where = ("--address", switch.address)
    for number in (3, 4, 3):
        assert phb("push", *where, policy(number))[0] == 0
    assert marks(phb, *where) == ([3], [2])


def test_a_refused_push_is_remembered_as_such(phb, policy, start_switch):
    switch = start_switch()
    where = ("--address", switch.address)
    assert phb("push", *where, policy(3))[0] == 0
    switch.refuse = lambda update: "I am full"
    assert phb("push", *where, policy(4))[0] == 1
    failed, good = json.loads(phb("history", *where, "--json")[1])
    assert (failed["outcome"], good["outcome"]) == ("failed", "applied")
    assert "I am full" in failed["message"]
    # The failed one changed nothing: the last good is the one before it, which the switch still holds.
    switch.refuse = lambda update: None
    assert "0 inserted" in phb("rollback", *where)[1]


WRONG_ROLLBACKS = {
    "nothing yet": ([], "nothing before the policy that it has"),
    "no such push": (["--to", "9"], "found no push 9, expected a number that `phb history` shows"),
    "without state": (["--no-state"], "--no-state: found a rollback without state"),
}


@pytest.mark.parametrize("case", WRONG_ROLLBACKS)
def test_wrong_rollback(phb, case):
    arguments, message = WRONG_ROLLBACKS[case]
    code, out, err = phb("rollback", *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_rollback_to_another_switchs_push(phb, policy, start_switch):
    one, two = start_switch(), start_switch()
    assert phb("push", "--address", one.address, policy(3))[0] == 0
    code, _, err = phb("rollback", "--address", two.address, "--to", "1")
    assert code == 2
    assert f"found push 1, which was to device 1 at {one.address}, expected one to device 1 at {two.address}" in err


def test_two_people_do_not_push_over_each_other(phb, policy, start_switch, tmp_path):
    switch = start_switch()
    where = ("--address", switch.address, "--state", tmp_path / "s.sqlite")
    with State(tmp_path / "s.sqlite") as state:
        lock = Locks(state).try_take(switch.address, 1, "push")
        code, out, err = phb("push", *where, policy(3))
        assert (code, out) == (1, "")
        assert f"phb: {switch.address}: is being changed by phb push of " in err
        code, _, err = phb("push", *where, "--wait", "0.5", policy(3))
        assert code == 1
        assert err.startswith("waiting for phb push of ")
        assert "waited 0.5 s" in err
        assert switch.writes == []
        listed = json.loads(phb("locks", "--state", tmp_path / "s.sqlite", "--json")[1])
        assert [(each["address"], each["command"], each["dead"]) for each in listed] == [
            (switch.address, "push", False)
        ]
        assert "push" in phb("locks", "--state", tmp_path / "s.sqlite")[1]
        # Without state nothing is known of locks.
        assert phb("push", "--address", switch.address, "--no-state", policy(3))[0] == 0
        assert "taken from phb push of " in phb("locks", "--break", *where)[1]
        assert not Locks(state).holds(lock)
        assert phb("push", *where, policy(3))[0] == 0
    assert phb("locks", "--break", *where)[1].endswith("nobody had the lock\n")


def test_two_processes_push_at_once_and_one_waits(phb, policy, run_switch, tmp_path):
    switch = run_switch()
    command = [sys.executable, "-m", "phb", "push", "--address", switch.address, "--state", str(tmp_path / "s.sqlite")]
    processes = [
        subprocess.Popen([*command, "--wait", "120", policy(number, f"{number}.yaml")], stdout=subprocess.DEVNULL)
        for number in (3, 4, 5)
    ]
    assert [process.wait(120) for process in processes] == [0, 0, 0]
    pushes = json.loads(phb("history", "--all", "--state", tmp_path / "s.sqlite", "--json")[1])
    assert sorted(push["outcome"] for push in pushes) == ["applied", "applied", "applied"]
    # Whole policies, one after another: each of the later two replaced its forerunner's one route.
    assert sorted(push["deleted"] for push in pushes) == [0, 1, 1]


# ---------------------------------------------------------------------------
# Many switches
# ---------------------------------------------------------------------------


@pytest.fixture
def inventory(write_file, policy):
    def write(*switches, extra=""):
        lines = ["phb-inventory: 1", "switches:"]
        for number, address in enumerate(switches, 1):
            policy(number, f"r{number}.yaml")
            lines.append(f"  - {{name: r{number}, address: '{address}', policies: [r{number}.yaml], groups: [all]}}")
        return write_file("network.yaml", "\n".join(lines) + "\n")

    return write


def test_many_at_once(phb, inventory, start_switch):
    switches = [start_switch() for _ in range(3)]
    network = inventory(*(switch.address for switch in switches))
    code, out, err = phb("plan", "--inventory", network)
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines() if line.strip().startswith("r")] == ["r1", "r2", "r3"]
    code, out, _ = phb("push", "--inventory", network, "--json", "--switch", "r3", "--switch", "r1")
    assert [result["switch"] for result in json.loads(out)] == ["r1", "r3"]
    assert [switch.config is not None for switch in switches] == [True, False, True]
    code, out, _ = phb("push", "--inventory", network)
    assert code == 0
    assert [line.split()[-1] for line in out.splitlines() if line.strip().startswith("r")] == [
        "unchanged",
        "changed",
        "unchanged",
    ]
    assert len(json.loads(phb("history", "--inventory", network, "--switch", "r1", "--json")[1])) == 2
    code, out, _ = phb("show", "entries", "--inventory", network, "--switch", "r2", "--json")
    assert json.loads(out)


def test_one_fails_and_the_others_do_not_mind(phb, inventory, start_switch):
    good, bad = start_switch(), start_switch(refuse=lambda update: "I am full")
    network = inventory(good.address, bad.address, "127.0.0.1:1")
    code, out, err = phb("push", "--inventory", network)
    assert code == 1
    assert [line.split()[-1] for line in out.splitlines() if line.strip().startswith("r")] == [
        "changed",
        "failed",
        "failed",
    ]
    assert "phb: r2: " in err
    assert "I am full" in err
    assert "phb: r3: 127.0.0.1:1: the switch can't be reached" in err
    code, out, _ = phb("push", "--inventory", network, "--json")
    assert code == 1
    assert ["error" in result for result in json.loads(out)] == [False, True, True]


def test_a_wrong_file_changes_no_switch(phb, inventory, start_switch, tmp_path):
    switches = [start_switch(), start_switch()]
    network = inventory(*(switch.address for switch in switches))
    (tmp_path / "r2.yaml").write_text("phb: 2\n")
    code, out, err = phb("push", "--inventory", network)
    assert (code, out, err) == (2, "", f"phb: {tmp_path}/r2.yaml:1: found 2, expected 1\n")
    assert [switch.config for switch in switches] == [None, None]


WRONG = {
    "neither": (["push"], "phb: FILE: found no policy file and no --inventory, expected one of them\n"),
    "both": (
        ["push", "--inventory", "{network}", "x.yaml"],
        "phb: x.yaml: found a policy file beside --inventory, expected one of them: the inventory names files\n",
    ),
    "switch without inventory": (
        ["plan", "--switch", "r1", "x.yaml"],
        "phb: --switch: found no --inventory, expected the file that names switches\n",
    ),
    "several to show": (
        ["show", "entries", "--inventory", "{network}"],
        "phb: --switch: found 2 switches (r1, r2), expected one of them\n",
    ),
    "one plan for several": (
        ["push", "--inventory", "{network}", "--plan", "x"],
        "phb: --plan: found a plan for 2 switches, expected one switch: a plan is of one\n",
    ),
    "target": (
        ["check", "--target", "tofino", "x"],
        "phb: --target: found 'tofino', expected one of phb-switch, bmv2, bmv2-sp-pifo\n",
    ),
    "dialect": (["plan", "--dialect", "ios-9", "x"], "phb: --dialect: found 'ios-9', expected one of "),
    "kind of source": (
        ["plan", "gopher://x"],
        "phb: gopher://x: found an address of kind 'gopher', expected a file, or one of: ",
    ),
    "state": (
        ["push", "--state", "{network}", "{file}"],
        "network.yaml: found a damaged file (file is not a database)",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_input(phb, inventory, policy, case):
    arguments, message = WRONG[case]
    names = {"{network}": inventory("127.0.0.1:1", "127.0.0.1:2"), "{file}": policy(3)}
    code, out, err = phb(*(names.get(argument, argument) for argument in arguments))
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2)
from phb.__main__ import main
sys.argv = ["phb", *sys.argv[2:]]
main()
"""


def limited(size, *arguments):
    """Run a command line in a process that can't write more than so many bytes to a file: a full disk."""
    command = [sys.executable, "-c", LIMITED, str(size), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=PROCESS_ENVIRONMENT, check=False)


@pytest.mark.parametrize("size", [0, 1000, 4096, 20_000])
def test_a_full_disk_changes_nothing_and_says_which_file(policy, start_switch, tmp_path, size):
    switch, state = start_switch(), tmp_path / "state.sqlite"
    ended = limited(size, "push", "--address", switch.address, "--state", state, policy(3))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith(f"phb: {state}: found a file that can't be used (")
    assert "rollback" not in ended.stderr
    assert ended.stderr.count("\n") == 1
    assert switch.config is None


def test_a_disk_that_is_full_after_the_push_says_that_it_was_done(phb, policy, start_switch, tmp_path, monkeypatch):
    switch, state = start_switch(), tmp_path / "state.sqlite"

    def full(self, *arguments, **options):
        with self._state.reading() as cursor:
            cursor.exec_driver_sql("PRAGMA max_page_count = 1")
        with self._state.transaction() as cursor:
            cursor.exec_driver_sql("INSERT INTO content VALUES ('x', ?)", (bytes(100_000),))

    monkeypatch.setattr(History, "end", full)
    code, _, err = phb("push", "--address", switch.address, "--state", state, policy(3))
    assert code == 2
    assert err.startswith(f"phb: {state}: found a file that can't be used (database or disk is full), ")
    assert "the switch holds the new policy, the history says it never ended" in err
    assert switch.table
    # A push that failed says why, whatever becomes of the history.
    switch.refuse = lambda update: "I am full"
    code, _, err = phb("push", "--address", switch.address, "--state", state, policy(4))
    assert (code, "I am full" in err, "can't be used" in err) == (1, True, False)
    monkeypatch.undo()
    assert phb("locks", "--state", state, "--json")[1] == "[]\n"


def test_a_full_disk_leaves_the_file_that_was_to_be_replaced(policy, tmp_path):
    output = tmp_path / "out.yaml"
    output.write_text("before")
    ended = limited(10, "convert", "--to", "yaml", policy(3), "-o", output)
    assert ended.returncode == 2
    assert ended.stderr.startswith("phb: --output: found '")
    assert output.read_text() == "before"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["out.yaml", "policy.yaml"]
