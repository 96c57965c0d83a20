"""Signals that end a running `phb-switch`, and events that don't: stops, debuggers, freezes, clocks that jump."""

import ctypes
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from finsy.proto import p4r

from ..gnmi.support import Client as GnmiClient
from ..support import CPU_PORT, PROGRAMS, Client
from .test_start import ANYWHERE, WAIT_SECONDS, frames_of, pcap, running, stopped

Process = subprocess.Popen[str]

_PTRACE_ATTACH, _PTRACE_DETACH = 16, 17
_ALL_THREADS = 0x40000000  # __WALL
_LONGER_THAN_A_WAIT = 0.7

FAKE_TIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)


def state(process: Process) -> str:
    """The letter of proc(5): T for stopped, Z for ended."""
    return Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


def stop_and_continue(process: Process) -> None:
    """Often and shortly, then for longer than the switch waits at a time, twice."""
    for seconds in [0.0] * 20 + [_LONGER_THAN_A_WAIT] * 2:
        process.send_signal(signal.SIGSTOP)
        until(lambda: state(process) == "T")
        time.sleep(seconds)
        process.send_signal(signal.SIGCONT)
        until(lambda: state(process) != "T")


def attach_a_debugger(process: Process) -> None:
    """To every thread, as gdb does, and away again."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    for seconds in (0.0, _LONGER_THAN_A_WAIT):
        attached = []
        for thread in map(int, os.listdir(f"/proc/{process.pid}/task")):  # noqa: PTH208
            if libc.ptrace(_PTRACE_ATTACH, thread, None, None) != 0:
                pytest.skip(f"ptrace is not allowed: {os.strerror(ctypes.get_errno())}")
            os.waitpid(thread, _ALL_THREADS)
            attached.append(thread)
        time.sleep(seconds)
        for thread in attached:
            assert libc.ptrace(_PTRACE_DETACH, thread, None, None) == 0


def freeze(process: Process) -> None:
    """In a control group of version 2 or 1, whichever there is."""
    for root, switch, on, off in (
        (Path("/sys/fs/cgroup"), "cgroup.freeze", "1", "0"),
        (Path("/sys/fs/cgroup/freezer"), "freezer.state", "FROZEN", "THAWED"),
    ):
        group = root / f"phb-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            if not (group / switch).exists():
                continue
            (group / "cgroup.procs").write_text(str(process.pid))
            for seconds in (0.0, _LONGER_THAN_A_WAIT):
                (group / switch).write_text(on)
                time.sleep(seconds)
                (group / switch).write_text(off)
            (root / "cgroup.procs").write_text(str(process.pid))
            return
        finally:
            group.rmdir()
    pytest.skip("no control group that can be frozen can be made here")


def signals(process: Process) -> None:
    """Signals that mean nothing to the switch, unlike by default."""
    for each in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGPIPE, signal.SIGWINCH, signal.SIGCHLD, signal.SIGURG):
        process.send_signal(each)


@pytest.mark.parametrize("happening", [stop_and_continue, attach_a_debugger, freeze, signals])
def test_it_goes_on(tmp_path: Path, happening: Callable[[Process], None]) -> None:
    """Frames are forwarded, a stream stays open and calls are answered, before and after."""
    frame = (bytes(4) + (2).to_bytes(2, "big") + bytes(8)).ljust(100, b"x")
    (tmp_path / "left_in.pcap").write_bytes(pcap(*[frame] * 3))
    (tmp_path / "right_in.pcap").write_bytes(pcap())
    arguments = ("--use-files", "1", "-i", "1@left", "-i", "2@right", str(PROGRAMS / "ranked.json"))
    with running(tmp_path, *arguments, "--cpu-port", str(CPU_PORT), "--grpc-server-addr", ANYWHERE) as (process, port):
        client, gnmi = Client(port), GnmiClient(port)
        client.primary()
        happening(process)
        until(lambda: gnmi.values("/.../out-pkts")["/interfaces/interface[name=right]/state/counters/out-pkts"] == 3)
        client.configure(p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT)
        gnmi.channel.close()
        client.close()
        assert process.poll() is None
        assert stopped(process)[0] == 0
    assert frames_of((tmp_path / "right_out.pcap").read_bytes()) == [frame] * 3


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_it_ends(tmp_path: Path, how: signal.Signals) -> None:
    with started("env", f"--default-signal={how.name[3:]}", folder=tmp_path) as process:
        process.send_signal(how)
        _, errors = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 0
    assert "phb-switch: stopped" in errors


def test_under_nohup_a_terminal_that_goes_does_not_end_it(tmp_path: Path) -> None:
    with started("env", "--ignore-signal=HUP", folder=tmp_path) as process:
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGHUP)
        assert stopped(process)[0] == 0


@contextmanager
def started(*prefix: str, folder: Path) -> Iterator[Process]:
    with running(folder, "--no-p4", "--grpc-server-addr", ANYWHERE, prefix=prefix) as (process, _):
        yield process


@pytest.mark.skipif(FAKE_TIME is None, reason="libfaketime is not installed")
def test_the_time_of_day_may_jump(tmp_path: Path) -> None:
    """By years, both ways, while frames wait for their time: nothing that forwards or waits reads it."""
    frame = (bytes(4) + (2).to_bytes(2, "big") + bytes(8)).ljust(100, b"x")
    (tmp_path / "left_in.pcap").write_bytes(pcap(*[frame] * 3))
    (tmp_path / "right_in.pcap").write_bytes(pcap())
    clock = tmp_path / "clock"
    clock.write_text("+0")
    fake = ("FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1", f"FAKETIME_TIMESTAMP_FILE={clock}")
    arguments = ("--use-files", "1", "-i", "1@left", "-i", "2@right", str(PROGRAMS / "ranked.json"))
    with running(
        tmp_path, *arguments, "--grpc-server-addr", ANYWHERE, prefix=("env", f"LD_PRELOAD={FAKE_TIME}", *fake)
    ) as (process, port):
        gnmi = GnmiClient(port)
        for offset in ("-10y", "+10y", "+0"):
            clock.write_text(offset)
            assert gnmi.values("/interfaces/interface/name")
        until(lambda: gnmi.values("/.../out-pkts")["/interfaces/interface[name=right]/state/counters/out-pkts"] == 3)
        gnmi.channel.close()
        assert stopped(process)[0] == 0


def test_the_monotonic_clock_may_start_anywhere(tmp_path: Path) -> None:
    prefix = ("unshare", "--time", "--fork", "--kill-child", "--monotonic", "1000000000")
    tried = subprocess.run([*prefix, "true"], capture_output=True, text=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"no time namespace: {tried.stderr.strip()}")
    with started(*prefix, folder=tmp_path) as process:
        inside = int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])
        os.kill(inside, signal.SIGTERM)
        _, errors = process.communicate(timeout=WAIT_SECONDS)
    assert process.returncode == 0
    assert "phb-switch: stopped" in errors
