"""`phb-switch` as a process, without interfaces: how it starts, what it prints, how it ends."""

import json
import os
import re
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from finsy.proto import p4r

from ..gnmi.support import Client as GnmiClient
from ..support import DEVICE, PROGRAMS, Client, connect, insert
from ..test_interfaces import REASON, Hosts

WAIT_SECONDS = 60.0
LINES = (
    (
        "bmv2's mininet/p4_mininet.py",
        "-i 1@s1-eth1 -i 2@s1-eth2 --pcap --thrift-port 9090 --nanolog ipc:///tmp/bm-0-log.ipc "
        "--device-id 0 build/basic.json --debugger --log-console",
    ),
    (
        "p4lang/tutorials utils/p4runtime_switch.py",
        "-i 1@s1-eth1 --pcap {tmp} --nanolog ipc:///tmp/bm-3-log.ipc --device-id 3 --no-p4 --log-console "
        "--thrift-port 9091 -- --grpc-server-addr 0.0.0.0:50052 --cpu-port 510 --priority-queues 8",
    ),
    (
        "ONOS tools/dev/mininet/bmv2.py",
        "--device-id 1 -i 1@leaf1-eth1 --thrift-port 40123 --notifications-addr "
        "ipc:///tmp/bmv2-leaf1-n.ipc --nanolog ipc:///tmp/bmv2-leaf1-nanolog.ipc --debugger-addr "
        "ipc:///tmp/bmv2-leaf1-debug.ipc --log-console --pcap --dump-packet-data 80 -Linfo --no-p4 -- "
        "--cpu-port 255 --grpc-server-addr 0.0.0.0:50001",
    ),
    (
        "p4-utils p4utils/mininetlib/node.py",
        "-i 1@s1-eth1 --pcap={tmp} --thrift-port 9090 --nanolog ipc:///tmp/bm-1-log.ipc --device-id 1 "
        "s1.json --log-console -- --grpc-server-addr 0.0.0.0:9559",
    ),
)

COMMAND = [sys.executable, "-m", "phb_switch"]
ANYWHERE = "127.0.0.1:0"


@contextmanager
def running(
    folder: Path, *arguments: str, device_id: int | None = DEVICE, prefix: Sequence[str] = ()
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A switch, started by way of the command `prefix`, and the port it listens at."""
    ready = folder / "ready.json"
    words = ["--ready-file", str(ready), *arguments]
    if device_id is not None:
        words += ["--device-id", str(device_id)]
    process = subprocess.Popen(
        [*prefix, *COMMAND, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        end = time.monotonic() + WAIT_SECONDS
        while not ready.exists():
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < end
            time.sleep(0.01)
        yield process, int(json.loads(ready.read_text())["grpc_server_addr"].rpartition(":")[2])
    finally:
        process.kill()
        process.communicate()


def stopped(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=WAIT_SECONDS)
    return process.returncode, output, errors


def test_a_program_and_no_p4info_yet(tmp_path: Path) -> None:
    """As with bmv2: the program forwards from the start, and a controller brings its p4info later."""
    arguments = (str(PROGRAMS / "router.json"), "--nanolog", "x", "--", "--grpc-server-addr", ANYWHERE)
    with running(tmp_path, *arguments) as (process, port):
        client = Client(port)
        client.primary()
        with pytest.raises(grpc.RpcError) as caught:
            client.write(insert(connect(0, 1)))
        assert caught.value.code() == grpc.StatusCode.FAILED_PRECONDITION
        client.configure(p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT)
        client.write(insert(connect(0, 1)))
        client.close()
        code, output, errors = stopped(process)
    assert code == 0
    assert f"device {DEVICE}, P4Runtime at 127.0.0.1:{port}" in output
    assert "--nanolog ignored (there are no nanomsg event logs" in errors
    assert "phb-switch: stopped; received 0" in errors


# Linux 6.3: memory that is not executable can't be made so; kept by the programs that a process becomes.
_DENIES = """
import ctypes, os, sys
sys.exit("no PR_SET_MDWE") if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0) else os.execvp(sys.argv[1], sys.argv[1:])
"""


def _denied() -> bool:
    """Whether this kernel can deny executable memory."""
    return subprocess.run([sys.executable, "-c", _DENIES, "true"], check=False).returncode == 0


def _mappings(process: subprocess.Popen[str]) -> list[str]:
    """Executable memory that comes from no file."""
    lines = Path(f"/proc/{process.pid}/maps").read_text().splitlines()
    own = [line for line in lines if len(line.split()) == 5]
    return [line.split()[1] for line in own if "x" in line.split()[1]]


@pytest.mark.parametrize(("executor", "said"), [("native", "native code, "), ("interpreter", "interpreted, as asked")])
def test_executable_memory(tmp_path: Path, executor: str, said: str) -> None:
    """Native code lies in memory that isn't writable; without it there is no such memory at all."""
    arguments = ("--executor", executor, str(PROGRAMS / "router.json"), "--grpc-server-addr", ANYWHERE)
    with running(tmp_path, *arguments) as (process, port):
        assert _mappings(process) == (["r-xp"] if executor == "native" else [])
        client = GnmiClient(port)
        assert client.values("/program/state/executor") == {"/program/state/executor": executor}
        client.channel.close()
        code, _, errors = stopped(process)
    assert code == 0
    assert re.search(rf"loaded \S+router\.json in \d+ ms: {said}", errors)


