"""Several details as one: what a chart with fewer points than there are moments shows without hiding a peak."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from phb.monitor.live.messages import ClassFigures, Detail, ObjectiveFigures, PortFigures

_STATES = ("okay", "unknown", "not-achieved")

Figures = TypeVar("Figures")


def thinned(lines: Sequence[bytes], most: int) -> list[bytes]:
    """Give lines of details as at most `most` lines, of which each stands for as many moments, but the first."""
    if len(lines) <= most:
        return list(lines)
    step = -(-len(lines) // most)
    first = len(lines) % step
    groups = [lines[:first], *(lines[start : start + step] for start in range(first, len(lines), step))]
    # Separators as of the lines that it stands for.
    return [
        json.dumps(merged([json.loads(line) for line in group]), separators=(",", ":")).encode()
        for group in groups
        if group
    ]


def merged(details: Sequence[Detail]) -> Detail:
    """Give details of one switch, the oldest first, as one: mean rates, and of delays and queues the highest.

    Objectives have the worst state that they had; all else is as it was last.
    """
    newest = details[-1]
    known = [each for each in details if each["seconds"]] or [newest]
    return {
        **newest,
        "seconds": round(sum(each["seconds"] for each in details), 3),
        "ports": _by_name([each["ports"] for each in known], newest["ports"], _ports),
        "classes": _by_name([each["classes"] for each in known], newest["classes"], _classes),
        "objectives": [_worst(each, details) for each in newest["objectives"]],
    }


def _by_name(
    parts: Iterable[Mapping[str, Figures]], names: Iterable[str], merge: Callable[[list[Figures]], Figures]
) -> dict[str, Figures]:
    held = list(parts)
    found = {name: [part[name] for part in held if name in part] for name in names}
    return {name: merge(figures) for name, figures in found.items() if figures}


def _ports(figures: list[PortFigures]) -> PortFigures:
    newest = figures[-1]
    queues: dict[str, Any] = {
        name: {
            "bps": _mean(each["bps"] for each in of_queue),
            "pps": _mean(each["pps"] for each in of_queue),
            "refused": _mean(each["refused"] for each in of_queue),
            "queued": _most(each["queued"] for each in of_queue),
        }
        for name in newest["queues"]
        if (of_queue := [each["queues"][name] for each in figures if name in each["queues"]])
    }
    return {
        **newest,
        "bps": _mean(each["bps"] for each in figures),
        "pps": _mean(each["pps"] for each in figures),
        "queued": _most(each["queued"] for each in figures),
        "queues": queues,
    }


def _classes(figures: list[ClassFigures]) -> ClassFigures:
    delays = [each["delays"] for each in figures if each["delays"] is not None]
    means = [each["mean"] for each in figures if each["mean"] is not None]
    reasons = dict.fromkeys(reason for each in figures for reason in each["dropped"])
    highest: Any = {name: max(each[name] for each in delays) for name in delays[0]} if delays else None
    return {
        "bps": _mean(each["bps"] for each in figures),
        "pps": _mean(each["pps"] for each in figures),
        "dropped": {reason: _mean(each["dropped"].get(reason, 0.0) for each in figures) for reason in reasons},
        "marked": _mean(each["marked"] for each in figures),
        "queued": _most(each["queued"] for each in figures),
        "mean": _mean(means) if means else None,
        "delays": highest,
    }


def _worst(objective: ObjectiveFigures, details: Iterable[Detail]) -> ObjectiveFigures:
    about = _about(objective)
    states = {each["state"] for detail in details for each in detail["objectives"] if _about(each) == about}
    return {**objective, "state": max(states, key=_STATES.index)}


def _about(objective: ObjectiveFigures) -> object:
    return objective["of"], objective["measure"], objective["percentile"], objective["bound"]


def _mean(values: Iterable[float]) -> float:
    held = list(values)
    return float(f"{sum(held) / len(held):.4g}")


def _most(values: Iterable[int | None]) -> int | None:
    return max((each for each in values if each is not None), default=None)
