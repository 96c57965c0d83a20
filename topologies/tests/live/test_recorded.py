"""Runs that are recorded: what is in the recording, and that the run is what it is without."""

import json
import re
from pathlib import Path

import pytest

from phb.monitor.live.recording import read_recording

BEGAN = 946_900_800_000  # a Monday in 2000, at noon


def recorded(call, office, *options):
    code, _, errors = call("run", office, "--duration", "4", "--record", "r.jsonl.gz", *options)
    assert (code, "phb-lab: " in errors) == (0, False), errors
    recording = read_recording(Path("r.jsonl.gz"))
    return recording, [json.loads(line) for line in recording.lines]


@pytest.fixture
def documents(call, office, tmp_path):
    def get(seed, *options):
        code, _, _ = call("run", office, "--duration", "4", "--seed", str(seed), "--json", "r.json", *options)
        assert code == 0
        return re.sub(r'"wall_s": [0-9.e-]+', "", (tmp_path / "r.json").read_text())

    return get


def test_tests_follow_each_other_on_one_axis(call, office):
    recording, told = recorded(call, office)
    assert recording.hello["recording"] == {"first": BEGAN, "last": BEGAN + 9_000}
    assert recording.hello["switches"] == [{"name": "router", "address": "in virtual time", "groups": []}]
    begun = [(each["t"] - BEGAN, each["message"]) for each in told if each["kind"] == "event"]
    assert begun == [(0, "fifo: one queue"), (5_000, "priority: terminals first")]
    pushes = [each for each in told if each["kind"] == "mark"]
    assert [(each["t"] - BEGAN, each["number"], each["switch"]) for each in pushes] == [
        (0, 1, "router"),
        (5_000, 2, "router"),
    ]
    assert all(each["outcome"] == "applied" and each["inserted"] > 3 for each in pushes)
    details = [each for each in told if each["kind"] == "detail"]
    assert [each["t"] - BEGAN for each in details] == [1_000 * second for second in range(10)]
    assert [each["seconds"] for each in details] == [0, 1, 1, 1, 1] * 2
    line = details[4]["ports"]["wan"]
    assert line["speed"] == 1_000_000
    assert 900_000 < line["bps"] < 1_100_000
    assert details[0]["ports"]["wan"]["bps"] == 0
    assert "interactive" in details[9]["classes"]


def test_looks_at_other_moments(call, office):
    recording, told = recorded(call, office, "--test", "fifo", "--every", "0.5")
    assert recording.hello["interval"] == 0.5
    assert [each["seconds"] for each in told if each["kind"] == "detail"] == [0, *[0.5] * 8]


@pytest.mark.parametrize("seed", [1, 7])
def test_a_run_is_the_same_whoever_looks_on(documents, seed):
    alone = documents(seed)
    assert documents(seed, "--record", "r.jsonl") == alone
    assert documents(seed, "--record", "s.jsonl", "--every", "0.3") == alone


def test_the_same_seed_gives_the_same_recording(call, office, tmp_path):
    for name in ("a.gz", "b.gz"):
        call("run", office, "--test", "priority", "--duration", "2", "--record", name)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (
            ["--every", "2"],
            2,
            "--every: nothing looks at switches; expected --live, --record, --levels or --objectives",
        ),
        (["--record", "r", "--mode", "mininet"], 2, "--record: switches are watched in virtual time only; expected no"),
        (["--record", "."], 2, "--record .: found a folder, expected a file"),
        (["--record", "/dev/full"], 2, "/dev/full: No space left on device"),
        (["--record", "r", "--policy", "router=none.yaml"], 2, "none.yaml: found "),
    ],
)
def test_what_cannot_be(call, office, options, code, message):
    found, _, errors = call("run", office, "--duration", "60", *options)
    assert found == code
    assert message in errors.replace("\n", " ")
    assert "Traceback" not in errors
