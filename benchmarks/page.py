"""The page of figures that `make bench` writes."""

import os
import platform
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.figures import DEMANDS, Demand, Figure
from benchmarks.instructions import PARTS, PROGRAMS

HEAD = """\
# Performance: figures

`make bench` on {where}, in one run. [Performance](../performance.md) says what the figures are.
"""

# Who runs the instructions, and the names of their figures.
EXECUTORS = (
    ("before", "before.{}.instructions"),
    ("interpreter", "instructions.{}.interpreter"),
    ("native", "instructions.{}"),
)


def machine() -> str:
    """Describe the machine as far as its system tells."""
    path = Path("/proc/cpuinfo")
    found = re.search(r"^model name\s*: (.+)$", path.read_text(), re.MULTILINE) if path.exists() else None
    processors = os.cpu_count() or 1
    model = f"{processors} processors {found[1].strip() if found else platform.machine()}"
    return f"{model}, {platform.system()} {platform.release()}"


def number(value: float) -> str:
    """Write a value with four digits, or all of a larger one."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:,.4g}"


def page(figures: Sequence[Figure], where: str) -> str:
    """Write the page of one run's figures, measured on `where`."""
    named = {figure.name: figure for figure in figures}
    lines = [HEAD.format(where=where), "| figure | measured | asked |", "|---|---|---|"]
    values = {figure.name: figure.value for figure in figures}
    for demand in DEMANDS:
        measured = demand.measured(values)
        if measured is not None:
            lines.append(_demanded(demand, measured, named))
    shown = {demand.figure for demand in DEMANDS if demand.over is None}
    lines += [
        f"| `{figure.name}` | {number(figure.value)} {figure.unit}{f' ({figure.of})' if figure.of else ''} | |"
        for figure in figures
        if figure.name not in shown and "instructions" not in figure.name
    ]
    for program in PROGRAMS:
        lines += _instructions(program, named)
    return "\n".join(lines) + "\n"


def _demanded(demand: Demand, value: float, figures: Mapping[str, Figure]) -> str:
    figure = figures[demand.figure]
    name, measured = f"`{figure.name}`", f"{number(figure.value)} {figure.unit}"
    if demand.over is not None:
        over = figures[demand.over]
        name += f" / `{over.name}`"
        measured = f"{number(figure.value)} / {number(over.value)} = {number(value)}"
        measured += f" ({over.of})" if over.of else ""
    bound = f"at least {demand.at_least:,g}" if demand.at_least is not None else f"at most {demand.at_most:,g}"
    return f"| {name} | {measured} | {bound}{'' if demand.met(value) else ': **missed**'} |"


def _instructions(program: str, figures: Mapping[str, Figure]) -> list[str]:
    """Write a table of a program's instructions per packet, by part and executor."""
    columns = [(name, pattern.format(program)) for name, pattern in EXECUTORS if pattern.format(program) in figures]
    if not columns:
        return []
    lines = ["", f"| `{program}`: instructions of a packet | {' | '.join(name for name, _ in columns)} |"]
    lines += ["|---|" + "---|" * len(columns)]
    for part in ("", *(f".{name}" for name, _ in PARTS), ".glue"):
        found = [figures.get(name + part) for _, name in columns]
        cells = " | ".join(f"{round(figure.value):,}" if figure else "0" for figure in found)
        lines.append(f"| {part[1:] or 'all'} | {cells} |")
    return lines
