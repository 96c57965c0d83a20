"""Whose objectives the monitor gets, and by whose counters each is judged."""

from datetime import datetime

import pytest

from phb.compiler import compile_policy
from phb.errors import InputError
from phb.formats import yaml_format
from phb.merge import merge
from phb.monitor.observation import Subject, SubjectKind
from phb.monitor.wanted import objectives_of, wanted_of
from phb.names import Names

AT = datetime(2026, 11, 26, 12)
LOSS = "objectives: {maximum-loss-percent: 1}"
POLICY = f"""\
phb: 1
ports:
  - {{number: 1, name: stack, role: host}}
  - {{number: 2, name: uplink, address: 192.0.2.1}}
  - {{number: 3, name: spare, address: 192.0.2.9}}
cross-connects:
  - between: [stack, uplink]
classes:
  - {{name: gold, {LOSS}}}
  - {{name: silver}}
actions:
  - {{name: fast, class: gold, {LOSS}}}
  - {{name: here, class: silver, interface: 192.0.2.1, {LOSS}}}
  - {{name: elsewhere, class: gold, interface: 192.0.2.9, {LOSS}}}
rules:
  - {{name: both, direction: both, match: {{protocol: tcp}}, actions: [elsewhere, here], {LOSS}}}
  - {{name: through, match: {{protocol: udp}}, actions: [fast]}}
  - {{name: later, match: {{protocol: ospf}}, valid: {{days: [monday]}}, actions: [fast], {LOSS}}}
  - {{name: none, match: {{protocol: gre}}, {LOSS}}}
behaviour-aggregates:
  - {{name: marked, dscp: EF, actions: [fast], {LOSS}}}
"""


def found(text, artifact, of):
    policy = yaml_format.read(text, "f")
    return of(policy, Names.of(compile_policy(policy, artifact, at=AT), policy))


def test_subjects_classes_and_policies(artifact):
    wanted = found(POLICY, artifact, wanted_of)
    assert {
        (subject.kind.value, subject.name, subject.direction): (each.traffic_class, each.policies)
        for subject, each in wanted.items()
    } == {
        ("class", "gold", ""): ("gold", ()),
        ("policy", "both", "outgoing"): ("silver", (("both", "outgoing"),)),
        ("policy", "both", "incoming"): ("silver", (("both", "incoming"),)),
        ("policy", "later", ""): ("gold", (("later", ""),)),
        ("policy", "none", ""): ("class-default", (("none", ""),)),
        ("policy", "marked", ""): ("gold", (("marked", ""),)),
        ("stream", "fast", ""): ("gold", (("through", ""), ("later", ""), ("marked", ""))),
        ("stream", "here", ""): ("silver", (("both", "outgoing"), ("both", "incoming"))),
        ("stream", "elsewhere", ""): ("gold", ()),
    }


def test_objectives_alone(artifact):
    text = "phb: 1\nclasses:\n  - {name: a, objectives: {interval-s: 7, maximum-loss-percent: 2}}\n  - {name: b}\n"
    objectives = found(text, artifact, objectives_of)
    assert list(objectives) == [Subject(SubjectKind.CLASS, "a")]
    assert objectives[Subject(SubjectKind.CLASS, "a")].interval_s == 7


@pytest.mark.parametrize("rule_says", [True, False])
def test_counters_of_one_name_are_told_apart_or_refused(rule_says):
    with_objectives = f", {LOSS}"
    text = (
        f"phb: 1\nrules:\n  - {{name: a{with_objectives if rule_says else ''}}}\n"
        f"behaviour-aggregates:\n  - {{name: a, dscp: EF{'' if rule_says else with_objectives}}}\n"
    )
    with pytest.raises(InputError) as caught:
        merge([yaml_format.read(text, "f")])
    assert str(caught.value) == (
        "f:5: found rule 'a' and a behaviour aggregate of that name, with objectives, expected another name: the rule "
        "stands at f:3"
    )
    merge([yaml_format.read(text.replace(with_objectives, ""), "f")])


NOTICES = {
    "rules: [{name: a, OBJECTIVES}]": "the delay of rule 'a' is judged by that of class 'class-default', with what no "
    "rule takes: delays are counted by class",
    "classes: [{name: c}]\nactions: [{name: x, class: c}]\nrules: [{name: a, actions: [x], OBJECTIVES}]": "the delay "
    "of rule 'a' is judged by that of class 'c': delays are counted by class",
    "classes: [{name: c}]\nactions: [{name: x, class: c, OBJECTIVES}, {name: y, class: c}]\n"
    "rules: [{name: a, actions: [x]}, {name: b, actions: [y]}, {name: d, actions: [x]}]": "the delay of action 'x' is "
    "judged by that of class 'c', with 'b': delays are counted by class",
    "classes: [{name: c}]\nactions: [{name: x, class: c}]\nrules: [{name: a, actions: [x], OBJECTIVES}, {name: b, "
    "actions: [x]}, {name: d, actions: [x]}, {name: e, actions: [x]}, {name: f, actions: [x]}]": "the delay of rule "
    "'a' is judged by that of class 'c', with 'b', 'd' and 2 more: delays are counted by class",
    "behaviour-aggregates: [{name: a, dscp: EF, OBJECTIVES}]": "the delay of behaviour aggregate 'a' is judged by that "
    "of class 'class-default', with what no rule takes: delays are counted by class",
    f"rules: [{{name: a, permission: blocked, {LOSS}}}]": "objectives of rule 'a' are never kept: nothing leaves, for "
    "it blocks",
    f"rules: [{{name: a, {LOSS}}}]": None,
    "classes: [{name: c, OBJECTIVES}]": None,
}


@pytest.mark.parametrize("text", NOTICES)
def test_check_says_how_objectives_are_judged(text, artifact):
    written = text.replace("OBJECTIVES", "objectives: {maximum-delays: [{milliseconds: 5}]}")
    policy = yaml_format.read(f"phb: 1\n{written}\n", "f")
    messages = [notice.message for notice in compile_policy(policy, artifact, at=AT).notices]
    assert messages == ([] if NOTICES[text] is None else [NOTICES[text]])
