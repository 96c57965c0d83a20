"""Pages of runs and of recordings, over HTTP."""

import json
import re
import signal
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

from phb.monitor.live.recording import read_recording
from phb_lab.live import serving

BEGAN = 946_900_800_000


def get(url):
    with urllib.request.urlopen(url, timeout=30) as answer:
        return answer.read().decode()


def told(url, count=None, kinds=()):
    """The first messages of a stream: so many, or until all of these kinds have come."""
    found = []
    with urllib.request.urlopen(url, timeout=30) as answer:
        for line in answer:
            if line.startswith(b"data: "):
                found.append(json.loads(line[6:]))
                if len(found) == count or (kinds and {each["kind"] for each in found} >= kinds):
                    return found
    raise AssertionError(f"the stream ended after {found}")


@pytest.fixture
def looking(monkeypatch):
    """Runs `look` with the page's address where a user would press Ctrl-C, and gives what it gave."""
    seen = []
    serve = serving.serving

    @contextmanager
    def watched(*arguments):
        with serve(*arguments) as address:
            seen.append(address)
            yield address

    def with_look(look):
        given = []
        monkeypatch.setattr(serving, "stay", lambda: given.append(look(seen[-1])))
        return given

    monkeypatch.setattr(serving, "serving", watched)
    monkeypatch.setattr("sys.stdin", type("Terminal", (), {"isatty": staticmethod(lambda: True)}))
    return with_look


def whole(address):
    """What a page asks for to show a recording: its document, how the stream begins, all lines."""
    (hello,) = told(f"{address}events", 1)
    lines = get(f"{address}recording").splitlines()
    return get(address), hello, [json.loads(line) for line in lines]


def test_when_the_run_has_ended_the_page_has_all_of_it(call, office, looking):
    given = looking(whole)
    code, _, errors = call("run", office, "--duration", "4", "--live", "--record", "r.jsonl")
    assert code == 0, errors
    assert re.search(r"^page: http://127\.0\.0\.1:[0-9]+/$", errors, re.MULTILINE)
    assert "the page stays, with the whole run: " in errors
    document, hello, lines = given[0]
    assert document.startswith("<!doctype html>")
    assert hello["recording"] == {"first": BEGAN, "last": BEGAN + 9_000}
    assert lines[0] == {**hello, "now": lines[0]["now"]}
    recording = read_recording(Path("r.jsonl"))
    assert lines[1:] == [json.loads(line) for line in recording.lines]
    assert hello["recording"] == recording.hello["recording"]


def test_with_live_end_the_page_ends_with_the_run(call, office, looking):
    given = looking(whole)
    code, _, errors = call("run", office, "--test", "fifo", "--duration", "4", "--live", "--live-end")
    assert (code, given, "the page stays" in errors) == (0, [], False)


def test_a_recording_is_shown_again(call, office, looking, tmp_path):
    call("run", office, "--duration", "4", "--record", "r.jsonl.gz")
    given = looking(lambda address: (whole(address), whole(address)))
    code, output, _ = call("replay", "r.jsonl.gz")
    assert code == 0
    assert re.fullmatch(r"page: http://127\.0\.0\.1:[0-9]+/ \(Ctrl-C ends it\)\n", output)
    first, second = given[0]
    assert first == second
    _, hello, lines = first
    recording = read_recording(Path("r.jsonl.gz"))
    assert (hello["recording"], hello["title"]) == (recording.hello["recording"], f"phb-lab run {office}, seed 1")
    assert lines == [hello, *(json.loads(line) for line in recording.lines)]

    code, output, _ = call("replay", "r.jsonl.gz", "--page", "r.html")
    assert (code, output) == (0, "page: r.html\n")
    assert (tmp_path / "r.html").read_text().startswith("<!doctype html>")


