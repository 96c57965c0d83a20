"""Tables of the packets in the 7513, and of responses by transmit ring."""

from collections.abc import Sequence

from rich.table import Table

from phb_lab.report.judging import number
from phb_lab.study import Run
from phb_lab.tables import plain

from .evaluation import Details
from .tests import Setting


def details_of(run: Run[Setting]) -> Details:
    """Give the details of one of this network's runs."""
    found: Details = run.details
    return found


def packet_table(runs: Sequence[Run[Setting]]) -> Table:
    """Tabulate the bottleneck's data segments, a row per test and group."""
    table = plain(
        "test, group",
        *("sent", "inside", "max", "lost", "again", "longest", "silent", "lost"),
        title="What the captures of the 7513 say about data segments",
        caption="inside: seconds in the 7513, mean and maximum; again: sent once more, needed or not. longest, silent, "
        "lost: the longest transaction, for how long its server sent nothing, and how many of its segments were lost. "
        "Drops of the last seconds are left out: the captures can't tell them from packets that still wait. Packets in "
        "the 7513 when the interactive traffic joined: "
        f"{', '.join(str(details_of(run).queue_at_start) for run in runs)}. "
        f"Line busy: {min(details_of(run).utilisation for run in runs):.1%} at least.",
    )
    for run in runs:
        table.add_row(run.test.name)
        details = details_of(run)
        for group, passage in details.passages.items():
            longest = details.longest[group]
            table.add_row(
                f"  {group}",
                f"{passage.segments:,}",
                number(passage.mean_s, "s"),
                number(passage.max_s, "s"),
                f"{passage.lost}",
                f"{passage.repeated}",
                number(longest.transaction.response_s, "s"),
                number(longest.silence.longest_s, "s"),
                f"{longest.silence.lost}",
            )
    return table


def ring_table(runs: Sequence[Run[Setting]]) -> Table:
    """Average responses by transmit ring (packets that the line takes from the scheduler in advance)."""
    rings = sorted({ring_of(run) for run in runs})
    table = Table(
        title="The same tests by transmit ring (packets after the scheduler): average response [s]",
        title_justify="left",
    )
    table.add_column("test")
    table.add_column("quantity")
    table.add_column("published", justify="right")
    for ring in rings:
        table.add_column(f"ring {ring}", justify="right")
    for name in dict.fromkeys(run.test.name for run in runs):
        by_ring = {ring_of(run): run for run in runs if run.test.name == name}
        for quantity in ("interactive.avg", "ftp.avg"):
            published = next(iter(by_ring.values())).figure(quantity).published
            cells = [f"{by_ring[ring].figure(quantity).measured:.3f}" if ring in by_ring else "" for ring in rings]
            table.add_row(name, quantity, f"{published:.3f}" if published is not None else "-", *cells)
        table.add_section()
    return table


def ring_of(run: Run[Setting]) -> int:
    """The transmit ring that a run had."""
    return run.options["transmit_ring"]
