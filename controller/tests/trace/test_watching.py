"""Traces from a switch: a server that answers as told, and what the command makes of it."""

import json
import threading
from concurrent import futures

import grpc
import pytest
from made_up_traces import DROPPED, TRACE, message

from phb.cli import run
from phb.trace.messages import PACKAGE, TraceMessage, WatchRequest, WatchResponse
from phb_p4 import artifact_path
from phb_switch import P4RuntimeServer, PortConfig, Switch

ANSWERS = [
    WatchResponse(started={"artifact_sha256": "ab"}),
    *(WatchResponse(trace=message(trace, TraceMessage())) for trace in (TRACE, DROPPED)),
]


class FakeTracing(grpc.GenericRpcHandler):
    """Gives `answers`, then ends as `ending` does."""

    def __init__(self):
        self.answers = ANSWERS
        self.ending = lambda context: None
        self.asked = []

    def service(self, details):
        if details.method != f"/{PACKAGE}.Tracing/Watch":
            return None
        return grpc.unary_stream_rpc_method_handler(
            self._watch, WatchRequest.FromString, lambda response: response.SerializeToString()
        )

    def _watch(self, request, context):
        self.asked.append((request.filter, request.count, request.frame_bytes))
        yield from self.answers
        self.ending(context)


@pytest.fixture
def switch():
    fake = FakeTracing()
    server = grpc.server(futures.ThreadPoolExecutor(2))
    server.add_generic_rpc_handlers((fake,))
    fake.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    yield fake
    server.stop(None).wait()


def test_until_so_many_have_come(switch, capsys):
    options = ["--filter", "tcp", "--count", "2", "--frame-bytes", "60", "--json"]
    assert run(["trace", "--grpc", switch.address, *options]) == 0
    shown = capsys.readouterr()
    assert [json.loads(line) for line in shown.out.splitlines()] == [TRACE, DROPPED]
    assert shown.err == f"{switch.address}: packets from now on\n"
    assert switch.asked == [("tcp", 2, 60)]


def test_an_inventory_names_the_switch(switch, write_file, capsys):
    inventory = write_file(
        "network.yaml",
        f"phb-inventory: 1\nswitches:\n  - {{name: edge, address: '{switch.address}', policies: [p.yaml]}}\n",
    )
    assert run(["trace", "--inventory", inventory, "--switch", "edge", "--count", "2", "--brief"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "8. a copy of 7 -> dropped: unknown_port"


@pytest.mark.parametrize(
    ("ending", "code", "words"),
    [
        (lambda context: None, 1, "the switch ended the call"),
        (
            lambda context: context.abort(grpc.StatusCode.INVALID_ARGUMENT, "at 1 found 'tpc', expected tcp"),
            2,
            "--filter: found 'x', expected a filter of packets: at 1 found 'tpc', expected tcp",
        ),
        (lambda context: context.abort(grpc.StatusCode.UNIMPLEMENTED, "?"), 1, "the switch tells no traces"),
        (
            lambda context: context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "8 watch already"),
            1,
            "the switch refused: RESOURCE_EXHAUSTED: 8 watch already",
        ),
    ],
)
def test_how_it_may_end(switch, capsys, ending, code, words):
    switch.answers, switch.ending = ANSWERS[:1], ending
    assert run(["trace", "--grpc", switch.address, "--filter", "x"]) == code
    assert words in capsys.readouterr().err


def test_a_switch_that_never_begins(switch, capsys):
    switch.answers, switch.ending = [], _wait
    assert run(["trace", "--grpc", switch.address, "--timeout", "0.3"]) == 1
    assert "no answer to Watch within 0.3 s (--timeout)" in capsys.readouterr().err


def _wait(context):
    ended = threading.Event()
    context.add_callback(ended.set)
    ended.wait(60)


def test_a_switch_that_is_not_there(capsys):
    assert run(["trace", "--grpc", "127.0.0.1:1", "--timeout", "5"]) == 1
    assert "127.0.0.1:1: the switch can't be reached" in capsys.readouterr().err


def test_a_switch_without_traces(capsys):
    server = grpc.server(futures.ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        assert run(["trace", "--grpc", f"127.0.0.1:{port}"]) == 1
        assert "the switch tells no traces (phb-switch does)" in capsys.readouterr().err
    finally:
        server.stop(None).wait()


@pytest.mark.parametrize("options", [["--grpc", "127.0.0.1:1"], ["--filter", "tcp"], ["--count", "3"]])
def test_a_file_is_no_switch(write_file, capsys, options):
    path = write_file("t.jsonl", "")
    assert run(["trace", path, *options]) == 2
    assert capsys.readouterr().err.startswith(f"phb: {options[0]}: found a file of traces ({path}), too")


def test_a_real_switch(capsys):
    """Frames keep coming while the command watches three of those that its filter wants."""
    switch = Switch("edge", {1: PortConfig(), 2: PortConfig()})
    switch.load(artifact_path().read_text())
    server = P4RuntimeServer(switch, device_id=1)
    ended = threading.Event()

    def send():
        now = 0
        while not ended.wait(0.01):
            for length in (60, 61):
                now += 1_000_000
                switch.process(1, bytes(12) + b"\x08\x00" + bytes(length - 14), now)

    sender = threading.Thread(target=send)
    address = f"127.0.0.1:{server.start()}"
    sender.start()
    try:
        assert run(["trace", "--grpc", address, "--filter", "dropped", "--count", "3", "--brief"]) == 0
        assert run(["trace", "--grpc", address, "--filter", "tpc"]) == 2
    finally:
        ended.set()
        sender.join()
        server.stop()
    shown = capsys.readouterr()
    assert [line.partition(", in 1 -> ")[2] for line in shown.out.splitlines()] == ["dropped: bad checksum"] * 3
    assert "--filter: found 'tpc', expected a filter of packets: character 1: " in shown.err
