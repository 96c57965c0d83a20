"""`push.*.s`: 10,000 rules from node intent to a switch that holds them, over P4Runtime.

The switch runs as the command `phb-switch`, a process of its own. The time is that after compilation: encode, number as
the switch does, compare, write, read back. Rules have an IPv4 range, a port and a mark, so that each is two entries.
"""

import asyncio
import json
import subprocess
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from benchmarks.figures import Figure, write
from phb.device.artifact import Artifact
from phb.intent import NodeIntent
from phb.pushing.push import load_intent, push_intent

RULES = 10_000
MARKS = 50
ROUNDS = 3


def _rule(number: int) -> str:
    addresses = f"10.{number // 250}.{number % 250}.0/24"
    match = f"{{source: {addresses}, source-ports: {1000 + number % 1000}}}"
    return f"  - {{name: rule{number}, actions: [mark{number % MARKS}], match: [{match}]}}"


def _policy(rules: list[str]) -> str:
    lines = ["phb: 1", "node: n", "ports: [{name: one, number: 1}, {name: two, number: 2}]", "actions:"]
    lines += [f"  - {{name: mark{number}, set-tos: {4 * number}}}" for number in range(MARKS)]
    return "\n".join([*lines, "rules:", *rules]) + "\n"


def _intents(artifact: Artifact) -> tuple[NodeIntent, NodeIntent]:
    """Return the rules, and the same with one more in the middle."""
    rules = [_rule(number) for number in range(RULES)]
    more = [*rules[: RULES // 2], _rule(RULES), *rules[RULES // 2 :]]
    with TemporaryDirectory() as folder:
        loaded = []
        for name, lines in (("rules", rules), ("more", more)):
            path = Path(folder) / f"{name}.yaml"
            path.write_text(_policy(lines), encoding="utf-8")
            loaded.append(load_intent([path], artifact, at=datetime.now(UTC)))
    return loaded[0], loaded[1]


async def _push(address: str, artifact: Artifact, intent: NodeIntent, changes: int) -> float:
    started = time.perf_counter()
    report = await push_intent(address, intent, artifact)
    taken = time.perf_counter() - started
    assert len(report.changes) == changes
    return taken


async def _round(artifact: Artifact, intent: NodeIntent, more: NodeIntent) -> tuple[float, float]:
    """Return seconds of the first push, and of one with one more rule."""
    command = [sys.executable, "-m", "phb_switch", "--no-p4", "--json"]
    command += ["--device-id", "1", "--grpc-server-addr", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            address = json.loads(process.stdout.readline())["grpc_server_addr"]
            # Loads the program: not part of the measurement.
            await _push(address, artifact, replace(intent, entries=(), policies=()), 0)
            first = await _push(address, artifact, intent, len(intent.entries))
            return first, await _push(address, artifact, more, 2)
        finally:
            process.terminate()
            process.wait()


async def _rounds(artifact: Artifact) -> list[tuple[float, float]]:
    intent, more = _intents(artifact)
    return [await _round(artifact, intent, more) for _ in range(ROUNDS)]


def measure() -> list[Figure]:
    """Take the fastest of several rounds: other load only slows one down."""
    rounds = asyncio.run(_rounds(Artifact.load()))
    return [
        Figure("push.10000.s", min(first for first, _ in rounds), "s"),
        Figure("push.10000.one_more.s", min(second for _, second in rounds), "s"),
    ]


def main(json: Annotated[Path | None, typer.Option(help="Write the figures to this file.")] = None) -> None:
    """Measure how long 10,000 rules take to reach a switch."""
    figures = measure()
    for figure in figures:
        print(f"{figure.name} {figure.value:.2f} {figure.unit}")
    if json is not None:
        write(json, figures)


if __name__ == "__main__":
    typer.run(main)
