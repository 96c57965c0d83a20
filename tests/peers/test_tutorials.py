"""p4lang/tutorials' exercises under their own Mininet scripts, where ``simple_switch_grpc`` is phb-switch.

``PHB_TUTORIALS`` is a checkout, ``PHB_TUTORIALS_PYTHON`` an interpreter that has what the scripts import: Mininet,
gRPC, P4Runtime's messages, p4runtime-shell, scapy and psutil. p4c is on the PATH: each exercise is built by its own
Makefile, with what ``solution/`` has in the place of what is to be solved. With PHB_RECORD=1 bmv2 runs the exercises,
too, where it is installed, and rows of docs/evidence/recorded/peers.md are written anew.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from . import apart, recorded
from .tutorials_exercise import CHECKS

TUTORIALS = os.environ.get("PHB_TUTORIALS", "")
PYTHON = os.environ.get("PHB_TUTORIALS_PYTHON", sys.executable)
SECONDS = 240


def unavailable() -> str:
    """Why the exercises can't run here, or nothing."""
    if not TUTORIALS:
        return "PHB_TUTORIALS names no checkout of p4lang/tutorials"
    return apart.unavailable("mn", "iperf", "ping", "make", "p4c-bm2-ss")


def build(name: str, folder: Path) -> tuple[Path, list[str]]:
    """Make a copy of the solved exercise; give where it is, and what its Makefile has its script run with."""
    shutil.copytree(Path(TUTORIALS) / "utils", folder / "utils")
    exercise = folder / "exercises" / name
    shutil.copytree(Path(TUTORIALS) / "exercises" / name, exercise)
    for solved in (exercise / "solution").iterdir():
        places = [place for place in exercise.rglob(solved.name) if place.parent.name != "solution"]
        for place in places:
            shutil.copy(solved, place)
    subprocess.run(["make", "build"], cwd=exercise, capture_output=True, text=True, check=True)
    printed = subprocess.run(["make", "-n", "run"], cwd=exercise, capture_output=True, text=True, check=True).stdout
    command = shlex.split(printed.splitlines()[-1])
    return exercise, command[command.index("../../utils/run_exercise.py") + 1 :]


def run(name: str, folder: Path, path: str) -> dict[str, object]:
    """Run an exercise on the switch that the PATH has; give what was seen."""
    exercise, arguments = build(name, folder)
    return apart.run(apart.python(PYTHON, "tutorials_exercise", name, *arguments), exercise, path, SECONDS)


@pytest.mark.parametrize("name", CHECKS)
def test_exercise(name: str, tmp_path: Path) -> None:
    if reason := unavailable():
        pytest.skip(reason)
    result = run(name, tmp_path / "ours", apart.path_of_phb(tmp_path / "bin"))
    if recorded.wanted():
        theirs = run(name, tmp_path / "bmv2", os.environ["PATH"]) if apart.bmv2_version() else None
        recorded.record("p4lang/tutorials", name, result, theirs, recorded.commit(TUTORIALS))
    assert result["passed"], result["seen"]
