"""Renumbering: the same policy in other numbers, those of the switch; differences as small as the change."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_program import SMALL, Policy, Rule, artifact, compiled, met
from small_strategies import pairs, policies

from phb.device.references import References
from phb.entries import difference
from phb.errors import PhbError
from phb.intent import NodeIntent
from phb.intent import Policy as PolicyNumber
from phb.origin import Origin
from phb.pushing.renumbering import renumber

REFERENCES = References(SMALL)


def onto(policy, installed, *, in_place=True):
    return renumber(compiled(policy), installed, REFERENCES, in_place=in_place)


@given(pairs, st.booleans())
def test_a_renumbered_policy_is_the_same_policy(policy_pair, in_place):
    before, wanted = policy_pair
    installed = onto(before, ()).rows
    rows = onto(wanted, installed, in_place=in_place).rows
    assert len(rows) == len(compiled(wanted))
    assert met(rows) == met(compiled(wanted))


@given(pairs, st.booleans())
def test_done_twice_is_done_once(policy_pair, in_place):
    before, wanted = policy_pair
    rows = onto(wanted, onto(before, ()).rows, in_place=in_place).rows
    assert set(onto(wanted, rows, in_place=in_place).rows) == set(rows)


@given(pairs)
def test_rows_that_packets_meet_never_change_under_their_number(policy_pair):
    before, wanted = policy_pair
    installed = REFERENCES.reachable(onto(before, ()).rows)
    rows = onto(wanted, installed, in_place=False).rows
    held = {row.key: row for row in installed}
    for row in rows:
        if REFERENCES.owner(row) is not None and row.key in held:
            assert held[row.key] == row


@given(st.lists(st.integers(0, 200), min_size=1, max_size=30, unique=True), st.data())
def test_the_difference_is_bounded_by_the_change(marks, data):
    rules = [Rule(mark, 250, mark, mark % 3 or None) for mark in marks]
    place = data.draw(st.integers(0, len(rules) - 1))
    change = data.draw(st.sampled_from(["insert", "delete", "move", "mark", "match"]))
    changed = list(rules)
    match change:
        case "insert":
            changed.insert(place, Rule(3, 251, 4, 5))
        case "delete":
            del changed[place]
        case "move":
            changed.insert(data.draw(st.integers(0, len(rules) - 1)), changed.pop(place))
        case "mark":
            changed[place] = replace(changed[place], mark=201)
        case "match":
            changed[place] = replace(changed[place], high=249)
    installed = onto(Policy(tuple(rules)), ()).rows
    updates = difference(installed, onto(Policy(tuple(changed)), installed).rows)
    most = {"insert": 3, "delete": 3, "move": 2, "mark": 1, "match": 6}[change]
    assert len(updates) <= most


def test_queues_keep_their_slots_when_another_grows():
    before = Policy(queues=((("default", 1, 4),), (("default", 2, 4), ("gold", 3, 1))))
    after = Policy(queues=((("default", 1, 16),), (("default", 2, 4), ("gold", 3, 1))))
    installed = onto(before, ()).rows
    updates = difference(installed, onto(after, installed).rows)
    assert [update.row.parameters[:2] for update in updates] == [(9, 16)]


def test_slots_that_fit_only_from_the_beginning_are_arranged_anew():
    before = Policy(queues=((("default", 1, 16),), (("default", 2, 16), ("gold", 3, 16))))
    after = Policy(queues=((("default", 1, 32),), (("default", 2, 31), ("gold", 3, 1))))
    rows = onto(after, onto(before, ()).rows).rows
    assert met(rows) == met(compiled(after))
    queues = [row for row in rows if row.table == SMALL.tables["Small.class_queue"].number]
    spans = sorted((row.parameters[0], row.parameters[1] if len(row.parameters) == 3 else 1) for row in queues)
    assert spans[-1][0] + spans[-1][1] <= 64


def test_policies_are_named_by_the_switchs_numbers():
    one, two = Rule(0, 1, 1), Rule(2, 3, 2)
    installed = onto(Policy((two,)), ()).rows
    renumbered = onto(Policy((one, two)), installed)
    assert renumbered.numbers["policy"] == {0: 0, 1: 2, 2: 1}
    names = tuple(PolicyNumber(number, name, "any", Origin("f")) for number, name in ((1, "one"), (2, "two")))
    named = renumbered.named(NodeIntent("node", (), names, ()))
    assert [(policy.number, policy.rule) for policy in named.policies] == [(2, "one"), (1, "two")]


def test_a_rule_that_does_not_count_now_keeps_its_number_to_itself():
    rows = compiled(Policy((Rule(0, 1, 1),)))
    numbers = renumber(rows, (), REFERENCES, in_place=True, reserved={"policy": [7, 1]}).numbers["policy"]
    assert numbers == {0: 0, 1: 1, 7: 7}


@given(policies)
def test_numbers_in_use_are_not_given_to_others(policy):
    installed = onto(Policy((Rule(0, 7, 99), Rule(0, 6, 98))), ()).rows
    rows = onto(policy, installed, in_place=True)
    numbers = rows.numbers["policy"]
    assert len(set(numbers.values())) == len(numbers)


def test_numbers_used_up_are_told():
    program = artifact()
    rules = tuple(Rule(place, 250, place) for place in range(200))
    installed = renumber(compiled(Policy(rules), program), (), References(program), in_place=False).rows
    others = compiled(Policy(tuple(Rule(place, 251, place) for place in range(200))), program)
    assert renumber(others, installed, References(program), in_place=True).rows
    with pytest.raises(PhbError, match="more than the 255 policy numbers"):
        renumber(others, installed, References(program), in_place=False)
