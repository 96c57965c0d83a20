"""What differs between two runs, and of which kind it is, without a bmv2."""

import json
from pathlib import Path

import pytest

from phb_switch.differential import kinds, trial
from phb_switch.differential.cases import PACKETS, Case, Program
from phb_switch.differential.kinds import KINDS, named
from phb_switch.differential.trial import Difference, Outcome, compared_runs
from phb_switch.stf import bmv2, thrift
from phb_switch.stf.client import RefusedError
from phb_switch.stf.compare import Sent
from phb_switch.stf.parser import parse
from phb_switch.stf.runner import RunResult
from phb_switch.stf.statements import Expect, SendPacket

PROGRAMS = Path(__file__).parents[3] / "programs"
NAMES = ("phb-switch, Thrift", "bmv2, Thrift")


def result(**parts) -> RunResult:
    made = RunResult(refused=parts.get("refused", {}), state=parts.get("state", {}))
    for port, line, frame in parts.get("sent", ()):
        made.sent[port].append(Sent(line, frame))
    return made


@pytest.mark.parametrize(
    ("one", "other", "differing"),
    [
        ({}, {}, []),
        ({"sent": [(1, 3, b"ab")]}, {"sent": [(1, 3, b"ab")]}, []),
        ({"sent": [(1, 3, b"ab")]}, {"sent": [(1, 3, b"ac")]}, [(3, 1, "byte 1 is 63, expected 62")]),
        ({"sent": [(1, 3, b"ab")]}, {}, [(3, 1, "the packet didn't come")]),
        ({}, {"sent": [(1, 3, b"ab")]}, [(3, 1, "made another leave")]),
        ({"sent": [(1, 3, b"a"), (1, 4, b"b")]}, {"sent": [(1, 3, b"b"), (1, 4, b"a")]}, [(3, 1, ""), (4, 1, "")]),
        ({"sent": [(1, 3, b"a"), (2, 3, b"b")]}, {"sent": [(2, 3, b"b"), (1, 3, b"a")]}, []),
        ({"refused": {2: "why"}}, {"refused": {2: "other words"}}, []),
        ({"refused": {2: "why"}}, {}, [(2, None, "phb-switch, Thrift refuses (why), bmv2, Thrift doesn't")]),
        ({"state": {"c": [(1, 2)]}}, {"state": {}}, []),
        ({"state": {"c": [(1, 2), (3, 4)]}}, {"state": {"c": [(1, 2), (3, 5)]}}, [(0, None, "c, cell 1: (3, 4) and")]),
    ],
)
def test_what_differs(one, other, differing):
    found = compared_runs(result(**one), result(**other), NAMES)
    assert [(each.line, each.port) for each in found] == [(line, port) for line, port, _ in differing]
    assert all(words in each.message for each, (_, _, words) in zip(found, differing, strict=True))


def case(program: str) -> Case:
    artifact = (PROGRAMS / "build" / f"{program}.json").read_text()
    statements = [each for each in parse(PROGRAMS / f"{program}.stf") if not isinstance(each, Expect)]
    return Case(Program("own", program, artifact, None, None), PACKETS, statements)


def as_bmv2(changes):
    """A bmv2 that does as ours does with a changed artifact."""

    def run(artifact, statements, counts=None, reads_state=False):
        changed = json.loads(artifact)
        changes(changed)
        return thrift.run(json.dumps(changed), statements, reads_state=reads_state)

    return run


def test_a_kind_is_found_by_trying(monkeypatch):
    monkeypatch.setattr(bmv2, "run_by_thrift", as_bmv2(kinds._accept_without_case))
    found = named(trial.tried(case("parser_errors")))
    assert [each.kind and each.kind.name for each in found] == ["NoMatch"]
    monkeypatch.setattr(bmv2, "run_by_thrift", as_bmv2(lambda _: None))
    assert named(trial.tried(case("parser_errors"))) == []


def test_what_an_earlier_packet_has_left_is_found_by_the_packet_alone(monkeypatch):
    """Copies have it behind the parser, so that no artifact helps."""

    def remembers(artifact, statements, counts=None, reads_state=False):
        made = thrift.run(artifact, statements, reads_state=reads_state)
        last = made.sent[1][-1]
        if sum(isinstance(each, SendPacket) for each in statements) > 1:
            made.sent[1][-1] = Sent(last.line, b"left over" + last.frame)
        return made

    monkeypatch.setattr(bmv2, "run_by_thrift", remembers)
    found = named(trial.tried(case("parser_errors")))
    assert [each.kind and each.kind.name for each in found] == ["left over"]


