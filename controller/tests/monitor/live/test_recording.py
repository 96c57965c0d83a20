"""Recordings: what is written comes back, and what is none is refused with file and line."""

import gzip
import json

import pytest
from made_up import BEGAN_NS, observations

from phb.errors import InputError
from phb.monitor.live import Live
from phb.monitor.live.recording import Recorder, read_recording
from phb.monitor.observation import Event, EventKind

BEGAN = BEGAN_NS / 1e6
NAME = "edge\n</script>"
EDGE = {"name": NAME, "address": "192.0.2.1:9559", "groups": []}
MARK = {
    "kind": "mark",
    "t": BEGAN - 500,
    "switch": NAME,
    "number": 1,
    "command": "push",
    "user": "root",
    "outcome": "applied",
    "inserted": 1,
    "modified": 0,
    "deleted": 0,
}


def record(path):
    recorder = Recorder(path)
    live = Live([EDGE], clock_ns=lambda: BEGAN_NS, record=recorder.write)
    live.mark(MARK)
    live.happened(Event(BEGAN_NS, "", EventKind.TEST, "one: first"))
    for each in observations(3, switch=NAME):
        live.take(each)
    live.follow([{**EDGE, "name": "core"}])
    recorder.close()
    return path


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    return record(tmp_path_factory.mktemp("r") / "r.jsonl").read_bytes().splitlines()


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz"])
def test_what_is_recorded_is_read(tmp_path, name):
    path = record(tmp_path / name)
    recording = read_recording(path)
    assert recording.hello["recording"] == {"first": BEGAN - 500, "last": BEGAN + 2000}
    assert [each["name"] for each in recording.hello["switches"]] == [NAME, "core"]
    told = [json.loads(line) for line in recording.lines]
    assert [each["kind"] for each in told] == ["mark", "event", "detail", "detail", "detail"]
    assert told[-1]["classes"]["class-1"]["pps"] == 100
    assert [each["packets"] for each in told[-1]["policies"]] == [220, 420, 620]
    assert recording.cut_at == 0
    assert path.read_bytes() == record(tmp_path / f"again-{name}").read_bytes()


def changed(line, **fields):
    return json.dumps(json.loads(line) | fields).encode()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda lines: [], "r: found no whole line, expected a recording"),
        (lambda lines: [b"phb: 1"], "r:1: found another beginning, expected a recording, of phb-lab run --record"),
        (lambda lines: [b"\xff\x00"], "r:1: found another beginning"),
        (lambda lines: lines[1:], "r:1: found another beginning"),
        (lambda lines: [changed(lines[0], version=2)], "r:1: found version 2, expected version 1"),
        (lambda lines: [changed(lines[0], version="\x1b[2J")], r"r:1: found version \x1b[2J, expected version 1"),
        (lambda lines: [changed(lines[0], links=[{"a": [], "b": []}])], "r:1: found something else at links.0.a, "),
        (
            lambda lines: [*lines[:3], b""],
            "r:4: found something else, expected a message in JSON, whose kind is one of",
        ),
        (lambda lines: [*lines[:3], b"{]"], "r:4: found something else"),
        (lambda lines: [*lines[:3], b"[" * 100_000], "r:4: found something else"),
        (lambda lines: [*lines[:3], b'{"kind": "tick"}'], "r:4: found something else"),
        (lambda lines: [*lines[:3], b'{"kind": []}'], "r:4: found something else"),
        (lambda lines: [lines[0], changed(lines[1], t="1")], "r:2: found something else at t, expected a number"),
        (lambda lines: [lines[0], lines[1].replace(b'"inserted":1', b'"inserted":NaN')], "r:2: found something else"),
        (
            lambda lines: [lines[0], lines[1].replace(b'"inserted":1', b'"inserted":1.5')],
            "at inserted, expected a whole",
        ),
        (lambda lines: [lines[0], lines[1].replace(b'"t":', b'"t":1e999,"u":')], "at t, expected a number"),
        (lambda lines: [lines[0], lines[1].replace(b'"number":1,', b"")], "at number, expected it to be there"),
        (
            lambda lines: [lines[0], lines[3].replace(b'"bps":', b'"bps":null,"x":', 1)],
            "at ports.lan.bps, expected a n",
        ),
        (lambda lines: lines * 40, "expected less: record fewer tests, or at longer intervals"),
    ],
)
def test_what_is_no_recording(tmp_path, monkeypatch, lines, wrong, message):
    monkeypatch.chdir(tmp_path)
    text = b"".join(line + b"\n" for line in wrong(lines))
    for packed in (text, gzip.compress(text)):
        (tmp_path / "r").write_bytes(packed)
        with pytest.raises(InputError) as caught:
            read_recording(tmp_path.joinpath("r").relative_to(tmp_path), most_bytes=130_000)
        assert message in str(caught.value)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="found No such file or directory, expected a recording"):
        read_recording(tmp_path / "none")
    with pytest.raises(InputError, match="found Is a directory"):
        read_recording(tmp_path)
    (tmp_path / "damaged.gz").write_bytes(gzip.compress(b"x")[:10] + b"\xff" * 40)
    with pytest.raises(InputError, match="gz:1: found damaged data, expected a recording that gzip packed"):
        read_recording(tmp_path / "damaged.gz")


@pytest.mark.parametrize("name", ["r.jsonl", "r.jsonl.gz"])
def test_a_recording_that_is_cut_off_is_read_up_to_there(tmp_path, name):
    path = record(tmp_path / name)
    path.write_bytes(path.read_bytes()[:-100])
    recording = read_recording(path)
    assert recording.cut_at == len(recording.lines) + 2
    assert all(json.loads(line) for line in recording.lines)
