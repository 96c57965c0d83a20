"""Real switches in processes of their own, and a proxy before one of them that sees every write."""

import contextlib
import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent import futures
from dataclasses import dataclass, field

import grpc
import pytest
from finsy.proto import p4r


def _bmv2_starts() -> bool:
    name = "simple_switch_grpc"
    return shutil.which(name) is not None and not subprocess.run([name, "--help"], capture_output=True).returncode


BMV2 = pytest.mark.skipif(not _bmv2_starts(), reason="simple_switch_grpc is not on the PATH, or doesn't start")
TARGETS = [pytest.param("phb-switch"), pytest.param("bmv2", marks=BMV2)]
START_S = 30


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def running(target: str, interfaces: tuple[str, ...] = ()) -> Iterator[str]:
    """A switch with device id 1; gives its address."""
    ports = [part for interface in interfaces for part in ("-i", interface)]
    if target == "phb-switch":
        command = [sys.executable, "-m", "phb_switch", "--no-p4", "--json", "--device-id", "1", *ports]
        command += ["--cpu-port", "510", "--grpc-server-addr", "127.0.0.1:0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            try:
                yield json.loads(process.stdout.readline())["grpc_server_addr"]
            finally:
                process.terminate()
        return
    address = f"127.0.0.1:{free_port()}"
    command = ["simple_switch_grpc", "--no-p4", "--device-id", "1", *ports]
    # Two of them can't have the same one, and not every build has any.
    if "--thrift-port" in subprocess.run([command[0], "--help"], capture_output=True, text=True, check=False).stdout:
        command += ["--thrift-port", str(free_port())]
    command += ["--", "--cpu-port", "510", "--priority-queues", "8", "--grpc-server-addr", address]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            with grpc.insecure_channel(address) as channel:
                grpc.channel_ready_future(channel).result(START_S)
            yield address
        finally:
            process.terminate()


@dataclass
class Proxy:
    """Passes P4Runtime on, byte for byte.

    Attributes:
        before: Called before the n-th write with updates in it is passed on, from 1.
        after: Called after the switch has applied it, before the controller hears so.
    """

    upstream: str
    before: Callable[[int], None] = lambda number: None
    after: Callable[[int], None] = lambda number: None
    writes: int = 0
    address: str = ""
    _stop: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __enter__(self) -> "Proxy":
        channel = self._stop.enter_context(
            grpc.insecure_channel(self.upstream, options=[("grpc.max_receive_message_length", -1)])
        )
        server = grpc.server(futures.ThreadPoolExecutor(8), options=[("grpc.max_receive_message_length", -1)])
        server.add_generic_rpc_handlers([_Handler(self, channel)])
        self.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        server.start()
        self._stop.callback(lambda: server.stop(None).wait())
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.close()


class _Handler(grpc.GenericRpcHandler):
    def __init__(self, proxy: Proxy, channel: grpc.Channel) -> None:
        self.proxy, self.channel = proxy, channel

    def service(self, details):
        method = details.method
        if method.endswith("StreamChannel"):
            return grpc.stream_stream_rpc_method_handler(self._streams(method))
        if method.endswith("Read"):
            return grpc.unary_stream_rpc_method_handler(self._stream(method))
        return grpc.unary_unary_rpc_method_handler(self._unary(method))

    def _streams(self, method):
        def handle(requests, context):
            call = self.channel.stream_stream(method)(requests)
            context.add_callback(call.cancel)
            with contextlib.suppress(grpc.RpcError):
                yield from call

        return handle

    def _stream(self, method):
        def handle(request, context):
            with _passed_on(context):
                yield from self.channel.unary_stream(method)(request)

        return handle

    def _unary(self, method):
        def handle(request, context):
            counted = method.endswith("Write") and bool(p4r.WriteRequest.FromString(request).updates)
            if counted:
                self.proxy.writes += 1
                self.proxy.before(self.proxy.writes)
            with _passed_on(context):
                answer = self.channel.unary_unary(method)(request)
                if counted:
                    self.proxy.after(self.proxy.writes)
                return answer

        return handle


@contextlib.contextmanager
def _passed_on(context):
    try:
        yield
    except grpc.RpcError as error:
        context.set_trailing_metadata(tuple(error.trailing_metadata() or ()))
        context.abort(error.code(), error.details())


def until(condition: Callable[[], bool], seconds: float = START_S) -> None:
    """Wait for something that happens soon."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it didn't happen"
        time.sleep(0.01)
