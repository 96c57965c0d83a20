"""The committed artifacts are what p4c makes of the programs beside them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from .support import PROGRAMS


@pytest.mark.skipif(shutil.which("p4c-bm2-ss") is None, reason="p4c is not installed")
@pytest.mark.parametrize("name", ["constants", "features", "ranked", "router"])
def test_artifacts_are_fresh(tmp_path: Path, name: str) -> None:
    made, info = tmp_path / f"{name}.json", tmp_path / f"{name}.p4info.txt"
    command = ["p4c-bm2-ss", "--std", "p4-16", f"{name}.p4", "-o", str(made), "--p4runtime-files", str(info)]
    subprocess.run(command, cwd=PROGRAMS, check=True)
    assert made.read_text() == (PROGRAMS / made.name).read_text()
    committed = PROGRAMS / f"{name}.p4info.txtpb"
    assert not committed.exists() or info.read_text() == committed.read_text()
