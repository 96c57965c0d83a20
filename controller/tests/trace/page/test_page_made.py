"""The page as text: nothing in it ends early or comes from elsewhere; what is left out is said."""

import json
import re
from pathlib import Path

import pytest

from phb.errors import InputError
from phb.trace import page as module
from phb.trace.page import page, read_program, told_in

ROUTER = Path(__file__).parents[4] / "switch/programs/build/router.json"


def data_of(text):
    return json.loads(told_in(text))


def test_the_page_holds_its_traces(traces):
    assert data_of(page(traces))["traces"] == traces


def test_hostile_text_ends_no_element(hostile):
    text = page([hostile], title="</title><script>")
    assert text.count("<script") == 2
    assert text.count("</script") == 2
    assert "<img" not in text
    assert data_of(text)["traces"] == [json.loads(json.dumps(hostile))]


def test_nothing_comes_from_elsewhere(traces):
    text = page(traces)
    assert "default-src 'none'" in text
    assert re.findall(r"\b(?:src|href)=\"([^\"]*)\"", text) == ["#program"]
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function", text)


def test_what_has_no_room_is_counted(traces, monkeypatch):
    monkeypatch.setattr(module, "MOST_TRACES", 2)
    assert data_of(page(traces))["left_out"] == 2
    monkeypatch.setattr(module, "MOST_BYTES", len(json.dumps(traces[0], separators=(",", ":"))))
    assert [trace["number"] for trace in data_of(page(traces))["traces"]] == [1]


def test_the_same_traces_give_the_same_bytes(traces):
    assert page(traces) == page(traces)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{", "no JSON"),
        ("[]", "no member pipelines"),
        ('{"pipelines":[{"tables":[{}]}]}', "members of another shape"),
        ('{"pipelines":7}', "members of another shape"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_what_is_no_artifact_is_refused_with_its_name(tmp_path, text, found):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(InputError, match=found) as raised:
        read_program(path)
    assert str(path) in str(raised.value)


def test_an_artifact_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        read_program(tmp_path / "none.json")


def test_lines_of_the_policy_stand_beside_entries(traces):
    table = traces[0]["steps"][8]["table"]
    made = module.Page()
    made.add(traces[0], {id(table["hit"]): "p.yaml:3 rule a", id(table["others"][0]): "p.yaml:9 rule b"})
    (trace,) = data_of(made.text())["traces"]
    told = trace["steps"][8]["table"]
    assert (told["hit"]["policy"], told["others"][0]["policy"]) == ("p.yaml:3 rule a", "p.yaml:9 rule b")
    assert "policy" not in table["hit"]


def test_a_likely_program_is_shown_if_packets_passed_nothing_else(traces):
    program = read_program(ROUTER)
    made = module.Page(likely=program)
    made.add(traces[0])
    assert data_of(made.text())["sections"] == program
    made.add({"steps": [{"table": {"name": "another"}}]})
    assert data_of(made.text())["sections"] == []
