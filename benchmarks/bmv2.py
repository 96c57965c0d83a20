"""What is known of the bmv2 that phb is compared with: its speed depends on how it was built.

The program says its version. Whether its logging was compiled in shows in the texts that it would log, and the
compiler's options where debugging information keeps them. What it doesn't show, its builder may say in the variable
BMV2_BUILD of the environment: `make bench BMV2_BUILD="-O3"`.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from benchmarks.figures import Figure

PROGRAM = "simple_switch_grpc"
# Logged of each packet at level debug (targets/simple_switch/simple_switch.cpp), so only there with the macros.
LOGGED = b"Processing packet received on port"
# GCC's and Clang's name of themselves in debugging information, with the options given.
PRODUCER = re.compile(rb"(?:GNU C\+\+|clang version )[^\0\n]*?(-O[0-3sg](?:fast)?)\b[^\0\n]*")


def name_build(figures: Iterable[Figure]) -> list[Figure]:
    """Return the figures, those of bmv2 with its build."""
    return [replace(figure, of=build()) if ".bmv2." in figure.name else figure for figure in figures]


@cache
def build() -> str:
    """Describe the build of the bmv2 on the PATH; empty where there is none."""
    program = shutil.which(PROGRAM)
    if program is None:
        return ""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    return description(said.strip(), [Path(program).read_bytes(), *_libraries(program)], os.environ.get("BMV2_BUILD"))


def _libraries(program: str) -> list[bytes]:
    """Return bmv2's own shared libraries, as far as it has any."""
    if shutil.which("ldd") is None:
        return []
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    return [Path(path).read_bytes() for path in re.findall(r"lib(?:bm|simple)\S* => (/\S+)", listed)]


def description(version: str, files: list[bytes], said: str | None) -> str:
    """Describe a build by its version, the content of its files, and what its builder says of it."""
    options = {match[1].decode() for content in files for match in PRODUCER.finditer(content)}
    logging = "with logging compiled in" if any(LOGGED in content for content in files) else "without logging"
    optimised = "/".join(sorted(options)) or ("" if said else "optimisation not known, BMV2_BUILD can say it")
    return ", ".join(part for part in (f"bmv2 {version}", logging, optimised, said and f"built with {said}") if part)
