"""`fleet.push.*`: 2,000 switches that run the program get a changed policy from two processes, in one wave.

`s` is from the start of the first process to the end of the rollout; `controller.ms` is the processor time of both
processes by the number of switches, start of Python included, and `switch.ms` that of the switches.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.figures import Figure
from benchmarks.fleet.policy import version
from benchmarks.fleet.standing import Standing, standing

SWITCHES = 2_000
BAD_INPUT = 2


def measure() -> list[Figure]:
    """Measure; the first push, of which the state knows nothing before, isn't counted."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        with standing(SWITCHES, folder) as fleet:
            return measured(fleet, folder)


def measured(fleet: Standing, folder: Path) -> list[Figure]:
    """Measure with a fleet that stands already."""
    count = len(fleet.addresses)
    policy = folder / "policy.yaml"
    inventory = fleet.inventory(folder, [policy])
    policy.write_text(version(0))
    _push(fleet, folder, inventory)
    policy.write_text(version(1))
    used, switches = _used(), _seconds(fleet.process.pid)
    began = time.monotonic()
    _push(fleet, folder, inventory)
    seconds = time.monotonic() - began
    return [
        Figure("fleet.push.s", seconds, "s"),
        Figure("fleet.push.controller.ms", (_used() - used) / count * 1000, "ms"),
        Figure("fleet.push.switch.ms", (_seconds(fleet.process.pid) - switches) / count * 1000, "ms"),
        Figure("fleet.push.mb", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3, "MB"),
        Figure("fleet.switch.mb", _megabytes(fleet.process.pid) / count, "MB"),
    ]


def _push(fleet: Standing, folder: Path, inventory: Path) -> None:
    """Push from two processes, the second of which joins as soon as there is a rollout."""
    command = [sys.executable, "-m", "phb", "push", *fleet.program, "--state", str(folder / "state.sqlite"), "--json"]
    first = [*command, "--inventory", str(inventory), "--wave", "100%"]
    with subprocess.Popen(first, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            joined = subprocess.run([*command, "--join", "last"], capture_output=True, check=False)
            if joined.returncode != BAD_INPUT:
                break
        said, _ = process.communicate()
    rollout: dict[str, Any] = json.loads(said)
    if rollout["condition"] != "done" or rollout["failures"]:
        raise RuntimeError(f"the rollout ended {rollout['condition']}: {rollout['message']}")


def _used() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _megabytes(process: int) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
