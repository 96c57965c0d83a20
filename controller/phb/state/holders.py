"""Who does something, and whether that process still lives."""

from __future__ import annotations

import os
import pwd
import socket
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Self


@dataclass(frozen=True, slots=True)
class Holder:
    """A process that changes a switch.

    Attributes:
        system: Boot and process namespace that `pid` belongs to; empty where the system doesn't say.
        process_start: In clock ticks since boot, so that a pid that was given again is another process.
        since: ISO 8601, UTC.
        member: Its token among the controllers of the state; empty where it isn't one of them.
    """

    command: str
    user: str
    host: str
    system: str
    pid: int
    process_start: int
    since: str
    member: str = ""

    @classmethod
    def this(cls, command: str, member: str = "") -> Self:
        """Give this process."""
        return cls(
            command=command,
            user=_user(),
            host=socket.gethostname(),
            system=_system(),
            pid=os.getpid(),
            process_start=_process_start(os.getpid()) or 0,
            since=now(),
            member=member,
        )

    def __str__(self) -> str:
        return f"phb {self.command} of {self.user}@{self.host} (pid {self.pid}) since {self.since}"

    def is_elsewhere(self) -> bool:
        """Whether only others could say if the process lives: it is on another machine, or in another container."""
        return self.host != socket.gethostname() or self.system != _system()

    def is_dead(self) -> bool:
        """Whether the process has certainly ended: of other machines and containers that can't be known."""
        if self.host != socket.gethostname():
            return False
        if self.system != _system():
            # The same machine after a restart: nothing of before it lives. A container of it: unknown.
            before, _, there = self.system.partition(" ")
            boot, _, here = _system().partition(" ")
            return bool(before and boot and before != boot and there == here)
        return _process_start(self.pid) != self.process_start


def now() -> str:
    """Give the time as the state keeps it: ISO 8601, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _user() -> str:
    """Ask the system, not the environment: anybody can set LOGNAME."""
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # containers run as numbers without a name
        return str(os.geteuid())


@cache
def _system() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""


def _process_start(pid: int) -> int | None:
    """Field 22 of /proc/PID/stat (proc_pid_stat(5)); None when there is no such process, or only its zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The command's name stands in parentheses and may itself hold parentheses and blanks.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])
