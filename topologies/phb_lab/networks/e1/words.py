"""Targets that were missed, and what the captures say of those runs."""

from collections.abc import Sequence

from phb_lab.figures import Figure
from phb_lab.study import Run

from .evaluation import STREAMS
from .tests import Setting


def conclusions(runs: Sequence[Run[Setting]]) -> list[str]:
    """Say which figures are as asked, and what the captures say of runs that missed theirs."""
    asked = [figure for run in runs for figure in run.figures if figure.met is not None]
    missed = [figure for figure in asked if not figure.met]
    lines = [f"{len(asked) - len(missed)} of {len(asked)} figures lie where they were asked to"]
    lines += [
        f"{figure.test}: {figure.quantity} is {figure.measured:.2f} {figure.unit}, asked was {_asked(figure)}"
        for figure in missed
    ]
    for run in runs:
        if any(figure in missed and figure.unit == "%" for figure in run.figures):
            waits = ", ".join(f"{stream} {run.details.silent[stream]:.0f} %" for stream in STREAMS[1:])
            lines.append(f"{run.test.name}: of the time, connections waited for their retransmission timers: {waits}")
    return lines


def _asked(figure: Figure) -> str:
    if figure.low is None:
        return f"at most {figure.high:g}"
    return f"{figure.low:g} to {figure.high:g}"