@pytest.mark.skipif(not _denied(), reason="this kernel has no PR_SET_MDWE")
def test_without_executable_memory(tmp_path: Path) -> None:
    arguments = (str(PROGRAMS / "router.json"), "--grpc-server-addr", ANYWHERE)
    with running(tmp_path, *arguments, prefix=[sys.executable, "-c", _DENIES]) as (process, port):
        assert _mappings(process) == []
        client = GnmiClient(port)
        told = client.values("/program")
        client.channel.close()
        p4runtime = Client(port)
        p4runtime.primary()
        p4runtime.configure(p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT)
        p4runtime.close()
        code, _, errors = stopped(process)
    reason = "the system gives no memory that can be executed: Permission denied (os error 13)"
    root = "/program/state"
    assert told == {f"{root}/executor": "interpreter", f"{root}/code-bytes": 0, f"{root}/reason": reason}
    assert code == 0
    assert errors.count(f"interpreted: {reason}") == 2


def test_gnmi_answers_at_the_same_port(tmp_path: Path) -> None:
    with running(tmp_path, "--no-p4", "--grpc-server-addr", ANYWHERE) as (_, port):
        client = GnmiClient(port)
        assert client.values("/interfaces/interface/name") == {}
        client.channel.close()


def pcap(*frames: bytes) -> bytes:
    header = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    return header + b"".join(
        struct.pack("<IIII", 1, number, len(each), len(each)) + each for number, each in enumerate(frames)
    )


def frames_of(capture: bytes) -> list[bytes]:
    found, position = [], 24
    while position < len(capture):
        length = struct.unpack_from("<IIII", capture, position)[2]
        found.append(capture[position + 16 : position + 16 + length])
        position += 16 + length
    return found


