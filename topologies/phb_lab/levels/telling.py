"""What was achieved, as a table and as JSON."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from phb.monitor.changes import words_of
from phb.monitor.observation import Measure
from phb_lab.levels.achieved import Bound
from phb_lab.study import Run
from phb_lab.tables import plain

_WORDS = {
    Measure.MINIMUM_RATE: "rate",
    Measure.MAXIMUM_RATE: "rate",
    Measure.MEAN_DELAY: "mean delay",
    Measure.LOSS: "loss",
}
_VERDICTS = {
    None: Text("not measured", "yellow"),
    True: Text("achieved", "green"),
    False: Text("NOT ACHIEVED", "bold red"),
}


def as_json(runs: Sequence[Run[Any]]) -> dict[str, Any]:
    """For the results file: the bounds of each test; empty where nobody asked."""
    return {run.test.name: [bound.as_json() for bound in run.levels.bounds] for run in runs if run.levels is not None}


def table(run: Run[Any]) -> Table:
    """Give a line for each bound of a run, below whose it is."""
    shown = plain(run.test.name, "wanted", "mean", "worst", "kept in")
    shown.add_column("", no_wrap=True)
    above = ""
    for bound in run.levels.bounds if run.levels is not None else ():
        subject = f"{bound.switch}, {words_of(bound.subject)}"
        if subject != above:
            shown.add_row(subject)
            above = subject
        sign = "≥" if bound.measure is Measure.MINIMUM_RATE else "≤"
        shown.add_row(
            f"  {title_of(bound)}",
            f"{sign} {_number(bound.bound)} {bound.unit}",
            _number(bound.mean),
            _number(bound.worst),
            f"{bound.kept} of {len(bound.points)}",
            _VERDICTS[bound.achieved],
        )
    return shown


def title_of(bound: Bound) -> str:
    """Name what is measured."""
    return _WORDS.get(bound.measure) or f"delay of {bound.percentile:g} percent"


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.{0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2}f}"