def test_a_recording_that_is_cut_off_is_shown_up_to_there(call, office, tmp_path):
    call("run", office, "--test", "fifo", "--duration", "4", "--record", "r.jsonl")
    (tmp_path / "r.jsonl").write_bytes((tmp_path / "r.jsonl").read_bytes()[:-10])
    code, _, errors = call("replay", "r.jsonl", "--page", "r.html")
    assert (code, errors) == (0, "r.jsonl:8: it is cut off here, and shown up to here\n")


def test_a_run_is_seen_while_it_runs_and_can_be_stopped(office, tmp_path):
    command = [sys.executable, "-m", "phb_lab", "run", office, "--live", "--pace", "2", "--record", "r.jsonl.gz"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    with process:
        try:
            (address,) = re.findall(r"http://\S+", next(line for line in process.stderr if "http" in line))
            hello, *others = told(f"{address}events?switch=router", kinds={"tick", "event", "mark", "detail"})
            assert hello["kind"] == "hello"
            assert "recording" not in hello
            # Ticks may come between them: a push takes its time.
            begun, mark, *_ = (each for each in others if each["kind"] in ("event", "mark"))
            assert (begun["message"], mark["kind"]) == ("fifo: one queue", "mark")
            asked = f"{address}api/switches/router"
            policy = json.loads(get(f"{asked}/policy"))
            assert [Path(each["path"]).name for each in policy["files"]] == ["router.yaml", "fifo.yaml"]
            assert [each["port"] for each in json.loads(get(f"{asked}/queues"))["ports"]] in ([2], [1, 2])
            packet = "tcp+10.0.2.1:1500+%3E+10.0.1.1:700+in+wan"
            assert "lan" in get(f"{address}api/explain?switch=router&packet={packet}")
            process.send_signal(signal.SIGINT)
            errors = process.stderr.read()
            assert process.wait(timeout=30) == 130
        finally:
            process.kill()
    assert errors.splitlines()[-1] == "phb-lab: interrupted"
    assert "Traceback" not in errors
    recording = read_recording(tmp_path / "r.jsonl.gz")
    assert recording.cut_at == 0
    assert len(recording.lines) > 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--listen", "127.0.0.1:0"], "--listen: found no --live, expected it, too"),
        (["--pace", "2"], "--pace: found no --live, expected it, too"),
        (["--live-end"], "--live-end: found no --live, expected it, too"),
        (["--live", "--mode", "mininet"], "--live: switches are watched in virtual time only"),
        (["--live", "--listen", "here"], "--listen: found 'here', expected HOST:PORT"),
        (
            ["--live", "--listen", "0.0.0.0:0"],
            "--listen: found '0.0.0.0:0', which others can reach, expected an address of",
        ),
    ],
)
def test_where_it_cannot_be_shown(call, office, tmp_path, options, message):
    (tmp_path / "r.jsonl").write_text("another")
    code, _, errors = call("run", office, *options, "--record", "r.jsonl")
    assert (code, message in errors) == (2, True), errors
    assert (tmp_path / "r.jsonl").read_text() == "another"


def test_a_port_that_is_taken(call, office, looking):
    call("run", office, "--test", "fifo", "--duration", "4", "--record", "r.jsonl")
    given = looking(lambda address: call("replay", "r.jsonl", "--listen", address.split("/")[2]))
    code, _, _ = call("replay", "r.jsonl")
    assert code == 0
    ((code, _, errors),) = given
    assert code == 2
    assert "Address already in use" in errors or "address already in use" in errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none"], "none: found No such file or directory, expected a recording"),
        (["r", "--page", "x", "--listen", "127.0.0.1:0"], "--page and --listen: expected one of them"),
        (["r", "--page", "."], "--page .: found a folder, expected a file"),
        (["r"], "r:1: found another beginning, expected a recording"),
    ],
)
def test_what_cannot_be_replayed(call, tmp_path, arguments, message):
    (tmp_path / "r").write_text("x\n")
    code, _, errors = call("replay", *arguments)
    assert (code, message in errors) == (2, True), errors
