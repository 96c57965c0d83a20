"""The source distribution, and of it the wheel of each architecture.

A wheel is built by cargo-zigbuild: zig links against the symbols of an old glibc, whatever the machine has, and knows
every architecture. auditwheel says whether the name of a wheel is true.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

# The oldest C library that a wheel runs with: that of numpy's own wheels, without which nobody has phb.
GLIBC = (2, 28)


class DistributionError(Exception):
    """A part of the release can't be made; `str()` says which and why."""


@dataclass(frozen=True)
class Architecture:
    """What a wheel is for, by the name that `uname -m` has for it."""

    machine: str

    @property
    def triple(self) -> str:
        """Return Rust's name of it."""
        return f"{self.machine}-unknown-linux-gnu"

    @property
    def tag(self) -> str:
        """Return the platform tag of its wheels (PEP 600)."""
        return f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{self.machine}"

    @property
    def is_host(self) -> bool:
        """Say whether this machine is one."""
        return platform.machine() == self.machine


ARCHITECTURES = (Architecture("x86_64"), Architecture("aarch64"))


def run(command: Sequence[str | Path], *, folder: Path | None = None, extra: Mapping[str, str] | None = None) -> str:
    """Run a command and return its output; `extra` is added to the environment.

    Raises:
        DistributionError: With the end of what it said, if it fails.
    """
    environment = os.environ | (extra or {})
    # Tools of this environment (cargo-zigbuild and its zig) are found though nobody activated it.
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).splitlines()[-40:])
        raise DistributionError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{said}")
    return done.stdout


def missing(architecture: Architecture) -> str:
    """Say why no wheel of an architecture can be made here; empty if it can."""
    library = Path(run(["rustc", "--print", "target-libdir", "--target", architecture.triple]).strip())
    if not any(library.glob("libstd-*.rlib")):
        return f"Rust's standard library for it is not here (rustup target add {architecture.triple})"
    return ""


def source(tree: Path, out: Path) -> Path:
    """Write the source distribution of a tree into a folder and return its path."""
    run([sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", out, tree])
    return next(out.glob("phb-*.tar.gz"))


def unpack(distribution: Path, work: Path) -> Path:
    """Unpack a source distribution into a folder that is made anew, and return the tree in it."""
    shutil.rmtree(work, ignore_errors=True)
    with tarfile.open(distribution) as archive:
        archive.extractall(work, filter="data")
    return next(work.iterdir())


def wheel(tree: Path, architecture: Architecture, out: Path, target: Path) -> Path:
    """Build the wheel of an unpacked source distribution into `out`, with cargo's files in `target`; return its path.

    Raises:
        DistributionError: If it can't be built, or doesn't run where its name says.
    """
    # What setuptools left of another architecture has the same names.
    shutil.rmtree(tree / "build", ignore_errors=True)
    run(
        [
            *(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out),
            *(f"-C--build-option=--plat-name={architecture.tag}", tree),
        ],
        extra={
            "CARGO": "cargo-zigbuild",
            "CARGO_BUILD_TARGET": f"{architecture.triple}.{GLIBC[0]}.{GLIBC[1]}",
            "CARGO_TARGET_DIR": str(target),
            # Nobody profiles an installed one; lines of the sources are more than half of the module.
            "CARGO_PROFILE_RELEASE_DEBUG": "false",
            # The module is for the stable interface of every Python; none of this machine is asked.
            "PYO3_NO_PYTHON": "1",
        },
    )
    made = next(out.glob(f"phb-*-cp311-abi3-{architecture.tag}.whl"), None)
    if made is None:
        found = ", ".join(each.name for each in out.glob("*.whl"))
        raise DistributionError(f"{out}: found {found or 'no wheel'}, expected phb-*-cp311-abi3-{architecture.tag}.whl")
    if wrong := older_than_its_name(json.loads(run([sys.executable, "-m", "auditwheel", "show", "--json", made]))):
        raise DistributionError(f"{made}: {wrong}")
    return made


def older_than_its_name(report: Mapping[str, str]) -> str:
    """Say what auditwheel's report has against the wheel's name; empty if nothing."""
    found = report["overall_tag"]
    glibc = re.match(r"manylinux_(\d+)_(\d+)_", found)
    if glibc and (int(glibc[1]), int(glibc[2])) <= GLIBC:
        return ""
    return f"found symbols of {found}, expected of glibc {GLIBC[0]}.{GLIBC[1]} at most"
