"""What the page shows of a program: sections, order, conditions in words."""

import json
from pathlib import Path

import pytest

from phb.trace.page.expressions import fields_of, text_of
from phb.trace.page.program import program_map

ROOT = Path(__file__).parents[4]
PROGRAMS = (path for path in (ROOT / "switch/programs").rglob("*.json") if path.name != "manifest.json")
ARTIFACTS = [ROOT / "p4src/build/phb.json", *sorted(PROGRAMS)]


@pytest.mark.parametrize("path", ARTIFACTS, ids=lambda path: path.stem)
def test_every_state_table_and_condition_is_there_once(path):
    artifact = json.loads(path.read_text())
    nodes = [node for section in program_map(artifact) for node in section["nodes"]]
    ids = [node["id"] for node in nodes]
    assert len(ids) == len(set(ids))
    for kind, members in (
        ("state", [state for parser in artifact["parsers"] for state in parser["parse_states"]]),
        ("table", [table for pipeline in artifact["pipelines"] for table in pipeline["tables"]]),
        ("condition", [one for pipeline in artifact["pipelines"] for one in pipeline["conditionals"]]),
    ):
        assert sorted(node["name"] for node in nodes if node["kind"] == kind) == sorted(one["name"] for one in members)
    assert {step["to"] for node in nodes for step in node["next"]} <= {None, *ids}


@pytest.mark.parametrize("path", ARTIFACTS, ids=lambda path: path.stem)
def test_each_place_of_a_control_comes_before_those_it_leads_to(path):
    for section in program_map(json.loads(path.read_text())):
        if section["part"] == "parser":
            continue
        order = {node["id"]: index for index, node in enumerate(section["nodes"])}
        for node in section["nodes"]:
            assert all(order[step["to"]] > order[node["id"]] for step in node["next"] if step["to"])


def test_sections_stand_in_the_order_of_the_architecture():
    def names(path):
        return [section["name"] for section in program_map(json.loads((ROOT / path).read_text()))]

    assert names("p4src/build/phb.json") == [
        "parser", "verify checksums", "ingress", "queue", "egress", "update checksums", "deparser",
    ]  # fmt: skip
    assert names("switch/programs/psa/build/psa_paths.json") == [
        "ingress_parser", "ingress", "ingress_deparser", "queue", "egress_parser", "egress", "egress_deparser",
    ]  # fmt: skip
    made = [node for section in program_map(json.loads((ROOT / "p4src/build/phb.json").read_text()))
            for node in section["nodes"] if node.get("made")]  # fmt: skip
    assert len(made) > 100
    assert all(node["calls"] for node in made)
    assert names("switch/programs/pna/build/pna_nic.json")[0] == "main_parser"


def field(*names):
    return {"type": "field", "value": list(names)}


def operation(op, left, right, **more):
    return {"type": "expression", "value": {"op": op, "left": left, "right": right, **more}}


VALID = operation("d2b", None, field("x", "$valid$"))
DEEP = field("a", "b")
for _ in range(500):
    DEEP = operation("not", None, DEEP)


@pytest.mark.parametrize(
    ("expression", "text", "fields"),
    [
        (None, "", []),
        (operation("d2b", None, field("ipv4", "$valid$")), "ipv4.isValid()", ["ipv4.$valid$"]),
        (operation("==", field("a", "b"), {"type": "hexstr", "value": "0x1"}), "a.b == 0x1", ["a.b"]),
        (
            operation("and", VALID, operation(">", field("a", "b"), field("a", "c"))),
            "x.isValid() && (a.b > a.c)",
            ["x.$valid$", "a.b", "a.c"],
        ),
        (
            operation("?", field("a", "b"), field("a", "c"), cond=field("d", "e")),
            "d.e ? a.b : a.c",
            ["d.e", "a.b", "a.c"],
        ),
        (operation("not", None, field("a", "b")), "!a.b", ["a.b"]),
        ({"type": "bool", "value": True}, "true", []),
        ({"type": "local", "value": 3}, "3", []),
    ],
)  # fmt: skip
def test_expressions_are_written_as_p4_has_them(expression, text, fields):
    assert (text_of(expression), fields_of(expression)) == (text, fields)


def test_a_bottomless_expression_ends():
    assert text_of(DEEP).endswith("...)") or "..." in text_of(DEEP)
    assert fields_of(DEEP) == []
