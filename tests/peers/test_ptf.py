"""PTF suites of others, run by their own scripts on the switch that the PATH has.

``PHB_P4_GUIDE`` is a checkout of jafingerhut/p4-guide. On the PATH are p4c's driver and ``ptf``, and ``ptf`` has
what the suites import (p4runtime-shell). With PHB_RECORD=1 bmv2 runs them, too, where it is installed, and rows of
docs/evidence/recorded/peers.md are written anew.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from . import apart, recorded

P4_GUIDE = os.environ.get("PHB_P4_GUIDE", "")
SECONDS = 400

P4_GUIDES = (
    "demo1",
    "demo1-bitselect-key",
    "demo2",
    "demo7",
    "ptf-tests/duplicatekeys",
    "ptf-tests/idletimeout",
    "ptf-tests/matchkinds",
    "ptf-tests/packetinout",
    "ptf-tests/registeraccess",
)
"""Its folders with tests, but for two: see the page."""
EXPECTED = {"ptf-tests/duplicatekeys": ["duplicatekeys.IPv4FwdTest"]}
"""The cases that fail, as they do on bmv2."""


def told(output: str) -> dict[str, object]:
    """What PTF's output says: how many tests ran, and which failed."""
    ran = sum(map(int, re.findall(r"^Ran (\d+) tests? in", output, re.MULTILINE)))
    failed = sorted(set(re.findall(r"^(?:FAIL|ERROR): (\S+)", output, re.MULTILINE)))
    words = f"{ran - len(failed)} of {ran} cases" + (f", not {', '.join(failed)}" if failed else "")
    assert ran, output
    return {"passed": not failed, "seen": words, "failed": failed}


def run_p4_guide(name: str, folder: Path, path: str) -> dict[str, object]:
    """Run a folder's ``runptf.sh``; give what was seen."""
    shutil.copytree(P4_GUIDE, folder, ignore=shutil.ignore_patterns(".git", "*.pdf", "*.png"))
    # They start the switch by sudo, which has a PATH of its own.
    sudo = folder / "as-root" / "sudo"
    sudo.parent.mkdir()
    sudo.write_text('#!/bin/sh\nexec "$@"\n')
    sudo.chmod(0o755)
    path = f"{sudo.parent}:{path}"
    command = f"{folder}/bin/veth_setup.sh && exec ./runptf.sh"
    ended = apart.start(["bash", "-c", command], folder / name, path, SECONDS)
    (folder / "output.txt").write_text(ended.stdout + ended.stderr)
    return told(ended.stdout + ended.stderr)


@pytest.mark.parametrize("name", P4_GUIDES)
def test_p4_guide(name: str, tmp_path: Path) -> None:
    if not P4_GUIDE:
        pytest.skip("PHB_P4_GUIDE names no checkout of jafingerhut/p4-guide")
    if reason := apart.unavailable("bash", "p4c", "ptf"):
        pytest.skip(reason)
    result = run_p4_guide(name, tmp_path / "ours", apart.path_of_phb(tmp_path / "bin"))
    if recorded.wanted():
        theirs = run_p4_guide(name, tmp_path / "bmv2", os.environ["PATH"]) if apart.bmv2_version() else None
        recorded.record("jafingerhut/p4-guide", name, result, theirs, recorded.commit(P4_GUIDE))
    assert result["failed"] == EXPECTED.get(name, []), result["seen"]
