"""Why figures differ from the published ones, said from the packets of the run."""

from collections.abc import Sequence
from statistics import fmean

from rich import box
from rich.console import Console
from rich.table import Table

from phb_lab.experiment import TestRun


def lines(main: Sequence[TestRun], others: Sequence[TestRun]) -> list[str]:
    """What the captures say about each test, then what follows for the figures that are off by more than 25 %."""
    return [*(packet_line(run) for run in main), *conclusions(main, others)]


def print_packets(console: Console, runs: Sequence[TestRun]) -> None:
    """Print what the captures of the bottleneck say, a row per test and group."""
    table = Table(
        title="What the captures of the 7513 say about data segments",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("test, group", no_wrap=True)
    for column in ("sent", "inside", "max", "lost", "again", "longest", "silent", "lost"):
        table.add_column(column, justify="right", no_wrap=True)
    for run in runs:
        table.add_row(run.name)
        for group, passage in run.passages.items():
            cells = [
                f"{passage.segments:,}",
                f"{passage.mean_s:.3f}",
                f"{passage.max_s:.2f}",
                f"{passage.lost}",
                f"{passage.repeated}",
            ]
            if group in run.longest:
                longest = run.longest[group]
                cells += [
                    f"{longest.transaction.response_s:.2f}",
                    f"{longest.silence.longest_s:.2f}",
                    f"{longest.silence.lost}",
                ]
            table.add_row(f"  {group}", *cells)
    console.print(table)
    console.print(
        "inside: seconds in the 7513, mean and maximum; again: sent once more, needed or not. longest, silent, lost: "
        "the longest transaction, for how long its server sent nothing, and how many of its segments were lost. "
        "Drops of the last seconds are left out: the captures can't tell them from packets that still wait. "
        "Packets in the 7513 when the interactive traffic joined: "
        f"{', '.join(str(run.queue_at_start) for run in runs)}. "
        f"Line busy: {min(run.utilisation for run in runs):.1%} at least.\n",
        highlight=False,
    )


def packet_line(run: TestRun) -> str:
    """What the captures of the 7513 say about one test."""
    parts = []
    for group, passage in run.passages.items():
        parts.append(
            f"{group}: {passage.segments:,} data segments, {passage.mean_s:.3f} s in the 7513 on average and "
            f"{passage.max_s:.3f} s at most, {passage.lost} dropped, {passage.repeated} sent again"
        )
    for group, longest in run.longest.items():
        silence = longest.silence
        parts.append(
            f"longest of {group}: {longest.transaction.response_s:.3f} s ({longest.transaction.flow}), in which its "
            f"server sent nothing for up to {silence.longest_s:.3f} s, {silence.lost} of its segments dropped"
        )
    head = (
        f"{run.name}: line busy {run.utilisation:.1%}, {run.queue_at_start} packets in the 7513 when the interactive "
        "traffic joined; "
    )
    if run.shared:
        parts.append(f"{run.shared} packets shared a conversation with another flow")
    return head + "; ".join(parts)


def conclusions(main: Sequence[TestRun], others: Sequence[TestRun]) -> list[str]:
    """What explains the differences, with the figures of this very run."""
    fair = [run for run in main if "-wfq-" in run.name]
    said = []
    if fair:
        response = fmean(run.figure("interactive.avg_pooled").measured for run in fair)
        inside = fmean(run.passages["interactive"].mean_s for run in fair)
        published = fmean(run.figure("interactive.avg").published or 0.0 for run in fair)
    if fair and response < published:
        said.append(
            f"WFQ, interactive response (and with it n, total.n and total.bytes_sent): {inside:.3f} s of our "
            f"{response:.3f} s are spent in the 7513. The published {published:.3f} s need "
            f"{published - response:.3f} s more per transaction, and nothing that the source describes spends them."
        )
    by_ring = {
        ring: fmean(run.figure("interactive.avg").measured for run in (*main, *others) if _is(run, ring))
        for ring in sorted({run.transmit_ring for run in (*main, *others)})
        if any(_is(run, ring) for run in (*main, *others))
    }
    if len(by_ring) > 1:
        low, high = min(by_ring), max(by_ring)
        slope = (by_ring[high] - by_ring[low]) / (high - low)
        said.append(
            f"WFQ by transmit ring: {', '.join(f'{ring}: {value:.3f} s' for ring, value in by_ring.items())}; a packet "
            f"of ring costs {slope:.3f} s. About six packets behind the scheduler would give the published response. "
            "The source's configuration says one; its text says that the hardware buffers were lowered, not to what. "
            "So six fits; it is not a finding."
        )
    said.append(
        "Minima and maxima are single transactions out of hundreds; over seeds they scatter by seconds. The published "
        "FIFO minima of 0.06 to 1.1 s are those of a line that is not congested yet (a request and its reply take "
        "50 ms); our interactive traffic starts when it is."
    )
    if not fair:
        return said
    said.append(
        "Our WFQ interactive maxima lie in the first seconds, when the thirty transfers' finish tags still coincide: "
        "self-clocked fair queueing lets a packet wait for one packet of every other conversation, here 30 x 47 ms."
    )
    said.append(
        "Averages are means over pairs of each pair's average, as in the source: its total rows are the group averages "
        "weighted by 3 and 30 pairs. So its WFQ transfers, whose n x average comes to 383 s in 300 s, need not be "
        "wrong: a mean over pairs exceeds the mean over transactions where pairs are served unequally."
    )
    return said


def _is(run: TestRun, ring: int) -> bool:
    return "-wfq-" in run.name and run.transmit_ring == ring
