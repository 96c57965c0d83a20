"""Figures of single parts, measured by programs of the Rust workspace: pipeline, tables, PIFO and shaper.

Each is an example of its crate, built with optimisation, that prints a JSON list of `{name, value, unit}`.
"""

import subprocess
from pathlib import Path

from benchmarks.figures import Figure, parse

ROOT = Path(__file__).parents[1]
EXAMPLES = (("phb-pipeline", "throughput"), ("phb-pipeline", "classify"), ("phb-traffic-manager", "pifo"))


def measure() -> list[Figure]:
    """Build and run every example."""
    figures = []
    for crate, example in EXAMPLES:
        command = ["cargo", "run", "--release", "--quiet", "-p", crate, "--example", example, "--", "--json"]
        figures += parse(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return figures
