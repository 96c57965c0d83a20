"""Runs a file on bmv2: entries over P4Runtime, packets over its data plane's gRPC, without interfaces or root."""

import queue
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import grpc
from finsy.proto import p4i

from phb_switch.stf.client import Client, RefusedError, UnreachableError
from phb_switch.stf.p4runtime import P4Runtime
from phb_switch.stf.runner import RunResult, run_on
from phb_switch.stf.statements import Statement

COMMAND = "simple_switch_grpc"
_DEVICE = 1
# bmv2 runs by the clock: waits for a packet's first frame (on a busy machine), for its next ones, which may also come
# late, and after the last packet.
_FIRST_S = 0.3
_QUIET_S = 0.02
_REST_S = 0.5
_START_S = 30
_ATTEMPTS = 3
_PACKET_STREAM = "/p4.bm.DataplaneInterface/PacketStream"
# Its log of a program that it accepted and doesn't run.
_NOT_LOADED = re.compile(r"^(Invalid |Unknown primitive|bad json).*", re.MULTILINE)

# Programs that crash every bmv2, and those that crash one built for speed, whose sources leave out the check.
FAILS = {
    "hash_random": "bmv2 has no hash algorithm `random` and ends with a segmentation fault",
}
FAILS_UNCHECKED = dict.fromkeys(
    ["counters", "registers"],
    "this bmv2 was built with NDEBUG and checks no index: beyond the end of an array it ends with a segmentation fault",
)
# Part of every message of that check.
_CHECK = b"at out-of-bounds index"


def failing(command: str = COMMAND) -> dict[str, str]:
    """Our programs that crash this bmv2, and why."""
    executable = shutil.which(command)
    assert executable is not None
    linked = subprocess.run(["ldd", executable], capture_output=True, text=True, check=False).stdout
    files = [executable, *re.findall(r"=> (/\S+)", linked)]
    return FAILS if any(_CHECK in Path(file).read_bytes() for file in files) else FAILS | FAILS_UNCHECKED


Result = TypeVar("Result")


def _with_a_new_one(what: Callable[[], Result]) -> Result:
    """Retries with another bmv2 if one can't be reached: its free ports may be taken before it opens them."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return what()
        except UnreachableError:
            continue
    return what()


def load(artifact: str, info: p4i.P4Info) -> None:
    """Loads a program into a bmv2; RefusedError if it refuses program or p4info, or logs that it doesn't run it."""

    def once() -> None:
        with _running() as (client, log, _):
            _configure(client, log, artifact, info)

    _with_a_new_one(once)


def run(artifact: str, info: p4i.P4Info, statements: Sequence[Statement]) -> RunResult:
    """Runs a file's statements on a bmv2 with a program; RefusedError as for `load`."""

    def once() -> RunResult:
        with _running() as (client, log, address):
            _configure(client, log, artifact, info)
            with _Ports(address) as ports:
                return run_on(ports, P4Runtime(client, info), statements)

    return _with_a_new_one(once)


def _configure(client: Client, log: Path, artifact: str, info: p4i.P4Info) -> None:
    client.load(info, artifact.encode())
    told = _NOT_LOADED.search(log.read_text(errors="replace"))
    if told is not None:
        raise RefusedError(told[0])


@contextmanager
def _running() -> Iterator[tuple[Client, Path, str]]:
    """A bmv2 without a program: a controller, its log, and the address for packets."""
    with tempfile.TemporaryDirectory() as folder, Path(folder, "log").open("wb") as log:
        control, packets = f"127.0.0.1:{_free_port()}", f"127.0.0.1:{_free_port()}"
        # Otherwise the last lines are lost when it ends.
        command = ["stdbuf", "-oL", COMMAND, "--no-p4", "--device-id", str(_DEVICE), "--thrift-port", str(_free_port())]
        command += ["--log-console", "--log-level", "error", "--", "--priority-queues", "8"]
        command += ["--grpc-server-addr", control, "--dp-grpc-server-addr", packets]
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder)
        try:
            with Client(control) as client:
                yield client, Path(folder, "log"), packets
        finally:
            process.kill()
            process.wait()


class _Ports:
    """All ports of a bmv2 as one stream of frames."""

    def __init__(self, address: str) -> None:
        self._channel = grpc.insecure_channel(address)
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._frames: queue.SimpleQueue[tuple[int, bytes] | None] = queue.SimpleQueue()

    def __enter__(self) -> "_Ports":
        try:
            grpc.channel_ready_future(self._channel).result(timeout=_START_S)
        except grpc.FutureTimeoutError:
            self._channel.close()
            raise UnreachableError("bmv2 doesn't take packets") from None
        call: grpc.StreamStreamMultiCallable[bytes, bytes] = self._channel.stream_stream(_PACKET_STREAM)
        self._stream = call(iter(self._requests.get, None), wait_for_ready=True)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._requests.put(None)
        self._stream.cancel()
        self._channel.close()
        self._reader.join()

    def _read(self) -> None:
        try:
            for message in self._stream:
                self._frames.put(_frame(message))
        except grpc.RpcError:
            # Either side has ended.
            self._frames.put(None)

    def process(self, port: int, data: bytes) -> Sequence[tuple[int, bytes]]:
        """Receives a frame; gives frames sent until a pause."""
        self._requests.put(_field(2, _DEVICE) + _field(3, port) + _field(4, data))
        return self._collect(_FIRST_S, _QUIET_S)

    def rest(self) -> Sequence[tuple[int, bytes]]:
        """Frames sent late."""
        return self._collect(_REST_S, _REST_S)

    def _collect(self, first_s: float, next_s: float) -> list[tuple[int, bytes]]:
        sent: list[tuple[int, bytes]] = []
        while True:
            try:
                frame = self._frames.get(timeout=next_s if sent else first_s)
            except queue.Empty:
                return sent
            if frame is None:
                raise UnreachableError("bmv2 has ended")
            sent.append(frame)

    def wait(self) -> None:
        """Lets a second pass."""
        time.sleep(1)


def _field(number: int, value: int | bytes) -> bytes:
    """A field of a protobuf message: no package has those of p4.bm."""
    if isinstance(value, bytes):
        return _varint(number << 3 | 2) + _varint(len(value)) + value
    return _varint(number << 3) + _varint(value)


def _varint(value: int) -> bytes:
    digits = []
    while value > 0x7F:
        digits.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*digits, value])


def _frame(message: bytes) -> tuple[int, bytes]:
    """Port and frame of a p4.bm.PacketStreamResponse."""
    port, frame, at = 0, b"", 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            digit = message[at]
            at += 1
            value |= (digit & 0x7F) << shift
            shift += 7
            if digit < 0x80:
                return value

    while at < len(message):
        tag = varint()
        value = varint()
        if tag == 4 << 3 | 2:
            frame = message[at : at + value]
            at += value
        elif tag == 3 << 3:
            port = value
    return port, frame


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
