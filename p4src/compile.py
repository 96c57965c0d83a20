"""Run p4c on the program, and record which sources an artifact was made from.

The manifest lets a machine without p4c prove that sources and artifacts belong together: it holds the SHA-256 of every
file on both sides.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from phb_p4 import BUILD_DIRECTORY, SOURCE_DIRECTORY

COMPILER = "p4c-bm2-ss"
MANIFEST = BUILD_DIRECTORY / "manifest.json"
# Older compilers know the suffix .txt only, so they write that and the file is renamed.
_P4INFO_BY_COMPILER = "phb.p4info.txt"


class CompileError(Exception):
    """P4c is missing, or refused the program; the message holds its own words."""


def compiler_version() -> str | None:
    """Version of the installed p4c, or None where there is none."""
    if shutil.which(COMPILER) is None:
        return None
    done = subprocess.run([COMPILER, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"Version (\S+)", done.stdout + done.stderr)
    return found.group(1) if found else "unknown"


def include_directory() -> Path | None:
    """Where p4c's ``core.p4`` and ``v1model.p4`` lie: ``P4C_INCLUDE``, or beside the compiler's prefix."""
    compiler = shutil.which(COMPILER)
    candidates = [Path(os.environ["P4C_INCLUDE"])] if "P4C_INCLUDE" in os.environ else []
    if compiler is not None:
        candidates.append(Path(compiler).resolve().parent.parent / "share" / "p4c" / "p4include")
    return next((path for path in candidates if (path / "v1model.p4").exists()), None)


def compile_program(destination: Path) -> str:
    """Compile ``phb.p4`` into ``destination``; returns p4c's version.

    Raises:
        CompileError: p4c is not on the PATH, or refuses the program.

    """
    version = compiler_version()
    if version is None:
        raise CompileError(f"{COMPILER} is not on the PATH; the committed artifacts stay as they are")
    include = include_directory()
    with tempfile.TemporaryDirectory() as scratch:
        # The artifact records file names: running beside the sources keeps this machine's paths out of it.
        command = [COMPILER, "--std", "p4-16", "phb.p4", "-o", f"{scratch}/phb.json"]
        command += ["--p4runtime-files", f"{scratch}/{_P4INFO_BY_COMPILER}"]
        if include is not None:
            command += ["-I", str(include)]
        done = subprocess.run(command, cwd=SOURCE_DIRECTORY, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CompileError(f"{COMPILER} refused p4src/phb.p4:\n{done.stderr.strip()}")
        shutil.move(f"{scratch}/phb.json", destination / "phb.json")
        shutil.move(f"{scratch}/{_P4INFO_BY_COMPILER}", destination / "phb.p4info.txtpb")
    return version


def digests() -> dict[str, str]:
    """SHA-256 of every source and artifact, by path below ``p4src/``."""
    files = [
        *SOURCE_DIRECTORY.glob("*.p4"),
        BUILD_DIRECTORY / "phb.json",
        BUILD_DIRECTORY / "phb.p4info.txtpb",
    ]
    return {
        str(path.relative_to(SOURCE_DIRECTORY)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)
    }


def write_manifest(version: str) -> None:
    """Record what the artifacts were made from, and by which p4c."""
    MANIFEST.write_text(json.dumps({"p4c": version, "sha256": digests()}, indent=2) + "\n")


def read_manifest() -> tuple[str, dict[str, str]]:
    """P4c's version and the digests as :func:`write_manifest` recorded them."""
    recorded = json.loads(MANIFEST.read_text())
    return recorded["p4c"], recorded["sha256"]
