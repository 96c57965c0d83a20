"""The switch under test: a process of `phb-switch` on pairs of interfaces, and its use of the machine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from phb_device import interfaces
from phb_device.processes import SwitchProcess, dies_with_us, phb_switch_command
from phb_switch import ExecutorName
from soak.policies import PORTS

COMMAND_WITHIN_S = 60.0
"""A `phb` that has not ended by then hangs."""
_MIB = 1 << 20


@dataclass(frozen=True)
class Usage:
    """Resources of the process: resident memory, open files and sockets, and threads."""

    memory_mib: float
    descriptors: int
    threads: int


class Target:
    """A switch with four ports in this process's own network namespace, and the commands that program it.

    `folder` is for policies and the controller's state, `policy` the file that `push` gives to the switch. `buffers`
    are by port the packets that the switch itself lets wait, if not its default, `executor` what runs its programs.
    """

    def __init__(self, folder: Path, buffers: dict[int, int], executor: ExecutorName | None = None) -> None:
        self.folder = folder
        self.policy = folder / "policy.yaml"
        for port in PORTS:
            interfaces.make_pair(switch_end(port), tester_end(port))
        command = phb_switch_command(executor)
        for port, packets in buffers.items():
            command += ["--buffer-packets", f"{port}={packets}"]
        self.switch = SwitchProcess(command, [f"{port}@{switch_end(port)}" for port in PORTS])

    def close(self) -> None:
        """End the switch; the interfaces go with the namespace."""
        self.switch.stop()

    def usage(self) -> Usage:
        """Return what the process takes now; `OSError` if it has ended."""
        process = Path(f"/proc/{self.switch.pid}")
        lines = (process / "status").read_text().splitlines()
        status = dict(line.split(":", 1) for line in lines if ":" in line)
        return Usage(
            int(status["VmRSS"].split()[0]) * 1024 / _MIB,
            len(list((process / "fd").iterdir())),
            int(status["Threads"]),
        )

    def phb_command(self, *arguments: str | Path) -> list[str]:
        """Return the command `phb` for this switch, with the state that all of a run's commands share."""
        first, *rest = map(str, arguments)
        groups = [first] if first != "show" else [first, rest.pop(0)]
        options = ["--address", self.switch.address]
        if first in ("push", "rollback", "watch"):
            options += ["--state", str(self.folder / "state.sqlite")]
        return dies_with_us([sys.executable, "-m", "phb", *groups, *options, *rest])

    def phb(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        """Run the command `phb` to its end."""
        command = self.phb_command(*arguments)
        return subprocess.run(command, capture_output=True, text=True, timeout=COMMAND_WITHIN_S, check=False)

    def start_phb(self, *arguments: str | Path) -> subprocess.Popen[str]:
        """Start the command `phb`; the caller ends it."""
        return subprocess.Popen(
            self.phb_command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def push(self) -> str:
        """Push the policy; return what was wrong, or nothing."""
        pushed = self.phb("push", "--wait", "30", self.policy)
        return "" if pushed.returncode == 0 else f"phb push: exit code {pushed.returncode}: {pushed.stderr.strip()}"


def switch_end(port: int) -> str:
    """Return the switch's interface of a port."""
    return f"soak-switch{port}"


def tester_end(port: int) -> str:
    """Return the other end of its pair."""
    return f"soak-tester{port}"


def set_links(names: Sequence[str], state: str) -> None:
    """Set interfaces `up` or `down`; one that isn't there is left alone."""
    for name in names:
        subprocess.run(["ip", "link", "set", name, state], capture_output=True, check=False)
