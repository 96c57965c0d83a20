"""Names are looked up in the p4info; what isn't there is said."""

import pytest
from finsy.proto import p4i

import phb_p4
from phb import Artifact, ArtifactError
from phb.intent import Entry, Exact, Prefix, Range, Ternary
from phb.origin import Origin

ORIGIN = Origin("policy.yaml", 7)


@pytest.fixture(scope="module")
def small():
    """A program with one table."""
    info = p4i.P4Info()
    table = info.tables.add(size=2)
    table.preamble.id, table.preamble.name, table.preamble.alias = 1, "C.stage.t", "t"
    kinds = p4i.MatchField
    for number, (name, bits, kind) in enumerate(
        [
            ("e", 9, kinds.EXACT),
            ("l", 32, kinds.LPM),
            ("t", 8, kinds.TERNARY),
            ("r", 16, kinds.RANGE),
            ("o", 8, kinds.OPTIONAL),
        ],
        start=1,
    ):
        table.match_fields.add(id=number, name=name, bitwidth=bits, match_type=kind)
    table.action_refs.add(id=9)
    action = info.actions.add()
    action.preamble.id, action.preamble.name, action.preamble.alias = 9, "C.stage.act", "act"
    action.params.add(id=1, name="x", bitwidth=9)
    return Artifact(info, b"{}", "small.p4info")


def entry(**changes):
    values = {
        "table": "C.stage.t",
        "match": {"e": Exact(1)},
        "action": "act",
        "parameters": {"x": 1},
        "priority": 0,
        "origin": ORIGIN,
    }
    return Entry(**(values | changes))


def test_encoding_is_canonical(small):
    match = {
        "r": Range(0, 256),
        "o": Exact(0),
        "t": Ternary(0x20, 0xE0),
        "l": Prefix(0x0A000000, 8),
        "e": Exact(511),
    }
    message = small.message(small.encode(entry(match=match, parameters={"x": 256}, priority=3)))
    assert [field.field_id for field in message.match] == [1, 2, 3, 4, 5]
    exact, lpm, ternary, between, optional = message.match
    assert exact.exact.value == b"\x01\xff"
    assert (lpm.lpm.value, lpm.lpm.prefix_len) == (b"\x0a\0\0\0", 8)
    assert (ternary.ternary.value, ternary.ternary.mask) == (b"\x20", b"\xe0")
    assert (between.range.low, between.range.high) == (b"\0", b"\x01\0")
    assert optional.optional.value == b"\0"
    assert message.action.action.params[0].value == b"\x01\0"
    assert message.priority == 3


ERRORS = {
    "table": (
        entry(table="C.stage.u"),
        "small.p4info: found no table 'C.stage.u', expected it; the program has C.stage.t",
    ),
    "field": (
        entry(match={"z": Exact(1)}),
        "small.p4info: found no match field 'z' in table 'C.stage.t', expected it; the program has e, l, o, r, t",
    ),
    "kind": (
        entry(match={"e": Range(1, 2)}),
        "small.p4info: found field 'e' of table 'C.stage.t' as EXACT of 9 bits, expected one that can match "
        "Range(low=1, high=2)",
    ),
    "width": (
        entry(match={"e": Exact(512)}),
        "small.p4info: found field 'e' of table 'C.stage.t' as EXACT of 9 bits, expected one that can match "
        "Exact(value=512)",
    ),
    "action": (
        entry(action="go"),
        "small.p4info: found no action 'go' in table 'C.stage.t', expected it; the program has act",
    ),
    "parameter": (
        entry(parameters={"y": 1}),
        "small.p4info: found no parameter 'y' in action 'act' of 'C.stage.t', expected it; the program has x",
    ),
    "wide parameter": (
        entry(parameters={"x": 512}),
        "small.p4info: found parameter 'x' of action 'act' with 9 bits, expected room for 512 (from policy.yaml:7)",
    ),
    "absent parameter": (
        entry(parameters={}),
        "small.p4info: found action 'act' with parameter 'x', expected only parameters this controller knows: ",
    ),
}


@pytest.mark.parametrize("case", ERRORS)
def test_error(case, small):
    wrong, message = ERRORS[case]
    with pytest.raises(ArtifactError) as caught:
        small.encode(wrong)
    assert str(caught.value) == message


def test_unknown_counter(small):
    with pytest.raises(ArtifactError, match=r"found no counter 'c', expected it; the program has nothing at all"):
        small.counter("c")


def test_missing_file(tmp_path):
    with pytest.raises(ArtifactError, match="found no such file or directory, expected a readable p4info file"):
        Artifact.load(tmp_path / "x.json", tmp_path / "x.p4info")


def test_files_swapped():
    with pytest.raises(ArtifactError, match=r"expected a P4Info message as text$"):
        Artifact.load(phb_p4.p4info_path(), phb_p4.artifact_path())


def test_not_json(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("control C {}")
    with pytest.raises(ArtifactError, match=r"found a file that isn't JSON .*, expected p4c's bmv2 JSON"):
        Artifact.load(path, phb_p4.p4info_path())


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (lambda text: text[: len(text) // 2], r"found a file that isn't JSON \("),
        (lambda text: "{}", "found JSON without a version or pipelines"),
        (lambda text: text.replace("[2,23]", "[99,0]"), "found version 99"),
        (
            lambda text: text.replace("PhbIngress.mark.remark", "Other.remark"),
            "found no table 'PhbIngress.mark.remark'",
        ),
    ],
)
def test_damaged_artifact(tmp_path, damage, found):
    path = tmp_path / "damaged.json"
    path.write_text(damage(phb_p4.artifact_path().read_text()))
    with pytest.raises(ArtifactError, match=found) as caught:
        Artifact.load(path, phb_p4.p4info_path())
    assert str(caught.value).startswith(str(path))


def test_cookie_stands_for_p4info_and_json(artifact):
    other = Artifact(artifact.p4info, artifact.device_config + b"\n")
    assert artifact.cookie == Artifact.load().cookie
    assert artifact.cookie != other.cookie
