"""Phases: after every single write packets meet the old policy or the new one, whatever a killed push has left."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_program import SMALL, Policy, Rule, active, artifact, compiled, met
from small_strategies import pairs, policies

from phb.device.references import References
from phb.entries import Change, applied
from phb.pushing.phases import Held, Phase, in_phases, one_batch, peak
from phb.pushing.renumbering import renumber
from tests.examples import share

REFERENCES = References(SMALL)
shuffles = st.randoms(use_true_random=False)


def steps_to(held, policy, tracking=0):
    """Steps to a policy, and the rows that are wanted at the end."""
    visible = held.visible(REFERENCES)
    wanted = renumber(compiled(policy), visible, REFERENCES, in_place=False).rows
    return in_phases(held, wanted, tracking, REFERENCES), wanted


def at_rest(policy, version=0):
    rows = renumber(compiled(policy), (), REFERENCES, in_place=False).rows
    return Held(tuple(rows), active(version))


def writes(steps, shuffle):
    """The updates one by one, those of a step in any order."""
    for step in steps:
        updates = list(step.updates)
        shuffle.shuffle(updates)
        yield from updates


def after(held, update):
    """What a switch holds after one update, which must be one that it accepts."""
    if update.row.default:
        return Held(held.rows, update.row)
    there = update.row.key in {row.key for row in held.rows}
    assert there == (update.change is not Change.INSERT), "the switch refuses this"
    return Held(tuple(applied(held.rows, [update])), held.active)


def versioned(held):
    return met(held.rows, held.version)


@given(pairs, shuffles, st.integers(0, 1))
@settings(max_examples=share(200))
def test_every_packet_meets_old_or_new(policy_pair, shuffle, version):
    before, wanted = policy_pair
    held = at_rest(before, version)
    steps, rows = steps_to(held, wanted)
    old, new = versioned(held), met(compiled(wanted))
    switched = False
    for update in writes(steps, shuffle):
        held = after(held, update)
        now = versioned(held)
        if switched or now != old:
            assert now == new
            switched = True
    assert versioned(held) == new
    assert set(held.rows) == set(rows)


@given(pairs, policies, shuffles, st.data())
@settings(max_examples=share(200))
def test_any_push_recovers_from_any_killed_one(policy_pair, third, shuffle, data):
    before, wanted = policy_pair
    held = at_rest(before)
    updates = list(writes(steps_to(held, wanted)[0], shuffle))
    for update in updates[: data.draw(st.integers(0, len(updates)))]:
        held = after(held, update)
    again = list(writes(steps_to(held, third)[0], shuffle))
    killed = data.draw(st.integers(0, len(again)))
    for update in again[:killed]:
        held = after(held, update)
    left = versioned(held)
    assert left in (met(compiled(policy)) for policy in (before, wanted, third))
    final = data.draw(st.sampled_from([before, wanted, third]))
    steps, rows = steps_to(held, final)
    new = met(compiled(final))
    for update in writes(steps, shuffle):
        held = after(held, update)
        assert versioned(held) in (left, new)
    assert set(held.rows) == set(rows)
    assert versioned(held) == new


@given(pairs, shuffles, st.data())
def test_a_push_is_undone_from_every_write(policy_pair, shuffle, data):
    before, wanted = policy_pair
    held = at_rest(before)
    start = set(held.visible(REFERENCES))
    updates = list(writes(steps_to(held, wanted)[0], shuffle))
    for update in updates[: data.draw(st.integers(0, len(updates)))]:
        held = after(held, update)
    now = versioned(held)
    for update in writes(in_phases(held, list(start), 0, REFERENCES), shuffle):
        held = after(held, update)
        assert versioned(held) in (now, met(compiled(before)))
    assert set(held.rows) == start


@given(policies)
def test_a_push_of_the_same_writes_nothing(policy):
    held = at_rest(policy)
    assert steps_to(held, policy)[0] == []
    assert one_batch(held, list(held.rows), 0) == []


@given(pairs, st.data())
def test_one_batch_from_any_state(policy_pair, data):
    before, wanted = policy_pair
    held = at_rest(before)
    updates = list(writes(steps_to(held, wanted)[0], random.Random(1)))
    for update in updates[: data.draw(st.integers(0, len(updates)))]:
        held = after(held, update)
    rows = renumber(compiled(wanted), held.visible(REFERENCES), REFERENCES, in_place=True).rows
    for step in one_batch(held, rows, 0):
        for update in step.updates:
            held = after(held, update)
    assert set(held.rows) == set(rows)
    assert versioned(held) == met(compiled(wanted))


def test_phases_of_one_changed_mark():
    before = Policy((Rule(0, 3, 10), Rule(4, 7, 20)))
    held = at_rest(before)
    steps, _ = steps_to(held, Policy((Rule(0, 3, 10), Rule(4, 7, 30))))
    counts = {step.phase: [update.change.value for update in step.updates] for step in steps}
    assert counts == {
        Phase.PREPARE: ["insert", "insert", "insert"],  # entry for the next version, copy for the active one, mark
        Phase.RETIRE: ["delete"],
        Phase.FLIP: ["modify"],
        Phase.FINISH: ["insert", "delete"],
        Phase.REMOVE: ["delete", "delete"],  # entry of the next version, old mark
    }


def test_tracking_alone_is_one_write():
    held = at_rest(Policy((Rule(0, 3, 10),)), version=1)
    (step,) = in_phases(held, held.rows, 1, REFERENCES)
    assert step.phase is Phase.FLIP
    assert [update.row.parameters for update in step.updates] == [(1, 1)]
    (step,) = one_batch(held, held.rows, 1)
    assert [update.row.parameters for update in step.updates] == [(1, 1)]


def test_a_route_needs_no_flip():
    held = at_rest(Policy((Rule(0, 3, 10),), routes=((1, 1), (2, 2))))
    steps, _ = steps_to(held, Policy((Rule(0, 3, 10),), routes=((1, 3), (4, 4))))
    assert [step.phase for step in steps] == [Phase.EXCHANGE, Phase.FINISH]


@pytest.mark.parametrize("count", [1, 5])
def test_room_for_old_and_new(count):
    held = at_rest(Policy(tuple(Rule(0, place, 1) for place in range(count))))
    steps, _ = steps_to(held, Policy(tuple(Rule(0, place, 2) for place in range(count))))
    classify = SMALL.tables["Small.classify"].number
    # The original, the copy for the active version, and the new entry for the next one.
    assert peak(held, steps)[classify] == 3 * count


def test_a_program_without_versions_gets_referred_rows_first():
    program = artifact()
    program.tables = {name: table for name, table in program.tables.items() if name.startswith("Small")}
    references = References(program)
    assert references.version_table is None
    wanted = compiled(Policy((Rule(0, 3, 10), Rule(4, 7, 20))))
    steps = in_phases(Held(()), wanted, 0, references)
    tables = [{program.table_names[update.row.table] for update in step.updates} for step in steps]
    assert tables == [{"Small.remark"}, {"Small.classify"}]
    steps = in_phases(Held(tuple(wanted)), [], 0, references)
    tables = [{program.table_names[update.row.table] for update in step.updates} for step in steps]
    assert tables == [{"Small.classify"}, {"Small.remark"}]