def test_files_instead_of_interfaces(tmp_path: Path) -> None:
    """X_in.pcap goes in, X_out.pcap comes out; ranked.p4 sends where the frame itself says."""
    to = {port: (bytes(4) + port.to_bytes(2, "big") + bytes(8)).ljust(100, b"x") for port in (1, 2)}
    (tmp_path / "left_in.pcap").write_bytes(pcap(to[2], to[1], to[2]))
    (tmp_path / "right_in.pcap").write_bytes(pcap(to[1]))
    arguments = ("--use-files", "0", "-i", "1@left", "-i", "2@right", str(PROGRAMS / "ranked.json"))
    with running(tmp_path, *arguments, "--", "--grpc-server-addr", ANYWHERE) as (process, port):
        client = GnmiClient(port)
        end = time.monotonic() + WAIT_SECONDS
        while sum(client.values("/.../out-pkts").values()) < 4:
            assert time.monotonic() < end
            time.sleep(0.01)
        client.channel.close()
        assert stopped(process)[0] == 0
    assert frames_of((tmp_path / "left_out.pcap").read_bytes()) == [to[1], to[1]]
    assert frames_of((tmp_path / "right_out.pcap").read_bytes()) == [to[2], to[2]]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            [],
            [
                "[DEBUG] T port 1: received, 100 bytes",
                "[DEBUG] T port 2: transmitted, 100 bytes",
                "[DEBUG] T port 1: received, 100 bytes",
                "[DEBUG] T port 1: dropped (ingress)",
            ],
        ),
        (
            ["-L", "info", "--dump-packet-data", "6"],
            [
                "[INFO] T port 1: received, 100 bytes: 000000000002",
                "[INFO] T port 2: transmitted, 100 bytes: 000000000002",
                "[INFO] T port 1: received, 100 bytes: 0000000001ff",
            ],
        ),
        (["-Linfo"], []),
        (["-Loff", "--dump-packet-data", "6"], []),
    ],
)
def test_packets_in_the_log(tmp_path: Path, options: list[str], expected: list[str]) -> None:
    frames = [(bytes(4) + port.to_bytes(2, "big") + bytes(8)).ljust(100, b"x") for port in (2, 511)]
    (tmp_path / "left_in.pcap").write_bytes(pcap(*frames))
    (tmp_path / "right_in.pcap").write_bytes(pcap())
    files = ("--use-files", "0", "-i", "1@left", "-i", "2@right", str(PROGRAMS / "ranked.json"), "--log-file", "log")
    with running(tmp_path, *files, *options, "--grpc-server-addr", ANYWHERE) as (process, port):
        client = GnmiClient(port)
        end = time.monotonic() + WAIT_SECONDS
        while client.values("/.../in-pkts")["/interfaces/interface[name=left]/state/counters/in-pkts"] < 2:
            assert time.monotonic() < end
            time.sleep(0.01)
        client.channel.close()
        assert stopped(process)[0] == 0
    lines = [line for line in (tmp_path / "log").read_text().splitlines() if " port " in line]
    assert [re.sub(r"^\[[^]]*\] (\[[A-Z]+\]) [0-9.]+ s", r"\1 T", line) for line in lines] == expected


def test_a_log_that_nobody_reads_holds_nothing_up(tmp_path: Path) -> None:
    frame = (bytes(4) + (2).to_bytes(2, "big") + bytes(8)).ljust(100, b"x")
    (tmp_path / "left_in.pcap").write_bytes(pcap(*[frame] * 5000))  # more lines than a pipe holds
    (tmp_path / "right_in.pcap").write_bytes(pcap())
    files = ("--use-files", "0", "-i", "1@left", "-i", "2@right", str(PROGRAMS / "ranked.json"), "--log-console")
    with running(tmp_path, *files, "--grpc-server-addr", ANYWHERE) as (process, port):
        client = GnmiClient(port)
        out = "/interfaces/interface[name=right]/state/counters/out-pkts"
        end = time.monotonic() + WAIT_SECONDS
        while client.values(out) != {out: 5000}:
            assert time.monotonic() < end
            time.sleep(0.01)
        client.channel.close()
        code, output, _ = stopped(process)
    assert code == 0
    assert output.count("received, 100 bytes") > 0


