"""A file on bmv2, to see whether it does what we do: entries over P4Runtime, packets over its data plane's gRPC.

No interface is needed for that, and no root. bmv2 keeps time by the clock, so that frames are waited for.
"""

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
# How long bmv2 may take for a packet when the machine is busy, how long it is silent when it has sent all that the
# packet made, which may come late without harm, and how long after the last one.
_FIRST_S = 0.3
_QUIET_S = 0.02
_REST_S = 0.5
_START_S = 30
_ATTEMPTS = 3
_PACKET_STREAM = "/p4.bm.DataplaneInterface/PacketStream"
# What it prints of a program that it doesn't run, though it has answered that all is well.
_NOT_LOADED = re.compile(r"^(Invalid |Unknown primitive|bad json).*", re.MULTILINE)

# What no bmv2 survives, and what those don't that were built for speed: there, bmv2's own sources leave out the check.
FAILS = {
    "hash_random": "bmv2 has no hash algorithm `random` and ends with a segmentation fault",
}
FAILS_UNCHECKED = dict.fromkeys(
    ["counters", "registers"],
    "this bmv2 was built with NDEBUG and checks no index: beyond the end of an array it ends with a segmentation fault",
)
# Of the messages that stand beside that check, in each of its places.
_CHECK = b"at out-of-bounds index"


def failing(command: str = COMMAND) -> dict[str, str]:
    """Which of our programs this bmv2 doesn't survive, and why."""
    executable = shutil.which(command)
    assert executable is not None
    linked = subprocess.run(["ldd", executable], capture_output=True, text=True, check=False).stdout
    files = [executable, *re.findall(r"=> (/\S+)", linked)]
    return FAILS if any(_CHECK in Path(file).read_bytes() for file in files) else FAILS | FAILS_UNCHECKED


Result = TypeVar("Result")


def _with_a_new_one(what: Callable[[], Result]) -> Result:
    """Does something with a bmv2, and once more with another one if it couldn't be reached.

    Its ports are free when they are chosen, and may not be any more when it opens them.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return what()
        except UnreachableError:
            continue
    return what()


def load(artifact: str, info: p4i.P4Info) -> None:
    """Brings a program to a bmv2.

    Raises:
        RefusedError: it refuses the program or its p4info, or says that it doesn't run it.
    """

    def once() -> None:
        with _running() as (client, log, _):
            _configure(client, log, artifact, info)

    _with_a_new_one(once)


def run(artifact: str, info: p4i.P4Info, statements: Sequence[Statement]) -> RunResult:
    """Brings a program to a bmv2 and runs a file's statements on it.

    Raises:
        RefusedError: it refuses the program or its p4info, or says that it doesn't run it.
    """

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
    """A bmv2 without a program: a controller, what it prints, and where packets go."""
    with tempfile.TemporaryDirectory() as folder, Path(folder, "log").open("wb") as log:
        control, packets = f"127.0.0.1:{_free_port()}", f"127.0.0.1:{_free_port()}"
        # By lines, or what it has printed is lost when it ends.
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
            # It has ended, or we have.
            self._frames.put(None)

    def process(self, port: int, data: bytes) -> Sequence[tuple[int, bytes]]:
        """Has a frame arrive; the frames that leave until nothing has left for a while."""
        self._requests.put(_field(2, _DEVICE) + _field(3, port) + _field(4, data))
        return self._collect(_FIRST_S, _QUIET_S)

    def rest(self) -> Sequence[tuple[int, bytes]]:
        """Frames that leave late."""
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
    """A field of a protobuf message: p4.bm's are in no package."""
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
