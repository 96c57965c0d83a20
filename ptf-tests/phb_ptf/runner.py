"""Runs ptf's own command on a switch that is started for it.

ptf is a process of its own: it ends with ``os._exit`` when a test failed, so this process ends and removes everything.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from phb_device import Control, Ports, missing
from phb_device.outside import OnInterfaces
from phb_device.processes import SwitchProcess, bmv2_command
from phb_ptf import transcript
from phb_ptf.restarts import Restarts, restarts
from phb_ptf.transcript import Record
from phb_switch import ExecutorName

_LARGEST_FRAME = 1 << 16
_QUEUED_FRAMES = 10_000
# Silence after which no frame is expected any more; in virtual time there is no wait.
_QUIET_S = 0.05


class RunError(Exception):
    """ptf or the switch isn't there or didn't start; `str()` says why."""


def folder(name: str) -> Path:
    """Return the folder of suites or platforms: in the tree beside this package, in an installation inside it."""
    here = Path(__file__).parent
    return next(place for place in (here / name, here.parent / name) if place.is_dir())


def ptf_command() -> Path | None:
    """Return the command ptf of this Python environment, or of the PATH."""
    beside = Path(sys.executable).with_name("ptf")
    found = str(beside) if beside.exists() else shutil.which("ptf")
    return Path(found) if found else None


def ptf_missing() -> str:
    """Say why ptf isn't here; empty if it is."""
    if importlib.util.find_spec("ptf") is None or ptf_command() is None:
        return "ptf is not installed: pip install 'phb[ptf]' (its netifaces is compiled: Debian needs gcc, python3-dev)"
    return ""


def default_ports() -> Ports:
    """Return interfaces where they can be had, memory otherwise."""
    return Ports.MEMORY if missing("phb-switch", Ports.VETH) else Ports.VETH


def reason_against(target: str, ports: Ports) -> str:
    """Say why the suites can't run so here; empty if they can."""
    return ptf_missing() or missing(target, ports)


@dataclass(frozen=True)
class Run:
    """The output of one run of ptf: a record for each case that began, the exit status, and the printed log."""

    records: list[Record]
    status: int
    log: Path


def run(
    target: str,
    ports: Ports,
    selected: Sequence[str] = (),
    *,
    out: Path,
    executor: ExecutorName | None = None,
    progress: Callable[[Record], None] = lambda record: None,
) -> Run:
    """Start the switch, and have ptf run suites on it. On interfaces, call `phb_device.own_namespace` first.

    `selected` are suites, groups or ``suite.case``, all if empty. `executor` is what runs phb-switch's programs. The
    transcript and ptf's logs go to the folder `out`; `progress` is called with each case that has ended.

    Raises:
        RunError: Something is missing, or ptf didn't begin.
        ControlError: The switch didn't start.
    """
    reason = reason_against(target, ports)
    if reason:
        raise RunError(reason)
    out.mkdir(parents=True, exist_ok=True)
    written = out / f"{target}.jsonl"
    written.write_text("")
    log = out / f"{target}.ptf.txt"
    with _switch(target, ports, executor) as (address, options, restarted):
        parameters = f"target={target!r};transcript={str(written.absolute())!r}"
        parameters += f";grpcaddr={address!r}" if address else ""
        parameters += f";executor={executor!r}" if executor else ""
        command = [
            sys.executable, str(ptf_command()), "--test-dir", str(folder("suites")), "--allow-user",
            "--log-file", str(out / f"{target}.ptf.log"), "--socket-recv-size", str(_LARGEST_FRAME),
            "--qlen", str(_QUEUED_FRAMES), "--default-negative-timeout", str(_QUIET_S),
            "--test-params", parameters, *options, *selected,
        ]  # fmt: skip
        with log.open("w") as said, written.open() as lines:
            environment = _environment()
            inherited: tuple[int, ...] = ()
            if restarted is not None:
                environment |= restarted.environment
                inherited = restarted.descriptors
            process = subprocess.Popen(
                command, stdout=said, stderr=subprocess.STDOUT, env=environment, pass_fds=inherited
            )
            try:
                _follow(process, lines, progress)
            finally:
                process.terminate()
                process.wait()
    records = transcript.read(written)
    if not records:
        last = log.read_text().strip().splitlines()
        raise RunError(f"ptf: {_without_time(last[-1]) if last else 'said nothing'}")
    return Run(records, process.returncode, log)


def listing() -> str:
    """Return the suites and tests that ptf lists.

    Raises:
        RunError: ptf isn't here, or a suite can't be loaded.
    """
    if reason := ptf_missing():
        raise RunError(reason)
    # ptf removes the file before it writes there, so this must never be a device.
    with tempfile.TemporaryDirectory() as logs:
        command = [sys.executable, str(ptf_command()), "--test-dir", str(folder("suites")), "--list"]
        command += ["--log-file", str(Path(logs) / "ptf.log")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=_environment())
    if done.returncode != 0:
        raise RunError(f"ptf: {done.stderr.strip().splitlines()[-1]}")
    return done.stdout


@contextmanager
def _switch(
    target: str, ports: Ports, executor: ExecutorName | None
) -> Iterator[tuple[str, list[str], Restarts | None]]:
    """Yield P4Runtime's address ("": ptf's process has the switch), ptf's options for its ports, and its restarts."""
    platform = ["--platform-dir", str(folder("platforms")), "--platform", "phb_memory"]
    if ports is Ports.VETH:
        with OnInterfaces(target, executor) as device:
            interfaces = [f"{port}@{name}" for port, name in device.tester_ends.items()]
            options = [option for name in interfaces for option in ("-i", name)]
            if target.startswith("bmv2"):
                with restarts(device.process) as restarted:
                    yield device.address, options, restarted
            else:
                yield device.address, options, None
    elif target.startswith("bmv2"):
        process = SwitchProcess(bmv2_command(), bmv2=True, data_plane=True)
        try:
            with Control(process.address) as control:
                # A stream of frames that is opened before the first program carries nothing.
                control.set_program()
            with restarts(process) as restarted:
                yield process.address, [*platform, "--platform-args", process.data_address], restarted
        finally:
            process.stop()
    else:
        yield "", platform, None


def _without_time(line: str) -> str:
    # "13:36:44.982  root      : CRITICAL: ..."
    return re.sub(r"^[\d:.]+\s+\w+\s*: [A-Z]+\s*: ", "", line)


def _environment() -> dict[str, str]:
    # Warnings of ptf and its dependencies are theirs.
    return os.environ | {"PYTHONWARNINGS": "ignore"}


def _follow(process: subprocess.Popen[bytes], lines: TextIO, progress: Callable[[Record], None]) -> None:
    unfinished = ""
    while True:
        ended = process.poll() is not None
        while line := lines.readline():
            unfinished += line
            if unfinished.endswith("\n"):
                for record in transcript.parse([unfinished], "transcript"):
                    progress(record)
                unfinished = ""
        if ended:
            return
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.1)