def test_what_is_no_known_kind_stays_without_one(monkeypatch):
    def wrong(artifact, statements, counts=None, reads_state=False):
        made = thrift.run(artifact, statements, reads_state=reads_state)
        made.sent[1][0] = Sent(made.sent[1][0].line, b"wrong")
        return made

    monkeypatch.setattr(bmv2, "run_by_thrift", wrong)
    (only,) = named(trial.tried(case("parser_errors")))
    assert only.kind is None
    assert only.difference.got == b"wrong".hex()


def test_a_frame_that_is_late_once_is_no_difference(monkeypatch):
    runs = []

    def late(artifact, statements, counts=None, reads_state=False):
        made = thrift.run(artifact, statements, reads_state=reads_state)
        if not runs:
            made.sent.clear()
        runs.append(made)
        return made

    monkeypatch.setattr(bmv2, "run_by_thrift", late)
    assert trial.tried(case("bits")).differences == []
    assert len(runs) == 2


def test_a_bmv2_that_ends_is_told_and_what_came_before_is_compared(monkeypatch):
    def ends(artifact, statements, counts=None, reads_state=False):
        if sum(isinstance(each, SendPacket) for each in statements) > 2:
            raise bmv2.EndedError("Segmentation fault", 3)
        return thrift.run(artifact, statements, reads_state=reads_state)

    monkeypatch.setattr(bmv2, "run_by_thrift", ends)
    outcome = trial.tried(case("bits"))
    assert (outcome.ended, outcome.compared, outcome.differences) == ({"Thrift": "Segmentation fault"}, 2, [])

    def always(*_, **__):
        raise bmv2.EndedError("Aborted", 1)

    monkeypatch.setattr(bmv2, "run_by_thrift", always)
    outcome = trial.tried(case("bits"))
    assert (outcome.ended, outcome.compared) == ({"Thrift": "Aborted"}, 0)


def test_a_program_that_bmv2_doesn_t_take_is_told(monkeypatch):
    def refuses(*_, **__):
        raise RefusedError("Unknown primitive\nand more")

    monkeypatch.setattr(bmv2, "run_by_thrift", refuses)
    outcome = trial.tried(case("bits"))
    assert outcome.not_loaded == {"bmv2, Thrift": "Unknown primitive"}


def test_a_refused_statement_is_left_out_when_the_rest_is_compared(monkeypatch):
    def refuses(artifact, statements, counts=None, reads_state=False):
        made = thrift.run(artifact, [each for each in statements if each.line != first], reads_state=reads_state)
        if any(each.line == first for each in statements):
            made.refused[first] = "no"
        return made

    router = case("router")
    first = router.statements[0].line
    monkeypatch.setattr(bmv2, "run_by_thrift", refuses)
    outcome = trial.tried(router)
    assert [(each.line, each.is_of_statement) for each in outcome.differences] == [(first, True)]
    # No other artifact explains it, for it didn't run with one.
    assert [each.kind for each in named(outcome)] == [None]


@pytest.mark.parametrize(
    ("message", "artifact", "kind"),
    [
        ("statement: bmv2 refuses (no such table)", "{}", None),
        ("statement: bmv2 refuses (Register writes are not supported yet)", "{}", "not in its P4Runtime"),
        ("c, cell 1: 1 and 2", '{"op": "count", "parameters": [{"type": "field"}]}', "no such cell"),
        ("c, cell 1: 1 and 2", '{"op": "count", "parameters": [{"type": "hexstr"}]}', None),
        ("port 1: byte 1 is 00", '{"length_exp": {"op": "+"}}', "beyond the end"),
        ("port 1: the packet didn't come", '{"op": "_jump"}', "loop"),
        ("port 1: byte 1 is 00", '{"op": "_jump"}', None),
        ("port 1: the packet didn't come", '{"op": "resubmit"}', "loop"),
        ("port 1: byte 1 is 00", '{"value": ["standard_metadata", "enq_qdepth"]}', "time"),
        ("port 1: byte 1 is 00", '{"field_aliases": [["a", ["standard_metadata", "enq_qdepth"]]]}', None),
    ],
)
def test_kinds_told_by_words(message, artifact, kind, monkeypatch):
    monkeypatch.setattr(kinds, "KINDS", [each for each in KINDS if not each.ours and not each.theirs])
    outcome = Outcome(Case(Program("set", "program", artifact, None, None), PACKETS, []))
    outcome.differences.append(Difference(NAMES, 1, message))
    (only,) = named(outcome)
    assert (only.kind and only.kind.name) == kind


def test_a_difference_between_two_runs_of_ours_has_no_excuse():
    outcome = Outcome(Case(Program("set", "program", '{"op": "_jump"}', None, None), PACKETS, []))
    outcome.differences.append(Difference(("phb-switch, P4Runtime", "phb-switch, Thrift"), 1, "didn't come"))
    assert [each.kind for each in named(outcome)] == [None]
