"""What the eight S/390 tests say about their figures: the packets of the bottleneck, and what follows from them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from rich import box
from rich.table import Table

from phb_lab import data_files
from phb_lab.description import Network, RequestResponse
from phb_lab.errors import LabError
from phb_lab.outcome import Outcome
from phb_lab.packets import Bottleneck, Passage, Silence
from phb_lab.report.judging import number
from phb_lab.report.pictures import draw_summary, draw_test
from phb_lab.results import Transaction, byte_figures, group_figures, with_published
from phb_lab.study import Evaluation, Run

GROUPS = ("ftp", "interactive")


@dataclass(frozen=True)
class Longest:
    """The longest transaction of a group, and what the packets of its server say about it."""

    transaction: Transaction
    silence: Silence


@dataclass(frozen=True)
class Details:
    """What the captures of the 7513 say about one test.

    Attributes:
        passages: what the data segments of a group went through.
        longest: the longest transaction per group.
        shared: packets that shared a conversation slot with another flow.
        queue_at_start: packets in the 7513 when the interactive traffic joined.
        utilisation: share of the time that the line was sending.

    """

    passages: dict[str, Passage]
    longest: dict[str, Longest]
    shared: int
    queue_at_start: int
    utilisation: float


def evaluate(
    name: str,
    network: Network,
    outcome: Outcome,
    *,
    entered: Path,
    left: Path,
    switch: str,
    line_overhead: int,
    interactive_start_ns: int,
    duration_s: int,
) -> Evaluation:
    """Make figures of one test.

    Args:
        name: the test's.
        network: what ran.
        outcome: what it gave.
        entered: capture of the port where replies enter the bottleneck.
        left: capture of the port where they leave it.
        switch: the bottleneck's name.
        line_overhead: bytes that the line adds to an Ethernet frame.
        interactive_start_ns: when the interactive traffic joins.
        duration_s: how long the test ran.

    Raises:
        LabError: so short that a group completed no transaction.

    """
    source = _source()
    flows = [flow for flow in network.flows if isinstance(flow, RequestResponse)]
    for group in GROUPS:
        if not any(transaction.group == group for transaction in outcome.transactions):
            raise LabError(f"{name}: no {group} transaction was completed in {duration_s} s")
    sizes = {flow.group: (flow.request_bytes, flow.reply_bytes) for flow in flows}
    pairs = Counter(flow.group for flow in flows)
    figures = group_figures(name, outcome.transactions, pairs) + byte_figures(name, outcome.transactions, sizes)
    published = next(entry for entry in source["tests"] if entry["name"] == name)

    packets = Bottleneck(entered, left, source["addresses"]["branch_client"])
    server_ports = {flow.name: flow.server_port for flow in flows}
    passages = {}
    longest = {}
    for group in GROUPS:
        ports = [flow.server_port for flow in flows if flow.group == group]
        passage = packets.passage(range(min(ports), max(ports) + 1))
        if passage is not None:
            passages[group] = passage
        own = [transaction for transaction in outcome.transactions if transaction.group == group]
        last = max(own, key=lambda transaction: transaction.response_s)
        longest[group] = Longest(last, packets.silence(server_ports[last.flow], last.start_ns, last.end_ns))
    line_bytes = sum(s.frame_bytes + line_overhead for s in packets.segments if s.left_ns is not None)
    details = Details(
        passages=passages,
        longest=longest,
        shared=outcome.shared[switch],
        queue_at_start=packets.inside(interactive_start_ns),
        utilisation=line_bytes * 8 / source["link"]["rate_bps"] / duration_s,
    )
    return Evaluation(with_published(figures, published), [packet_line(name, details)], details)


def details_of(run: Run) -> Details:
    """The details of one of this network's runs."""
    assert isinstance(run.details, Details), run.details
    return run.details


