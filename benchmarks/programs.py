"""Figures of single parts, measured by programs of the Rust workspace: pipeline, tables, PIFO and shaper.

Each is an example of its crate, built with optimisation, that prints a JSON list of `{name, value, unit}`.
"""

import json
import subprocess
from pathlib import Path

from benchmarks.figures import Figure, parse

ROOT = Path(__file__).parents[1]
EXAMPLES = (("phb-pipeline", "throughput"), ("phb-pipeline", "classify"), ("phb-traffic-manager", "pifo"))


def build_example(crate: str, example: str, root: Path = ROOT, target: Path | None = None) -> str:
    """Build an example of the workspace at `root`, with its files in `target` if given; return the program's path."""
    command = ["cargo", "build", "--release", "--quiet", "-p", crate, "--example", example, "--message-format=json"]
    if target is not None:
        command += ["--target-dir", str(target)]
    built = subprocess.run(command, cwd=root, check=True, stdout=subprocess.PIPE, text=True).stdout
    messages = [json.loads(line) for line in built.splitlines()]
    (path,) = (each["executable"] for each in messages if each.get("executable") and each["target"]["name"] == example)
    return str(path)


def run(command: list[str]) -> list[Figure]:
    """Return the figures that a program prints."""
    return parse(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def measure() -> list[Figure]:
    """Build and run every example."""
    return [figure for example in EXAMPLES for figure in run([build_example(*example), "--json"])]