def test_a_disk_that_is_full(tmp_path: Path) -> None:
    """As far as a process can tell: no file may be longer than 200 bytes. Only one of the captures would be."""
    to = {port: (bytes(4) + port.to_bytes(2, "big") + bytes(8)).ljust(100 * port**2, b"x") for port in (1, 2)}
    (tmp_path / "left_in.pcap").write_bytes(pcap(to[2], to[2], to[2], to[1]))
    (tmp_path / "right_in.pcap").write_bytes(pcap())
    arguments = ("--use-files", "0", "-i", "1@left", "-i", "2@right", str(PROGRAMS / "ranked.json"), "-Loff")
    limit = ("prlimit", "--fsize=200")
    with running(tmp_path, *arguments, "--grpc-server-addr", ANYWHERE, prefix=limit) as (process, port):
        client = GnmiClient(port)
        end = time.monotonic() + WAIT_SECONDS
        while sum(client.values("/.../out-pkts").values()) < 4:
            assert time.monotonic() < end
            time.sleep(0.01)
        client.channel.close()
        code, _, errors = stopped(process)
    assert code == 1
    assert errors.splitlines() == [
        "phb-switch: right_out.pcap: File too large; no more is written",
        "phb-switch: stopped; received 4, injected 0, transmitted 4, to CPU 0, dropped 0, queued 0",
        "phb-switch: port 2 (right): send errors 3",
        "phb-switch: failed: not all files are whole",
    ]
    assert frames_of((tmp_path / "left_out.pcap").read_bytes()) == [to[1]]


@pytest.mark.parametrize("level", ["trace", "error", "off"])
def test_a_capture_fails_and_the_log_says_so(tmp_path: Path, level: str) -> None:
    frame = (bytes(4) + (2).to_bytes(2, "big") + bytes(8)).ljust(3000, b"x")
    (tmp_path / "left_in.pcap").write_bytes(pcap(frame))
    (tmp_path / "right_in.pcap").write_bytes(pcap())
    arguments = ("--use-files", "0", "-i", "1@left", "-i", "2@right", str(PROGRAMS / "ranked.json"))
    log = ("--log-file", "log", "-L", level)
    limit = ("prlimit", "--fsize=2000")
    with running(tmp_path, *arguments, *log, "--grpc-server-addr", ANYWHERE, prefix=limit) as (process, port):
        client = GnmiClient(port)
        end = time.monotonic() + WAIT_SECONDS
        while sum(client.values("/.../out-pkts").values()) < 1:
            assert time.monotonic() < end
            time.sleep(0.01)
        client.channel.close()
        code, _, errors = stopped(process)
    failure = "right_out.pcap: File too large; no more is written"
    assert code == 1
    assert errors.count(f"phb-switch: {failure}\n") == 1
    assert (tmp_path / "log").read_text().count(f"[ERROR] {failure}\n") == (level != "off")


@pytest.mark.skipif(bool(REASON), reason=REASON or "available")
@pytest.mark.parametrize("line", [each[1] for each in LINES], ids=[each[0] for each in LINES])
def test_lines_of_well_known_tools(tmp_path: Path, line: str) -> None:
    """As they are, but for the names of interfaces and files, and the address."""
    with ExitStack() as stack:
        hosts = Hosts(stack)
        names = iter(hosts.ports)
        words = re.sub(r"@\S+", lambda _: f"@{next(names)}", line.replace("{tmp}", str(tmp_path)))
        words = re.sub(r"\S+\.json", str(PROGRAMS / "router.json"), words)
        words = re.sub(r"(?: --)? --grpc-server-addr \S+", "", words)
        _, port = stack.enter_context(running(tmp_path, *words.split(), "--grpc-server-addr", ANYWHERE, device_id=None))
        client = GnmiClient(port)
        found = client.values("/interfaces/interface/state/oper-status")
        client.channel.close()
        attached = [name for name in hosts.ports if f"@{name}" in words]
        assert {where.split("=")[1].split("]")[0] for where in found} >= set(attached)
        assert all(found[f"/interfaces/interface[name={name}]/state/oper-status"] == "UP" for name in attached)
        assert all((tmp_path / f"{name}_in.pcap").exists() for name in attached)


def test_log_file(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with running(tmp_path, "--no-p4", "--nanolog", "x", "--log-file", str(log), "--grpc-server-addr", ANYWHERE) as (
        process,
        _,
    ):
        _, _, errors = stopped(process)
    assert "--nanolog ignored" not in errors
    assert "[INFO] --nanolog ignored (" in log.read_text()


def test_a_warning_where_anybody_may_come(tmp_path: Path) -> None:
    with running(tmp_path, "--no-p4", "--grpc-server-addr", "0.0.0.0:0") as (process, _):
        assert "listening at 0.0.0.0:0 without TLS" in stopped(process)[2]
    with running(tmp_path, "--no-p4", "--grpc-server-addr", f"unix:{tmp_path}/socket") as (process, _):
        assert "without TLS" not in stopped(process)[2]


def ended(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments], check=False, timeout=WAIT_SECONDS, text=True, stderr=subprocess.PIPE, **more
    )


