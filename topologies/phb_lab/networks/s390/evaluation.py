"""Figures of one test, and what the captures of the bottleneck say of its packets."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from phb_lab.description import Network, RequestResponse
from phb_lab.errors import LabError
from phb_lab.figures import byte_figures, group_figures, read_published, with_published
from phb_lab.outcome import Outcome, Transaction
from phb_lab.packets import Bottleneck, GroupPassage, Silence
from phb_lab.report.judging import number
from phb_lab.study import Evaluation

PUBLISHED = read_published(__file__)

GROUPS = ("ftp", "interactive")


@dataclass(frozen=True)
class Longest:
    """The longest transaction of a group, and what its server's packets say about it."""

    transaction: Transaction
    silence: Silence


@dataclass(frozen=True)
class Details:
    """Packets of the 7513 in one test, from its captures; ``passages`` and ``longest`` are by group.

    Attributes:
        shared: packets that shared a conversation slot with another flow.
        queue_at_start: packets in the 7513 when the interactive traffic joined.
        utilisation: share of the time that the line was sending.
    """

    passages: dict[str, GroupPassage]
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

    ``entered`` and ``left`` are captures of the ports where replies enter the bottleneck ``switch`` and leave it;
    ``line_overhead`` is bytes that the line adds to an Ethernet frame.

    Raises:
        LabError: so short that a group completed no transaction.
    """
    flows = [flow for flow in network.flows if isinstance(flow, RequestResponse)]
    for group in GROUPS:
        if not any(transaction.group == group for transaction in outcome.transactions):
            raise LabError(f"{name}: no {group} transaction was completed in {duration_s} s")
    sizes = {flow.group: (flow.request_bytes, flow.reply_bytes) for flow in flows}
    pairs = Counter(flow.group for flow in flows)
    figures = group_figures(name, outcome.transactions, pairs) + byte_figures(name, outcome.transactions, sizes)
    published = next(entry for entry in PUBLISHED["tests"] if entry["name"] == name)

    packets = Bottleneck(entered, left, PUBLISHED["addresses"]["branch_client"])
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
        utilisation=line_bytes * 8 / PUBLISHED["link"]["rate_bps"] / duration_s,
    )
    return Evaluation(with_published(figures, published), [packet_line(name, details)], details)


def packet_line(name: str, details: Details) -> str:
    """Packets of the 7513 in one test, from its captures."""
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
