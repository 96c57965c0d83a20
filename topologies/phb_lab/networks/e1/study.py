"""The study."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.table import Table

from phb_lab.description import Network
from phb_lab.figures import read_published
from phb_lab.outcome import Outcome
from phb_lab.study import Evaluation, Option, Run, Study

from . import pictures, tables, words
from .description import LINE_BPS, PPP_HEADER, RECEIVERS, WINDOW_BYTES
from .description import network as describe
from .evaluation import evaluate
from .tests import TESTS, Setting

PUBLISHED = read_published(__file__)

# The readings of the source's rule for the shared pool. No more than it leaves free itself (1): half of what the others
# leave, so a sixth for each of five. Half of what is free (2). 1/N of what is free, with the six streams (6).
SHOWN_HOLES = (2, 6)


class E1(Study[Setting]):
    """See the module."""

    name = "e1"
    title = "IBM 2212 on a 2.048 Mbit/s line: EF beside five TCP streams that share buffers"
    source = "Y. Araya et al., IBM Diffserv Implementation Experiments, draft-nadas-diffserv-experience-01 (1999)"
    tests = TESTS
    published = PUBLISHED
    labels = words.LABELS
    options = (
        Option("holes", 1, 1, 256, "N of the rule that a stream takes at most 1/N of what is free of the shared pool"),
        Option("window", WINDOW_BYTES, 2048, 65_535, "bytes of each TCP connection's buffers"),
    )

    def network(self, test: Setting, *, seed: int, options: Mapping[str, int]) -> Network:
        """Describe one measurement point."""
        return describe(test, seed=seed, holes=options["holes"], window_bytes=options["window"])

    def taps(self, test: Setting, network: Network) -> Mapping[str, tuple[str, int]]:
        """The E1 port of the 2212, where the router counts."""
        return {"e1": ("ibm2212", 2)}

    def evaluate(
        self, test: Setting, network: Network, outcome: Outcome, *, duration_s: int, captures: Path
    ) -> Evaluation:
        """Throughput as router and hosts see it, and one-way delays."""
        return evaluate(
            test.name,
            outcome,
            PUBLISHED,
            delays_key=test.published_delays,
            mtu=test.mtu_bytes,
            line=captures / "e1.pcap",
            line_bps=LINE_BPS,
            link_bytes=PPP_HEADER - 14,
            receivers={receiver.stream: receiver.address for receiver in RECEIVERS},
            duration_s=duration_s,
        )

    def configuration(self, test: Setting, network: Network) -> Mapping[str, object]:
        """Buffers and MTU."""
        return {"buffers": test.buffers, "mtu_bytes": network.hosts[0].mtu_bytes}

    def extra_runs(
        self, tests: Sequence[Setting], options: Mapping[str, int]
    ) -> Sequence[tuple[Setting, Mapping[str, int]]]:
        """The same points with the other readings of the rule for the shared pool."""
        return [(test, {**options, "holes": holes}) for holes in SHOWN_HOLES for test in tests]

    def tables(self, runs: Sequence[Run[Setting]], extra: Sequence[Run[Setting]]) -> Sequence[Table]:
        """Compare the readings of the rule for the shared pool."""
        return [tables.pool_table([*runs, *extra])]

    def conclusions(self, runs: Sequence[Run[Setting]], extra: Sequence[Run[Setting]]) -> Sequence[str]:
        """Say which figures aren't as asked, and by how much."""
        return words.conclusions(runs)

    def finding(self, runs: Sequence[Run[Setting]], extra: Sequence[Run[Setting]]) -> str:
        """Compare the delays of EF and of the streams that share buffers."""
        return words.finding(runs)

    def pictures(self, runs: Sequence[Run[Setting]], extra: Sequence[Run[Setting]], folder: Path) -> Sequence[Path]:
        """The source's figures 2, 3 and 4, and a histogram of delays per point."""
        return pictures.pictures(runs, folder)


STUDY = E1()
