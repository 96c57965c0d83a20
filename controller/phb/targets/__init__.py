"""Capabilities of each kind of switch: one data file per target, each row with its reason and its source.

A policy that asks for more than its target has is refused by name, never bent.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from phb.errors import InputError
from phb.origin import Origin

FOLDER = Path(__file__).parent

DEFAULT_TARGET = "phb-switch"


class Capability(StrEnum):
    """The capabilities in which targets differ; everything else of the model works on all of them."""

    FLOW_QUEUEING = "flow-queueing"
    BANDWIDTH_SHARES = "bandwidth-shares"
    STRICT_LEVELS = "strict-levels"
    QUEUE_LIMITS = "queue-limits"
    PUSH_OUT = "push-out"
    EARLY_DETECTION = "early-detection"
    BUFFERS = "buffers"
    SHAPING = "shaping"
    SHAPER_BURST = "shaper-burst"
    CLASS_SHAPING = "class-shaping"
    ATOMIC_WRITES = "atomic-writes"
    REGISTER_READS = "register-reads"


@dataclass(frozen=True, slots=True)
class Support:
    """A target's answer for one capability.

    Attributes:
        approximate: Whether it only comes close.
        most: The amount, where that is a number: strict levels, packets in a queue.
        measured: The result of a probe: `make capabilities` tries each on each target.
        reason: Why, or why not.
        source: The reason's.
    """

    supported: bool
    measured: str
    reason: str
    source: str
    most: int | None = None
    approximate: bool = False

    @property
    def says(self) -> str:
        """The word of the documentation's table."""
        if not self.supported:
            return "no"
        if self.approximate:
            return "approximately"
        return "yes" if self.most is None else f"up to {self.most}"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """One target's row of the table; `maps_ranks` onto strict-priority queues where there is no queue by rank."""

    name: str
    title: str
    support: Mapping[Capability, Support]
    maps_ranks: bool = False

    def __contains__(self, capability: Capability) -> bool:
        return self.support[capability].supported

    def require(self, capability: Capability, origin: Origin, found: str, amount: int = 0) -> None:
        """Refuse a statement that needs more than the target has: the capability, or this amount of it.

        `found` is what the statement asks for, in its own words.
        """
        support = self.support[capability]
        if not support.supported:
            raise InputError(origin, found, f"none on target '{self.name}': {support.reason}")
        if support.most is not None and amount > support.most:
            raise InputError(origin, found, f"at most {support.most} on target '{self.name}': {support.reason}")


def names() -> list[str]:
    """Give all targets, the default one first."""
    found = sorted(path.stem for path in FOLDER.glob("*.toml"))
    return [DEFAULT_TARGET, *(name for name in found if name != DEFAULT_TARGET)]


@cache
def load(name: str) -> Capabilities:
    """Read the target of this name; refuse an unknown one."""
    if name not in names():
        raise InputError(Origin("--target"), f"target '{name}'", f"one of {', '.join(names())}")
    data = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    support = {capability: Support(**data["capabilities"][capability.value]) for capability in Capability}
    return Capabilities(name, data["title"], support, data.get("maps-ranks", False))


def markdown() -> str:
    """Give the table of the documentation."""
    lines = ["| capability | target | | seen | why | source |", "|---|---|---|---|---|---|"]
    for capability in Capability:
        for name in names():
            support = load(name).support[capability]
            lines.append(
                f"| {capability} | {name} | {support.says} | {support.measured} | {support.reason} | {support.source} |"
            )
    return "\n".join(lines) + "\n"


def with_table(document: str) -> str:
    """Replace a document's first table of capabilities by the present one."""
    lines = document.splitlines(keepends=True)
    start = next(number for number, line in enumerate(lines) if line.startswith("| capability |"))
    end = next((number for number, line in enumerate(lines[start:], start) if not line.startswith("|")), len(lines))
    return "".join([*lines[:start], markdown(), *lines[end:]])
