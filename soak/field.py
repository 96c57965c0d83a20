"""The tools of a fault (the switch, generators), and its results."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random

from soak.flood import Flood, Flooded
from soak.frames import flood_frames
from soak.policies import PORTS, draw_policy
from soak.target import Target

FAULT_S = 4.0
"""How long a fault lasts, unless what it does takes its own time."""
_FRAMES = 1000
_STARTS_S = 0.3


@dataclass
class Field:
    """The state of one fault.

    Attributes:
        random: Draws the fault's choices.
        generator: The program that floods.
        stale: The switch may not hold its policy any more: a push has to come.
        killed: The fault has ended the switch on purpose.
        reloaded: Counters have begun anew.
        counts: Actions, by name.
        flooded: Frames of floods.
    """

    target: Target
    random: Random
    generator: str
    stale: bool = False
    killed: bool = False
    reloaded: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    flooded: Flooded = field(default_factory=Flooded)
    problems: list[str] = field(default_factory=list)

    def new_policy(self) -> None:
        """Put another policy into the file."""
        text = draw_policy(self.random)
        beside = self.target.folder / "beside.yaml"
        beside.write_text(text)
        beside.replace(self.target.policy)

    def push(self) -> None:
        """Push another policy, which has to succeed."""
        self.new_policy()
        if problem := self.target.push():
            self.problems.append(problem)
        self.counts["pushes"] += 1

    @contextmanager
    def flood(
        self, *, seconds: float = FAULT_S, per_second: int | None = None, egress: int | None = None
    ) -> Iterator[None]:
        """Flood while the body runs, and at least for `seconds`: then generators end by themselves.

        `per_second` is at each port, 0 for as many as the generator can, None for a random rate. All other ports send
        to `egress`; None is everywhere.
        """
        if per_second is None:
            per_second = self.random.choice([5_000, 20_000])
        frames = {port: flood_frames(self.random, port, _FRAMES, None if port == egress else egress) for port in PORTS}
        flood = Flood(self.generator, self.target.folder, frames, per_second, seconds)
        with flood:
            time.sleep(_STARTS_S)
            yield
        self.flooded += flood.counted
