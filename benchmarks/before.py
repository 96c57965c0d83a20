"""The pipeline beside what it was before programs became native code.

The tree of `COMMIT`, from this repository's history, is built below build/before, once; its interpreter and today's
native code then run in turn, a process each. `before.PROGRAM.native` is the median of the turns' ratios.
"""

import shutil
import statistics
import subprocess
import sys

from benchmarks import instructions
from benchmarks.figures import Figure
from benchmarks.programs import ROOT, build_example, run

COMMIT = "144be25329a9504653a26a023d31fcdc72ce60e5"
FOLDER = ROOT / "build" / "before"
TURNS = 11
PACKETS = 300_000


def unavailable() -> str:
    """Say why this can't be measured here; empty if it can."""
    if shutil.which("git") is None:
        return "needs the command git"
    known = subprocess.run(
        ["git", "cat-file", "-e", f"{COMMIT}^{{commit}}"], cwd=ROOT, capture_output=True, check=False
    )
    return f"this copy has no commit {COMMIT[:7]}" if known.returncode else ""


def build() -> str:
    """Build the example `throughput` of the old tree; return its path."""
    tree = FOLDER / "tree"
    if not tree.exists():
        tree.mkdir(parents=True)
        archive = subprocess.run(["git", "archive", COMMIT], cwd=ROOT, check=True, stdout=subprocess.PIPE)
        subprocess.run(["tar", "x", "-C", str(tree)], input=archive.stdout, check=True)
    return build_example("phb-pipeline", "throughput", tree, FOLDER / "target")


def rate(command: list[str], program: str) -> float:
    """Run packets through a program once; return packets per second."""
    (figure,) = run([*command, program, str(PACKETS), "--json"])
    return figure.value


def measure() -> list[Figure]:
    """Measure both programs in turn, and count the old interpreter's instructions where valgrind is installed."""
    reason = unavailable()
    if reason:
        print(f"before: left out: {reason}", file=sys.stderr)
        return []
    before, today = [build()], [build_example("phb-pipeline", "throughput"), "--native"]
    figures = []
    for program in instructions.PROGRAMS:
        turns = [(rate(before, program), rate(today, program)) for _ in range(TURNS)]
        figures.append(Figure(f"before.{program}.pps", statistics.median(old for old, _ in turns), "packets/s"))
        figures.append(Figure(f"before.{program}.native", statistics.median(new / old for old, new in turns), "x"))
        if shutil.which("valgrind"):
            figures += instructions.figures(f"before.{program}.instructions", [*before, program])
    return figures
