"""Both sides of each comparison."""

from collections.abc import Sequence

from rich.table import Table

from phb_lab.report import judging
from phb_lab.study import Run

from .tests import Setting


def sides_table(runs: Sequence[Run[Setting]]) -> Table:
    """Give the values that the gains are made of."""
    table = Table("test", "side", "workload", "value", "unit", title="Both sides of each comparison")
    for run in runs:
        for bar in run.details:
            table.add_row(run.test.name, bar.side, bar.workload, judging.number(bar.value, bar.unit), bar.unit)
    return table
