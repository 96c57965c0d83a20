"""`compare.*.s`, `search.*.s`: two policies of many rules compared, and one searched, by boxes (phb.regions.cells).

Seconds of one core, from behaviours to all regions; reading the policies isn't part of it. Memory is that of all of
them, one after the other. Two policies that have nothing to do with each other have millions of regions at 10,000
rules, so that only 1,000 are compared.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.behaviours import PAIRS, five_fields
from benchmarks.figures import Figure, write
from phb.behaviour.behaviour import Behaviour
from phb.behaviour.deciding import Decided, treatment
from phb.packets.space import Version, every_packet
from phb.regions import cells
from phb.regions.effects import Wanted

RULES = (1_000, 10_000)
ALL_DIFFERENT = "another"
MOST = 1_000
"""Rules of policies that differ everywhere."""


def _seconds(behaviours: Sequence[Behaviour], wanted: Wanted | None = None) -> float:
    started = time.process_time()
    for _ in cells.divide_many(behaviours, every_packet(1), same=wanted is None, wanted=wanted):
        pass
    return time.process_time() - started


def measure() -> list[Figure]:
    """Measure each kind of change, and which packets get one class."""
    figures = []
    for rules in RULES:
        policy = five_fields(rules)
        for name, change in PAIRS.items():
            if name != ALL_DIFFERENT or rules <= MOST:
                key = name.replace(", ", "_").replace(" ", "_")
                figures.append(Figure(f"compare.{rules}.{key}.s", _seconds((policy, change(policy))), "s"))

        def in_class(decided: tuple[Decided, ...], version: Version, policy: Behaviour = policy) -> bool:
            return treatment(policy.input, decided[0].input).traffic_class == 3

        figures.append(Figure(f"search.{rules}.class.s", _seconds((policy,), in_class), "s"))
    figures.append(Figure("compare.memory.mb", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "MB"))
    return figures


def main(json: Annotated[Path | None, typer.Option(help="Write the figures to this file.")] = None) -> None:
    """Measure how long policies of many rules take to compare."""
    figures = measure()
    for figure in figures:
        print(f"{figure.name} {figure.value:.2f} {figure.unit}")
    if json is not None:
        write(json, figures)


if __name__ == "__main__":
    typer.run(main)
