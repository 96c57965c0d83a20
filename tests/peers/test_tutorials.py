"""p4lang/tutorials' exercises under their own Mininet scripts, with phb-switch where they start ``simple_switch_grpc``.

``PHB_TUTORIALS`` is a checkout in which the solutions have been compiled (an exercise's ``make build``, with
``solution/*.p4`` in its place), ``PHB_TUTORIALS_PYTHON`` an interpreter that has what the scripts import: Mininet,
gRPC, P4Runtime's messages, scapy and psutil. With PHB_RECORD=1 the table in docs/evidence/recorded/tutorials.md is
written anew, and bmv2 runs the exercises, too, where it is installed.

Each exercise runs in namespaces of its own: nothing of it is left, whatever happens.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .tutorials_exercise import CHECKS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "evidence" / "recorded" / "tutorials.md"
SCRIPT = Path(__file__).with_name("tutorials_exercise.py")
TUTORIALS = os.environ.get("PHB_TUTORIALS", "")
PYTHON = os.environ.get("PHB_TUTORIALS_PYTHON", sys.executable)
EXECUTABLE = os.environ.get("PHB_SWITCH", str(Path(sys.executable).with_name("phb-switch")))
"""The switch; by default that of this environment."""
SECONDS = 200

START = "mount -t sysfs sysfs /sys && ip link set lo up && exec"
APART = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def unavailable(name: str) -> str:
    """Why an exercise can't run here, or nothing."""
    if not TUTORIALS:
        return "PHB_TUTORIALS names no checkout of p4lang/tutorials"
    if not (Path(TUTORIALS) / "exercises" / name / "build" / f"{name}.json").exists():
        return f"exercises/{name} has not been built"
    if os.geteuid() != 0:
        return "needs root"
    for command in ("mn", "iperf", "ping", "unshare"):
        if shutil.which(command) is None:
            return f"needs the command {command}"
    return "" if Path(EXECUTABLE).exists() else f"there is no {EXECUTABLE}"


def run(name: str, folder: Path, path: str) -> dict[str, object]:
    """Run an exercise on the switch that the PATH has; give what was seen."""
    shutil.copytree(Path(TUTORIALS) / "utils", folder / "utils")
    exercise = folder / "exercises" / name
    shutil.copytree(Path(TUTORIALS) / "exercises" / name, exercise)
    for outputs in ("logs", "pcaps"):
        (exercise / outputs).mkdir(exist_ok=True)
    ended = subprocess.run(
        [*APART, "sh", "-c", f'{START} "$@"', "sh", PYTHON, str(SCRIPT), name],
        cwd=exercise,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    result: dict[str, object] = json.loads(ended.stdout.splitlines()[-1])
    return result


def record(name: str, columns: list[str]) -> None:
    """Put an exercise's row into the table of the page."""
    before, rows = PAGE.read_text().split("|---|---|---|\n")
    table = {row.split("|")[1].strip(" `"): row for row in rows.splitlines() if row}
    table[name] = f"| `{name}` | {' | '.join(columns)} |"
    PAGE.write_text(f"{before}|---|---|---|\n" + "".join(f"{table[each]}\n" for each in sorted(table)))


@pytest.mark.parametrize("name", CHECKS)
def test_exercise(name: str, tmp_path: Path) -> None:
    if reason := unavailable(name):
        pytest.skip(reason)
    ours = tmp_path / "bin"
    ours.mkdir()
    (ours / "simple_switch_grpc").symlink_to(EXECUTABLE)
    path = os.environ["PATH"]
    result = run(name, tmp_path / "ours", f"{ours}:{path}")
    if os.environ.get("PHB_RECORD"):
        theirs = run(name, tmp_path / "bmv2", path) if shutil.which("simple_switch_grpc") else None
        record(name, [in_words(result), "not run" if theirs is None else in_words(theirs)])
    assert result["passed"], result["seen"]


def in_words(result: dict[str, object]) -> str:
    words = str(result["seen"]).replace("|", "\\|")
    return f"{'passes' if result['passed'] else 'fails'}: {words}"
