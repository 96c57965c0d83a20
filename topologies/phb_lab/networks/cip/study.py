"""The study."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.table import Table

from phb_lab.description import (
    Network,
    RequestResponse,
    Stream,
)
from phb_lab.figures import read_published
from phb_lab.outcome import Outcome
from phb_lab.study import Evaluation, Option, Run, Study

from . import pictures, tables, words
from .description import WINDOW_BYTES
from .description import network as describe
from .evaluation import cips, evaluate
from .tests import TESTS, Load

PUBLISHED = read_published(__file__)


class Cip(Study[Load]):
    """See the module."""

    name = "cip"
    title = "Cisco Channel Interface Processor: IP datagram, CSNA and TN3270 server at their limits"
    source = "Cisco Systems, Customer Performance Testing of Cisco's Channel Interface Processor"
    tests = TESTS
    published = PUBLISHED
    labels = words.LABELS
    options = (
        Option("window", WINDOW_BYTES, 4_096, 1_048_576, "TCP window of partitions and workstations, in bytes"),
        Option("blocks_per_interrupt", 15, 1, 15, "blocks that a host reads before it is interrupted, IP datagram"),
    )

    def network(self, test: Load, *, seed: int, options: Mapping[str, int]) -> Network:
        """Describe one test; nothing is drawn but by the hosts."""
        return replace(describe(test, options), name=f"{self.name}/{test.name}")

    def virtual_time_only(self, test: Load) -> str | None:
        """The TN3270 server's TCP is part of the adapter."""
        if test.kind == "tn3270":
            return "the TN3270 server's TCP is a host on the CIP itself, and the kernel's is none"
        return None

    def evaluate(
        self, test: Load, network: Network, outcome: Outcome, *, duration_s: int, captures: Path
    ) -> Evaluation:
        """Rates and the share of the CPU from the warm-up on."""
        return evaluate(test.name, test.warm_up_s, network, outcome, duration_s=duration_s)

    def configuration(self, test: Load, network: Network) -> Mapping[str, object]:
        """The load, how many of each there are, and what they share."""
        adapters = cips(network)
        return {
            "load": test.kind,
            "cips": len(adapters),
            "channels": adapters[0].parameters.get("channels", 1),
            "streams": sum(isinstance(flow, Stream) for flow in network.flows),
            "sessions": sum(isinstance(flow, RequestResponse) for flow in network.flows),
            "pus": sum(each.pus for each in network.stations),
            "lus": sum(each.pus * each.lus_per_pu for each in network.stations),
        }

    def extra_runs(self, tests: Sequence[Load], options: Mapping[str, int]) -> Sequence[tuple[Load, Mapping[str, int]]]:
        """The TCP test with other windows and interrupts, which the source does not give."""
        tcp = [test for test in tests if test.name == "tcp-stream"]
        changed = [{"window": window} for window in (8_192, 32_768, 65_535)] + [{"blocks_per_interrupt": 1}]
        return [(test, {**options, **change}) for test in tcp for change in changed]

    def tables(self, runs: Sequence[Run[Load]], extra: Sequence[Run[Load]]) -> Sequence[Table]:
        """List utilisations, and the TCP test by window."""
        return tables.tables(runs, extra)

    def conclusions(self, runs: Sequence[Run[Load]], extra: Sequence[Run[Load]]) -> Sequence[str]:
        """Which figures are predictions, and why some are off."""
        return words.conclusions(runs)

    def finding(self, runs: Sequence[Run[Load]], extra: Sequence[Run[Load]]) -> str:
        """Say how many predictions hold."""
        return words.finding(runs)

    def pictures(self, runs: Sequence[Run[Load]], extra: Sequence[Run[Load]], folder: Path) -> Sequence[Path]:
        """Figures 10 to 24: rate and CPU as bars."""
        return pictures.pictures(runs, folder, self.label)


STUDY = Cip()
