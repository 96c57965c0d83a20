"""Tables of what was busy, and of the TCP test by window."""

from collections.abc import Sequence

from rich.table import Table

from phb_lab.study import Run

from .evaluation import Details
from .tests import Load


def tables(runs: Sequence[Run[Load]], extra: Sequence[Run[Load]]) -> list[Table]:
    """Tabulate utilisations of each test, and the TCP test by the parameters that the source doesn't give."""
    busy = Table(title="what was busy", title_justify="left")
    for column in ("test", "rate", "CIP's CPU", "channel"):
        busy.add_column(column, justify="left" if column == "test" else "right", overflow="fold")
    for run in runs:
        found: Details = run.details
        busy.add_row(
            run.test.name,
            f"{found.rate:,.2f} {found.unit}" if found.unit == "MB/s" else f"{found.rate:,.0f} {found.unit}",
            f"{found.cpu:.1f} %",
            f"{found.channel:.1f} %",
        )
    if not extra:
        return [busy]
    windows = Table(title="TCP from partition to partition, by what the source does not say", title_justify="left")
    for column in ("window", "blocks per interrupt", "both channels", "of the published", "CIP's CPU"):
        windows.add_column(column, justify="right", overflow="fold")
    for run in sorted(
        (run for run in (*runs, *extra) if run.test.name == "tcp-stream"),
        key=lambda run: (run.options["blocks_per_interrupt"], run.options["window"]),
    ):
        found = run.details
        figure = run.figure("tcp_stream_two_channels_MBps")
        windows.add_row(
            f"{run.options['window']:,}",
            str(run.options["blocks_per_interrupt"]),
            f"{found.rate:.2f} MB/s",
            f"{figure.ratio:.1%}",
            f"{found.cpu:.1f} %",
        )
    return [busy, windows]
