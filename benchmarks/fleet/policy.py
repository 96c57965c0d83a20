"""Policies of a fleet: one node with classes that state objectives, in versions of which one starves a class."""

from __future__ import annotations

from benchmarks.monitor.policy import CLASSES, policy


def version(number: int, *, objectives: bool = False) -> str:
    """Return a policy: `policy` with a rule more than the one before; `objectives` are judged each second."""
    text = policy(CLASSES + number)
    if objectives:
        return text.replace("maximum-loss-percent: 1", "maximum-loss-percent: 1\n      interval-s: 1")
    # Without them nothing is watched.
    lines, within = [], False
    for line in text.splitlines():
        within = line.strip() == "objectives:" or (within and line.startswith("      "))
        if not within:
            lines.append(line)
    return "\n".join(lines) + "\n"


def starving(number: int) -> str:
    """Return `version` with objectives, which drops nearly all of a class."""
    rate = "committed-rate: {value: 1, unit: kbit/s, basis: ethernet}"
    meter = f"meter: {{kind: single-rate, {rate}, committed-burst-bytes: 200, red: {{drop: true}}}}"
    return version(number, objectives=True).replace("class: class3}", f"class: class3, {meter}}}")