@pytest.mark.parametrize("arguments", [["--help"], ["--no-p4", "--grpc-server-addr", ANYWHERE], ["--version"]])
def test_stdout_is_full(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        result = ended(*arguments, stdout=full)
    assert result.returncode == 1
    assert "phb-switch: standard output: No space left on device" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
def test_closed_descriptors(tmp_path: Path, closed: str) -> None:
    words = f"exec {sys.executable} -m phb_switch --no-p4 --grpc-server-addr {ANYWHERE} --ready-file ready {closed}"
    with (tmp_path / "errors").open("w") as errors:
        process = subprocess.Popen(["sh", "-c", words], cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=errors)
    try:
        end = time.monotonic() + WAIT_SECONDS
        while not (tmp_path / "ready").exists():
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT_SECONDS) == 0
    finally:
        process.kill()
        process.wait()
    assert "Traceback" not in (tmp_path / "errors").read_text()


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
@pytest.mark.parametrize("log", [["--log-console"], ["--log-file", "log"]])
def test_names_that_a_terminal_does_not_have(tmp_path: Path, encoding: str, log: list[str]) -> None:
    name, environment = "\u00e9t\u00e9", {**os.environ, "PYTHONIOENCODING": encoding}
    result = ended("--no-p4", "-i", f"0@{name}", *log, cwd=tmp_path, env=environment, stdout=subprocess.PIPE)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr
    (tmp_path / f"{name}_in.pcap").write_bytes(pcap())
    files = ("--no-p4", "--use-files", "0", "-i", f"0@{name}", "--grpc-server-addr", ANYWHERE)
    with running(tmp_path, *files, *log, prefix=("env", f"PYTHONIOENCODING={encoding}")) as (process, _):
        code, _, errors = stopped(process)
    assert (code, "Traceback" in errors) == (0, False)


def test_help_into_a_closed_stdout() -> None:
    result = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m phb_switch --help >&-"], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")


def test_version() -> None:
    result = ended("--version", stdout=subprocess.PIPE)
    assert result.returncode == 0
    assert result.stdout.startswith("phb-switch ")
    assert ended("-v", stdout=subprocess.PIPE).stdout == result.stdout
    assert ended("--json-version", stdout=subprocess.PIPE).stdout == "2.24\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    result = ended("--show-completion", shell, stdout=subprocess.PIPE)
    assert (result.returncode, result.stderr) == (0, "")
    assert "grpc-server-addr" in result.stdout


def test_a_ready_file_that_can_not_be_written(tmp_path: Path) -> None:
    result = ended(
        "--no-p4", "--grpc-server-addr", ANYWHERE, "--ready-file", str(tmp_path / "a" / "b"), stdout=subprocess.PIPE
    )
    assert result.returncode == 2
    assert result.stderr.splitlines()[-1].startswith(f"phb-switch: --ready-file {tmp_path}/a/b: No such file")


def test_what_the_program_says_is_in_the_log(tmp_path: Path) -> None:
    """checks.p4 says what kind of request a frame is."""
    (tmp_path / "left_in.pcap").write_bytes(pcap(bytes.fromhex("0700000005").ljust(60, b"\0")))
    program = Path(__file__).parents[3] / "programs" / "build" / "checks.json"
    files = ("--use-files", "0", "-i", "0@left", str(program), "--log-file", "log", "--log-flush")
    with running(tmp_path, *files, "--grpc-server-addr", ANYWHERE) as (process, _):
        end = time.monotonic() + WAIT_SECONDS
        while "program: kind 7, value 5" not in (tmp_path / "log").read_text():
            assert time.monotonic() < end
            time.sleep(0.01)
        assert stopped(process)[0] == 0
