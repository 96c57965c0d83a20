import json

import pytest

from phb_lab.cli import compare as command
from phb_lab.report.document import ResultsFile


def write(path, measured, **figure):
    figures = [{"test": "t", "quantity": "i.avg", "unit": "s", "measured": measured, "published": 2.0} | figure]
    document = {"network": "s390", "mode": "virtual", "seed": 1, "wall_s": 1, "simulated_s": 1, "figures": figures}
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["a.json", "b.json"], 0, "B: b.json"),
        (["a.json", "b.json", "--within", "25%"], 0, "1 of 1 figures within 25%"),
        (["a.json", "b.json", "--within", "10%"], 1, "0 of 1 figures within 10%; not: t i.avg"),
        (["a.json", "b.json", "--within", "10", "--only", "i.*"], 1, "differs"),
        (["a.json"], 0, "0 of 1 published figures within 25%"),
        (["a.json", "--within", "40%"], 1, "0 of 1 figures within 40%; not: t i.avg"),
        (["a.json", "--within", "50%"], 0, "1 of 1 figures within 50%"),
        (["a.json", "--check"], 1, "t i.avg: found 1.000, asked is ≥ 1.100"),
        (["b.json", "--check"], 0, "met"),
    ],
)
def test_the_exit_code_says_whether_they_agree(call, tmp_path, arguments, code, told):
    write(tmp_path / "a.json", 1.0, low=1.1)
    write(tmp_path / "b.json", 1.2, low=1.1)
    found, out, err = call("compare", *arguments)
    assert (found, err) == (code, "")
    assert told in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.json"], "phb-lab: none.json: found neither such a file nor such a network, expected one of: s390"),
        (["bad.json"], "phb-lab: bad.json:1: "),
        (["a.json", "other.json"], "phb-lab: other.json: found network osa, expected s390 as in a.json"),
        (["a.json", "--within", "x"], "phb-lab: --within x: expected a percentage such as 25%"),
        (["a.json", "--only", "x"], "phb-lab: --only x: found no such quantity"),
        (["s390", "a.json"], "phb-lab: a.json: found a second argument"),
        (["."], "phb-lab: .: Is a directory"),
    ],
)
def test_what_is_wrong_is_one_line_and_exit_code_2(call, tmp_path, arguments, message):
    write(tmp_path / "a.json", 1.0)
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "other.json").write_text((tmp_path / "a.json").read_text().replace("s390", "osa"))
    code, out, err = call("compare", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(message)
    assert err.count("\n") == 1


def test_json_has_each_value_and_ratio(call, tmp_path):
    write(tmp_path / "a.json", 1.0)
    write(tmp_path / "b.json", 1.2)
    code, out, _ = call("compare", "a.json", "b.json", "--json", "--within", "10%")
    assert code == 1
    assert json.loads(out)["figures"] == [
        {
            "test": "t",
            "quantity": "i.avg",
            "unit": "s",
            "published": 2.0,
            "measured": [1.0, 1.2],
            "ratios": [1.2],
            "differs": True,
        }
    ]


def test_a_network_is_run_and_compared_with_the_source(call, monkeypatch, figures_of_s390):
    def run(name, seed, short):
        assert (name, seed, short) == ("s390", 7, True)
        return "s390: 8 tests", [ResultsFile(command.Path(name), name, "virtual", "phb-switch", seed, figures_of_s390)]

    monkeypatch.setattr(command, "_run", run)
    code, out, _ = call("compare", "s390", "--seed", "7", "--short", "--check")
    assert code == 1
    assert "s390: 8 tests" in out
    assert "interactive.avg" in out
