import json
from pathlib import Path

import jsonschema
import pytest

from phb_lab import data_files, generated
from phb_lab.errors import UsageError
from phb_lab.report import document as documents


def test_a_document_holds_what_both_schemas_say(study, runs):
    document = json.loads(json.dumps(documents.document(study, runs, runs[:1])))
    jsonschema.validate(document, data_files.results_schema())
    jsonschema.validate(document, data_files.run_results_schema())
    assert document["tests"][1]["policies"] == {"c3640": ["examples/s390/c3640.yaml"]}
    assert document["assumptions"] == ["hosts answer at once", "no propagation delay"]
    assert document["figures"][1] == {
        "test": "fifo", "quantity": "interactive.avg", "unit": "s", "published": 4.73353, "measured": 4.57,
        "low": 4.26, "high": 5.21,
    }  # fmt: skip
    assert document["extra"][0]["figures"]["fifo ftp.avg"] == 10.02


def test_our_schema_says_no_less_than_the_least():
    least, ours = data_files.results_schema(), data_files.run_results_schema()
    assert set(least["required"]) <= set(ours["required"])
    for name, said in least["properties"].items():
        if name != "figures":
            assert ours["properties"][name] == said
    least_figure, our_figure = (schema["properties"]["figures"]["items"] for schema in (least, ours))
    assert our_figure["required"] == least_figure["required"]
    assert least_figure["properties"].items() <= our_figure["properties"].items()


@pytest.mark.parametrize("path", [Path("/elsewhere/own.yaml"), Path("own.yaml")], ids=["absolute", "relative"])
def test_a_policy_of_ones_own_is_named_as_given(path):
    assert documents.policy_name(path) == str(path)


def test_what_is_written_is_read_again(study, runs, tmp_path):
    path = tmp_path / "r.json"
    path.write_text(json.dumps(documents.document(study, runs, ())))
    read = documents.read(path)
    assert (read.network, read.mode, read.target, read.seed) == ("s390", "virtual", "phb-switch", 1)
    assert read.figures == tuple(figure for run in runs for figure in run.figures)


def least(**changes):
    figure = {"test": "t", "quantity": "q", "unit": "s", "measured": 1}
    document = {"network": "s390", "mode": "virtual", "seed": 1, "wall_s": 1, "simulated_s": 1, "figures": [figure]}
    return json.dumps(document | changes)


def test_the_least_document_is_enough(tmp_path):
    path = tmp_path / "r.json"
    path.write_text(least())
    jsonschema.validate(json.loads(least()), data_files.results_schema())
    assert documents.read(path).figures[0].published is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "r.json: No such file or directory"),
        ("", "r.json:1: Expecting value, expected JSON"),
        ('{\n"a": }', "r.json:2: Expecting value, expected JSON"),
        ("[" * 100_000, "r.json: nested too deep, expected results of phb-lab run --json"),
        (b"\xff\xfe", "r.json: found bytes that are no text, expected JSON"),
        (least().replace("1", "NaN", 1), "r.json: found NaN, expected a number"),
        ("[1]", "r.json: found a list, expected results of phb-lab run --json"),
        ("null", "r.json: found null, expected results of phb-lab run --json"),
        ("{}", "r.json: figures: found nothing, expected a list"),
        (least(network=3), "r.json: network: found a number, expected a text"),
        (least(seed=True), "r.json: seed: found true, expected a whole number"),
        (least(figures=[1]), "r.json: figures[0]: found a number, expected an object"),
        (least(figures=[{"test": "t"}]), "r.json: figures[0].quantity: found nothing, expected a text"),
        (
            least(figures=[{"test": "t", "quantity": "q", "unit": "s", "measured": "1"}]),
            "r.json: figures[0].measured: found a text, expected a number",
        ),
        (
            least(figures=[{"test": "t", "quantity": "q", "unit": "s", "measured": 1, "published": {}}]),
            "r.json: figures[0].published: found an object, expected a number",
        ),
    ],
)
def test_a_bad_file_is_one_message(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    if isinstance(text, bytes):
        Path("r.json").write_bytes(text)
    elif text is not None:
        Path("r.json").write_text(text)
    with pytest.raises(UsageError) as caught:
        documents.read(Path("r.json"))
    assert str(caught.value) == message


def test_a_generated_policy_is_named_without_the_folder_that_changes():
    assert documents.policy_name(generated.write("buffers-holes-6.yaml", "phb: 1\n")) == "buffers-holes-6.yaml"
