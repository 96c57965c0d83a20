"""bmv2's own Mininet scripts (``p4_mininet.py``, ``1sw_demo.py``), where ``simple_switch`` is phb-switch.

``PHB_BMV2`` is bmv2's source, ``PHB_P4_UTILS_PYTHON`` an interpreter that has Mininet; ``simple_switch_CLI`` is on the
PATH. With PHB_RECORD=1 bmv2 runs it, too, where it is installed, and a row of docs/evidence/recorded/peers.md is
written anew.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from . import apart, recorded

SOURCE = os.environ.get("PHB_BMV2", "")
PYTHON = os.environ.get("PHB_P4_UTILS_PYTHON", sys.executable)
SECONDS = 240


def run(folder: Path, path: str) -> dict[str, object]:
    """Run the demonstration on the switch that the PATH has; give what was seen."""
    shutil.copytree(Path(SOURCE) / "mininet", folder)
    return apart.run(apart.python(PYTHON, "bmv2_mininet_exercise"), folder, path, SECONDS)


def test_demonstration(tmp_path: Path) -> None:
    if not SOURCE:
        pytest.skip("PHB_BMV2 names no source of bmv2")
    if reason := apart.unavailable("mn", "ping", "iperf", "simple_switch_CLI"):
        pytest.skip(reason)
    result = run(tmp_path / "ours", apart.path_of_phb(tmp_path / "bin"))
    if recorded.wanted():
        theirs = run(tmp_path / "bmv2", os.environ["PATH"]) if shutil.which("simple_switch") else None
        recorded.record("p4lang/behavioral-model", "mininet/1sw_demo.py", result, theirs, recorded.commit(SOURCE))
    assert result["passed"], result["seen"]
