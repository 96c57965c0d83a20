"""Runs the tests of a network one after another and turns each into figures."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from phb_lab import data_files
from phb_lab.errors import LabError
from phb_lab.networks import s390
from phb_lab.packets import Bottleneck, Passage, Silence
from phb_lab.results import Figure, Transaction, byte_figures, group_figures, with_published
from phb_lab.virtual import Conservation, VirtualRun

NANOSECONDS = 1_000_000_000
DEFAULT_SEED = 1


@dataclass(frozen=True)
class Longest:
    """The longest transaction of a group, and what the packets of its server say about it."""

    transaction: Transaction
    silence: Silence


@dataclass(frozen=True)
class TestRun:
    """One test, run.

    Attributes:
        passages: what the data segments of a group went through at the bottleneck.
        longest: the longest transaction per group.
        shared: packets that shared a conversation slot of the bottleneck with another flow.
        queue_at_start: packets in the bottleneck when the interactive traffic joined.
        utilisation: share of the time that the bottleneck's line was sending.
        wall_s: how long virtual time took, without set-up and without reading the captures.
    """

    name: str
    transmit_ring: int
    transactions: tuple[Transaction, ...]
    figures: tuple[Figure, ...]
    conservation: tuple[Conservation, ...]
    passages: dict[str, Passage]
    longest: dict[str, Longest]
    shared: int
    queue_at_start: int
    utilisation: float
    wall_s: float

    def figure(self, quantity: str) -> Figure:
        """One figure of this test, by its quantity."""
        return next(figure for figure in self.figures if figure.quantity == quantity)


def run_s390(
    test: s390.Test,
    *,
    seed: int,
    transmit_ring: int,
    duration_s: int,
    captures: Path,
    progress: Callable[[float], None],
) -> TestRun:
    """Run one of the eight tests.

    Args:
        test: which.
        seed: see :class:`phb_lab.virtual.VirtualRun`.
        transmit_ring: packets after the scheduler of the 7513's serial interface.
        duration_s: virtual seconds.
        captures: folder for the captures of the 7513's ports.
        progress: called with the share of this test that is done, 0 to 1.

    Raises:
        LabError: so short that a group completed no transaction.

    """
    # The eight tests are eight runs: each draws from a seed of its own, which follows from the given one.
    own_seed = Random(f"{seed}/{test.name}").randrange(2**63)
    described = s390.network(test, seed=own_seed, transmit_ring=transmit_ring)
    source = data_files.published()[s390.PUBLISHED_KEY]
    switch, entry_port, exit_port = described.bottleneck
    entered, left = captures / f"{switch}-{entry_port}.pcap", captures / f"{switch}-{exit_port}.pcap"
    captures.mkdir(parents=True, exist_ok=True)
    with VirtualRun(described, seed=own_seed) as run:
        run.push_policies()
        run.tap(switch, entry_port, entered)
        run.tap(switch, exit_port, left)
        started = time.perf_counter()
        outcome = run.run(duration_s * NANOSECONDS, lambda now: progress(now / (duration_s * NANOSECONDS)))
        wall_s = time.perf_counter() - started

    groups = sorted({flow.group for flow in described.flows})
    for group in groups:
        if not any(transaction.group == group for transaction in outcome.transactions):
            raise LabError(f"{test.name}: no {group} transaction was completed in {duration_s} s of virtual time")
    sizes = {flow.group: (flow.request_bytes, flow.reply_bytes) for flow in described.flows}
    server_ports = {flow.name: flow.server_port for flow in described.flows}
    pairs = Counter(flow.group for flow in described.flows)
    figures = group_figures(test.name, outcome.transactions, pairs) + byte_figures(
        test.name, outcome.transactions, sizes
    )
    published = next(entry for entry in source["tests"] if entry["name"] == test.name)

    bottleneck = Bottleneck(entered, left, source["addresses"]["branch_client"])
    passages = {}
    longest = {}
    for group in groups:
        ports = [flow.server_port for flow in described.flows if flow.group == group]
        passage = bottleneck.passage(range(min(ports), max(ports) + 1))
        if passage is not None:
            passages[group] = passage
        transactions = [transaction for transaction in outcome.transactions if transaction.group == group]
        if transactions:
            last = max(transactions, key=lambda transaction: transaction.response_s)
            silence = bottleneck.silence(server_ports[last.flow], last.start_ns, last.end_ns)
            longest[group] = Longest(last, silence)
    line_bytes = sum(s.frame_bytes + s390.PPP_OVERHEAD for s in bottleneck.segments if s.left_ns is not None)
    return TestRun(
        name=test.name,
        transmit_ring=transmit_ring,
        transactions=outcome.transactions,
        figures=tuple(with_published(figures, published)),
        conservation=outcome.conservation,
        passages=passages,
        longest=longest,
        shared=outcome.shared[switch],
        queue_at_start=bottleneck.inside(s390.INTERACTIVE_START_NS),
        utilisation=line_bytes * 8 / source["link"]["rate_bps"] / duration_s,
        wall_s=wall_s,
    )


def all_figures(runs: Sequence[TestRun]) -> list[Figure]:
    """The figures of several tests, in their order."""
    return [figure for run in runs for figure in run.figures]