def packet_table(runs: Sequence[Run]) -> Table:
    """What the captures of the bottleneck say, a row per test and group."""
    table = Table(
        title="What the captures of the 7513 say about data segments",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
        caption_justify="left",
        caption="inside: seconds in the 7513, mean and maximum; again: sent once more, needed or not. longest, silent, "
        "lost: the longest transaction, for how long its server sent nothing, and how many of its segments were lost. "
        "Drops of the last seconds are left out: the captures can't tell them from packets that still wait. Packets in "
        "the 7513 when the interactive traffic joined: "
        f"{', '.join(str(details_of(run).queue_at_start) for run in runs)}. "
        f"Line busy: {min(details_of(run).utilisation for run in runs):.1%} at least.",
    )
    table.add_column("test, group", no_wrap=True)
    for column in ("sent", "inside", "max", "lost", "again", "longest", "silent", "lost"):
        table.add_column(column, justify="right", no_wrap=True)
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


def ring_table(runs: Sequence[Run]) -> Table:
    """Average responses by transmit ring: how many packets the line takes from the scheduler in advance."""
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


def ring_of(run: Run) -> int:
    """The transmit ring that a run had."""
    return run.options["transmit_ring"]


def pictures(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Figure 8, and response time and throughput of each test (figures G-1 to G-16)."""
    traffic = _source()["traffic"]
    trim_s = traffic["graph_trim_s"]
    duration_s = runs[0].duration_s
    reply_bytes = {group: traffic[group]["reply_bytes"] for group in GROUPS}
    by_test = {run.test.name: run.outcome.transactions for run in runs}
    drawn = draw_summary(by_test, trim_s, duration_s, folder / "figure-8-summary")
    for name, transactions in by_test.items():
        drawn += draw_test(name, transactions, reply_bytes, trim_s, duration_s, folder / name)
    return drawn


def packet_line(name: str, details: Details) -> str:
    """What the captures of the 7513 say about one test."""
    parts = []
    for group, passage in details.passages.items():
        parts.append(
            f"{group}: {passage.segments:,} data segments, {number(passage.mean_s, 's')} s in the 7513 on average and "
            f"{number(passage.max_s, 's')} s at most, {passage.lost} dropped, {passage.repeated} sent again"
        )
    for group, longest in details.longest.items():
        silence = longest.silence
        parts.append(
            f"longest of {group}: {number(longest.transaction.response_s, 's')} s ({longest.transaction.flow}), in "
            f"which its server sent nothing for up to {number(silence.longest_s, 's')} s, {silence.lost} of its "
            "segments dropped"
        )
    head = (
        f"{name}: line busy {details.utilisation:.1%}, {details.queue_at_start} packets in the 7513 when the "
        "interactive traffic joined; "
    )
    if details.shared:
        parts.append(f"{details.shared} packets shared a conversation with another flow")
    return head + "; ".join(parts)


def conclusions(main: Sequence[Run], others: Sequence[Run]) -> list[str]:
    """What explains the differences, with the figures of this very run."""
    fair = [run for run in main if "-wfq-" in run.test.name]
    said = []
    if fair:
        response = fmean(run.figure("interactive.avg_pooled").measured for run in fair)
        inside = fmean(details_of(run).passages["interactive"].mean_s for run in fair)
        published = fmean(run.figure("interactive.avg").published or 0.0 for run in fair)
    if fair and response < published:
        said.append(
            f"WFQ, interactive response (and with it n, total.n and total.bytes_sent): {inside:.3f} s of our "
            f"{response:.3f} s are spent in the 7513. The published {published:.3f} s need "
            f"{published - response:.3f} s more per transaction, and nothing that the source describes spends them."
        )
    by_ring = {
        ring: fmean(run.figure("interactive.avg").measured for run in (*main, *others) if _is(run, ring))
        for ring in sorted({ring_of(run) for run in (*main, *others)})
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


def _is(run: Run, ring: int) -> bool:
    return "-wfq-" in run.test.name and ring_of(run) == ring


def _source() -> dict[str, Any]:
    found: dict[str, Any] = data_files.published()["s390_cisco"]
    return found
