"""Shares and delays by reading of the rule for the shared pool."""

from collections.abc import Sequence
from statistics import fmean

from rich import box
from rich.table import Table

from phb_lab.study import Run

from .evaluation import STREAMS
from .tests import Setting


def pool_table(runs: Sequence[Run[Setting]]) -> Table:
    """Shares and delays by reading of the rule for the shared pool, beside the published ones."""
    table = Table(
        "test", "holes", *STREAMS, "AF and BE delay [ms]", "published", box=box.SIMPLE_HEAD, title="Shared pool"
    )
    for run in sorted(runs, key=lambda run: run.options["holes"]):
        means = [
            figure for figure in run.figures if figure.unit == "ms" and not figure.quantity.endswith((".EF", ".p99"))
        ]
        table.add_row(
            run.test.name,
            str(run.options["holes"]),
            *(f"{run.details.router[stream]:.1f}" for stream in STREAMS),
            f"{fmean(figure.measured for figure in means):.1f}",
            f"{fmean(figure.published or 0.0 for figure in means):.1f}",
        )
    return table
