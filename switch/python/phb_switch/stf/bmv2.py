"""Runs a file on bmv2: entries over P4Runtime or Thrift, packets over its data plane's gRPC, no interfaces, no root."""

import queue
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import grpc
from finsy.proto import p4i

from phb_switch.stf.client import Client, RefusedError, UnreachableError
from phb_switch.stf.p4runtime import P4Runtime
from phb_switch.stf.runner import RunResult, run_on
from phb_switch.stf.statements import Statement, StatementError
from phb_switch.stf.thrift import Thrift
from phb_switch.stf.thrift_client import ThriftClient

COMMAND = "simple_switch_grpc"
_DEVICE = 1
# bmv2 runs by the clock: waits for frames that a packet is thought to make leave (on a busy machine), for others, which
# may also come late, and after the last packet.
_FIRST_S = 0.3
_QUIET_S = 0.02
_REST_S = 0.5
_START_S = 30
# Frames of one packet that nobody expected: a program may copy or recirculate for ever.
_MOST_MORE = 1000
_ATTEMPTS = 3
_PACKET_STREAM = "/p4.bm.DataplaneInterface/PacketStream"
# Its log of a program that it accepted and doesn't run.
_PATH = re.compile(r"/\S*/")
_SAID = re.compile(r"^(\[[^]]*\] *)*( *what\(\): *)?")
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


class EndedError(RefusedError):
    """A bmv2 has ended by itself, or sends without end; `str()` says how.

    Attributes:
        taken: frames that it was given
    """

    def __init__(self, how: str, taken: int) -> None:
        super().__init__(how)
        self.taken = taken


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
        with _running() as bmv2, Client(bmv2.control) as client:
            _configure(client, bmv2, artifact, info)

    _with_a_new_one(once)


def run(
    artifact: str,
    info: p4i.P4Info,
    statements: Sequence[Statement],
    counts: Sequence[int] | None = None,
    reads_state: bool = False,
) -> RunResult:
    """Runs a file's statements on a bmv2 with a program.

    Args:
        artifact: the program
        info: its p4info
        statements: of the file
        counts: how many frames each packet is thought to make leave, so that no time is lost waiting for others
        reads_state: whether to read counters and registers after the last packet

    Raises:
        RefusedError: as for `load`
        EndedError: bmv2 has ended
    """

    def once() -> RunResult:
        with _running() as bmv2, bmv2.watched(), Client(bmv2.control) as client:
            _configure(client, bmv2, artifact, info)
            with _Ports(bmv2, counts) as ports:
                return run_on(ports, P4Runtime(client, info), statements, reads_state)

    return _with_a_new_one(once)


def run_by_thrift(
    artifact: str, statements: Sequence[Statement], counts: Sequence[int] | None = None, reads_state: bool = False
) -> RunResult:
    """Runs a file's statements on a bmv2 that starts with a program, which has no p4info; else as `run`."""

    def once() -> RunResult:
        with (
            _running(artifact) as bmv2,
            bmv2.watched(),
            closing(bmv2.thrift_client()) as client,
            _Ports(bmv2, counts) as ports,
        ):
            return run_on(ports, Thrift(client, artifact), statements, reads_state)

    return _with_a_new_one(once)


def _configure(client: Client, bmv2: "_Bmv2", artifact: str, info: p4i.P4Info) -> None:
    client.load(info, artifact.encode())
    told = _NOT_LOADED.search(bmv2.log.read_text(errors="replace"))
    if told is not None:
        raise RefusedError(told[0])


@dataclass
class _Bmv2:
    process: subprocess.Popen[bytes]
    log: Path
    control: str
    packets: str
    thrift: int
    taken: int = 0

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Raises EndedError if it ends meanwhile, whatever else happened then."""
        try:
            yield
        except (UnreachableError, StatementError):
            # It may be ending.
            time.sleep(_QUIET_S)
            self._check()
            raise
        self._check()

    def _check(self) -> None:
        code = self.process.poll()
        if code is not None and code < 0:
            last = self.log.read_text(errors="replace").strip().rpartition("\n")[2]
            # One that is killed for a fault says nothing; another's last line has its reason behind time and thread.
            told = _PATH.sub("", _SAID.sub("", last)) if -code == signal.SIGABRT else ""
            raise EndedError(f"{signal.strsignal(-code)}" + (f": {told}" if told else ""), self.taken)

    def thrift_client(self) -> ThriftClient:
        """A client, once its server is there."""
        deadline = time.monotonic() + _START_S
        while True:
            try:
                return ThriftClient(self.thrift)
            except OSError as error:
                self._check()
                code = self.process.poll()
                if code is not None:
                    told = self.log.read_text(errors="replace")
                    refused = _NOT_LOADED.search(told)
                    if refused is not None:
                        raise RefusedError(refused[0]) from None
                    # It may be for a port that another has taken meanwhile.
                    raise UnreachableError(f"bmv2 ends with {code}: {told.strip()}") from None
                if time.monotonic() > deadline:
                    raise UnreachableError(f"no Thrift: {error.strerror}") from None
                time.sleep(_QUIET_S)


@contextmanager
def _running(artifact: str | None = None) -> Iterator[_Bmv2]:
    """A bmv2 with a program or without."""
    with tempfile.TemporaryDirectory() as folder, Path(folder, "log").open("wb") as log:
        control, packets, thrift = f"127.0.0.1:{_free_port()}", f"127.0.0.1:{_free_port()}", _free_port()
        # Otherwise the last lines are lost when it ends.
        command = ["stdbuf", "-oL", COMMAND, "--device-id", str(_DEVICE), "--thrift-port", str(thrift)]
        if artifact is None:
            command.append("--no-p4")
        else:
            Path(folder, "program.json").write_text(artifact, encoding="utf-8")
            command.append("program.json")
        command += ["--log-console", "--log-level", "error", "--", "--priority-queues", "8"]
        command += ["--grpc-server-addr", control, "--dp-grpc-server-addr", packets]
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=folder)
        try:
            yield _Bmv2(process, Path(folder, "log"), control, packets, thrift)
        finally:
            process.kill()
            process.wait()


class _Ports:
    """All ports of a bmv2 as one stream of frames."""

    def __init__(self, bmv2: _Bmv2, counts: Sequence[int] | None) -> None:
        self._bmv2 = bmv2
        self._channel = grpc.insecure_channel(bmv2.packets)
        self._counts = None if counts is None else iter(counts)
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
        self._bmv2.taken += 1
        self._requests.put(_field(2, _DEVICE) + _field(3, port) + _field(4, data))
        expected = 1 if self._counts is None else next(self._counts)
        return self._collect(expected, _FIRST_S)

    def rest(self) -> Sequence[tuple[int, bytes]]:
        """Frames sent late."""
        return self._collect(0, 0.0, _REST_S)

    def _collect(self, expected: int, expected_s: float, others_s: float = _QUIET_S) -> list[tuple[int, bytes]]:
        sent: list[tuple[int, bytes]] = []
        while True:
            try:
                frame = self._frames.get(timeout=others_s if len(sent) >= expected else expected_s)
            except queue.Empty:
                return sent
            if frame is None:
                raise UnreachableError("bmv2 has ended")
            sent.append(frame)
            if len(sent) > expected + _MOST_MORE:
                raise EndedError(f"it sends without end: {len(sent)} frames of one", self._bmv2.taken)

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
