"""nsg-ethz/p4-learning's exercises under p4-utils and Mininet, where ``simple_switch`` is phb-switch.

``PHB_P4_LEARNING`` is a checkout, ``PHB_P4_UTILS_PYTHON`` an interpreter that has p4-utils and what that imports:
Mininet, bmv2's modules for Thrift, networkx, psutil and scapy. p4c's driver is on the PATH. Run are the exercises that
come with a solution, in a copy with that in place. With PHB_RECORD=1 bmv2 runs them, too, where it is installed, and
rows of docs/evidence/recorded/peers.md are written anew.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from . import apart, recorded
from .p4_learning_exercise import CHECKS

CHECKOUT = os.environ.get("PHB_P4_LEARNING", "")
PYTHON = os.environ.get("PHB_P4_UTILS_PYTHON", sys.executable)
SECONDS = 400


def unavailable() -> str:
    """Why the exercises can't run here, or nothing."""
    if not CHECKOUT:
        return "PHB_P4_LEARNING names no checkout of nsg-ethz/p4-learning"
    return apart.unavailable("mn", "ping", "p4c")


def run(name: str, folder: Path, path: str) -> dict[str, object]:
    """Run a solved exercise on the switch that the PATH has; give what was seen."""
    exercise = Path(CHECKOUT) / "exercises" / name
    shutil.copytree(exercise, folder)
    shutil.copytree(exercise / "solution", folder, dirs_exist_ok=True)
    return apart.run(apart.python(PYTHON, "p4_learning_exercise", name), folder, path, SECONDS)


@pytest.mark.parametrize("name", CHECKS)
def test_exercise(name: str, tmp_path: Path) -> None:
    if reason := unavailable():
        pytest.skip(reason)
    result = run(name, tmp_path / "ours", apart.path_of_phb(tmp_path / "bin"))
    if recorded.wanted():
        theirs = run(name, tmp_path / "bmv2", os.environ["PATH"]) if shutil.which("simple_switch") else None
        recorded.record("nsg-ethz/p4-learning", name, result, theirs, recorded.commit(CHECKOUT))
    assert result["passed"], result["seen"]
