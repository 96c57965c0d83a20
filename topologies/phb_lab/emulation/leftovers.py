"""A run's marked processes and its folder, found again after a run that was killed.

A run's interfaces are in network namespaces of its own, which end with their last process. So only processes may be
left; each has the run's mark in its environment. The kernel ends them when the runner dies (PR_SET_PDEATHSIG); this is
the second line of defence.
"""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

MARK = "PHB_LAB_EMULATION"
PREFIX = "phb-lab-emulation-"

_PATIENCE_S = 5.0


def own_mark() -> str:
    """The mark of runs of this process: its number and its start, because numbers are used again."""
    return f"{os.getpid()}-{_start_ticks(os.getpid())}"


def make_folder() -> Path:
    """A folder for a run of this process: sockets, jobs, results."""
    return Path(tempfile.mkdtemp(prefix=f"{PREFIX}{own_mark()}-"))


def clean() -> list[str]:
    """End processes and remove folders of runs whose runner is gone; says what was found."""
    found = []
    ended = []
    for process, mark in _marked_processes():
        if not _is_alive(mark):
            found.append(f"process {process} ({_command(process)})")
            os.kill(process, signal.SIGKILL)
            ended.append(process)
    deadline = time.monotonic() + _PATIENCE_S
    while any(Path(f"/proc/{process}/environ").exists() and _mark(process) for process in ended):
        if time.monotonic() > deadline:
            break
        time.sleep(0.01)
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        owner, start, *_ = folder.name.removeprefix(PREFIX).split("-")
        if not _is_alive(f"{owner}-{start}"):
            found.append(f"folder {folder}")
            shutil.rmtree(folder, ignore_errors=True)
    return found


def processes(mark: str) -> list[int]:
    """Processes with this mark that are still there."""
    return [process for process, its in _marked_processes() if its == mark]


def _marked_processes() -> Iterator[tuple[int, str]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            mark = _mark(int(entry.name))
            if mark is not None:
                yield int(entry.name), mark


def _mark(process: int) -> str | None:
    try:
        environment = Path(f"/proc/{process}/environ").read_bytes()
    except OSError:
        return None
    for variable in environment.split(b"\0"):
        name, _, value = variable.partition(b"=")
        if name == MARK.encode():
            return value.decode(errors="replace")
    return None


def _is_alive(mark: str) -> bool:
    owner, _, start = mark.partition("-")
    return owner.isdecimal() and _start_ticks(int(owner)) == start


def _start_ticks(process: int) -> str | None:
    """When a process started, in clock ticks since boot (field 22 of proc(5) stat); None if it isn't there."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[19]


def _command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return "ended"
