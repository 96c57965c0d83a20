"""The study."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.table import Table

from phb_lab.description import Network
from phb_lab.figures import read_published
from phb_lab.outcome import Outcome
from phb_lab.study import Evaluation, Option, Run, Snapshot, Study

from . import display, pictures, tables, words
from .description import INTERACTIVE_START_NS, PPP_OVERHEAD, SECOND, bottleneck
from .description import network as describe
from .evaluation import evaluate
from .tests import TESTS, Setting

PUBLISHED = read_published(__file__)

# Displays of the serial line's queue, evenly over the test: the source prints one, of an unknown time.
DISPLAYS = 5
# The source's own limit is 1; 0 and 6 show what a transmit ring after the scheduler does to its figures.
SHOWN_RINGS = (0, 6)


class S390(Study[Setting]):
    """See the module."""

    name = "s390"
    title = "IBM S/390 and Cisco 7513 over 256 kbit/s: interactive traffic beside file transfers"
    source = "Cisco and IBM, Delivering Predictable Host Integration Services (2000)"
    tests = TESTS
    published = PUBLISHED
    labels = words.LABELS
    options = (
        Option(
            "transmit_ring",
            # ``tx-queue-limit`` of the 7513's serial interface (appendix A).
            int(PUBLISHED["link"]["tx_queue_limit"]),
            0,
            100_000,
            "packets that the 7513's serial interface takes from its scheduler ahead of the line",
        ),
    )

    def network(self, test: Setting, *, seed: int, options: Mapping[str, int]) -> Network:
        """Describe one of the eight tests."""
        return describe(test, seed=seed, transmit_ring=options["transmit_ring"])

    def taps(self, test: Setting, network: Network) -> Mapping[str, tuple[str, int]]:
        """Both ports of the 7513 that the replies pass."""
        node, entry, exit_port = bottleneck(test)
        return {f"{node}-{port}": (node, port) for port in (entry, exit_port)}

    def evaluate(
        self, test: Setting, network: Network, outcome: Outcome, *, duration_s: int, captures: Path
    ) -> Evaluation:
        """Figures of the transactions, and what the captures of the 7513 say about them."""
        node, entry, exit_port = bottleneck(test)
        found = evaluate(
            test.name,
            network,
            outcome,
            entered=captures / f"{node}-{entry}.pcap",
            left=captures / f"{node}-{exit_port}.pcap",
            switch=node,
            line_overhead=PPP_OVERHEAD,
            interactive_start_ns=INTERACTIVE_START_NS,
            duration_s=duration_s,
        )
        return replace(found, figures=[*found.figures, *display.figures(test.name, outcome.snapshots)])

    def snapshots(self, test: Setting, network: Network, duration_s: int) -> Sequence[Snapshot]:
        """``show queue`` of the serial line during the WFQ tests, as in appendix E."""
        if test.queueing != "wfq":
            return ()
        times = [duration_s * SECOND * number // (DISPLAYS + 1) for number in range(1, DISPLAYS + 1)]
        return [Snapshot(f"{at / SECOND:g} s", at, "c7513", "Serial5/0/0") for at in times]

    def extra_runs(
        self, tests: Sequence[Setting], options: Mapping[str, int]
    ) -> Sequence[tuple[Setting, Mapping[str, int]]]:
        """The same tests at other transmit rings."""
        return [(test, {**options, "transmit_ring": ring}) for ring in SHOWN_RINGS for test in tests]

    def tables(self, runs: Sequence[Run[Setting]], extra: Sequence[Run[Setting]]) -> Sequence[Table]:
        """Responses by transmit ring, and what the captures say."""
        rings = [tables.ring_table([*runs, *extra])] if extra else []
        displays = [display.display_table(runs)] if any(run.outcome.snapshots for run in runs) else []
        return [*rings, tables.packet_table(runs), *displays]

    def conclusions(self, runs: Sequence[Run[Setting]], extra: Sequence[Run[Setting]]) -> Sequence[str]:
        """Why the figures differ."""
        return words.conclusions(runs, extra)

    def finding(self, runs: Sequence[Run[Setting]], extra: Sequence[Run[Setting]]) -> str:
        """Compare the interactive response under FIFO and under flow WFQ."""
        return words.finding(runs)

    def pictures(self, runs: Sequence[Run[Setting]], extra: Sequence[Run[Setting]], folder: Path) -> Sequence[Path]:
        """Figure 8, and figures G-1 to G-16."""
        return pictures.pictures(runs, folder)


STUDY = S390()
