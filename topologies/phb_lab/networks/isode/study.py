"""The study."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.table import Table

from phb_lab.description import Datagrams, Network
from phb_lab.figures import read_published
from phb_lab.outcome import Outcome
from phb_lab.study import Evaluation, Option, Run, Study

from . import pictures, tables, words
from .description import DELAY_US, LOSS_PER_MILLION, MTA_ACT, WAN_BPS, WINDOW_BYTES
from .description import network as describe
from .evaluation import evaluate
from .tests import DEFAULTS, PRINTED, SHAPED, TESTS, THREE_QUEUES, UNSHAPED, Setting

PUBLISHED = read_published(__file__)

# The source's routers, as the published data calls them.
_ROUTERS = {
    UNSHAPED: "default",
    SHAPED: "shaper",
    THREE_QUEUES: "three queues",
    DEFAULTS: "one queue",
    PRINTED: "one queue",
}

# Options under which the answer to the open question is run, too: where it holds, and where it does not.
CIRCUMSTANCES: tuple[Mapping[str, int], ...] = (
    {"load_class": 2},
    {"loads": 2},
    {"load_bytes": 200},
    {"load_bytes": 1_472},
    {"window_bytes": 8_760},
    {"window_bytes": 65_535},
    {"loss_one_queue": 5_000},
    {"loss_one_queue": LOSS_PER_MILLION},
)

_VARIED = ("one-queue-load-printed", "aggressive", "answer")


class Isode(Study[Setting]):
    """See the module."""

    name = "isode"
    title = "messages of different precedence beside an unresponsive load over 512 kbit/s"
    source = "Isode, precedence-marked X.400 messaging over a Cisco 2811 (tests for NATO, JFC Naples to ACT)"
    tests = TESTS
    published = PUBLISHED
    options = (
        Option(
            "loss_per_million", LOSS_PER_MILLION, 0, 500_000, "frames of a million that the WAN loses, where it does"
        ),
        Option("loss_one_queue", 0, 0, 500_000, "the same in the tests with one queue"),
        Option("delay_us", DELAY_US, 0, 10_000_000, "one-way delay of the WAN in microseconds"),
        Option("window_bytes", WINDOW_BYTES, 1_460, 1_048_576, "send and receive buffer of each connection"),
        Option("load_bytes", 1_000, 16, 1_472, "payload of each datagram of the dummy load"),
        Option("load_class", 1, 1, 2, "class selector that the router gives the dummy load: 1 (CS1) or 2 (CS2)"),
        Option("loads", 1, 1, 2, "dummy loads of 1 Mbit/s each"),
    )

    def network(self, test: Setting, *, seed: int, options: Mapping[str, int]) -> Network:
        """Describe one test."""
        return describe(test, seed=seed, options=options)

    def taps(self, test: Setting, network: Network) -> Mapping[str, tuple[str, int]]:
        """Both ports of the router."""
        return {"lan": ("sar2811", 1), "wan": ("sar2811", 2)} if test.captured else {}

    def evaluate(
        self, test: Setting, network: Network, outcome: Outcome, *, duration_s: int, captures: Path
    ) -> Evaluation:
        """Time and rate of each message, what the router's captures say of it, and the load's rate."""
        return evaluate(
            test.published,
            test.sendings,
            network,
            outcome,
            captures=(captures / "lan.pcap", captures / "wan.pcap") if test.captured else None,
            destination=MTA_ACT,
            duration_s=duration_s,
        )

    def configuration(self, test: Setting, network: Network) -> Mapping[str, object]:
        """How the router queues, and whether the dummy load runs."""
        router = _ROUTERS.get(network.switches[0].policy_files)
        return {"router": router, "load": any(isinstance(flow, Datagrams) for flow in network.flows)}

    def extra_runs(
        self, tests: Sequence[Setting], options: Mapping[str, int]
    ) -> Sequence[tuple[Setting, Mapping[str, int]]]:
        """The policies for the open question, and what they are compared with, under other circumstances."""
        return [(test, {**options, **changed}) for changed in CIRCUMSTANCES for test in tests if test.name in _VARIED]

    def tables(self, runs: Sequence[Run[Setting]], extra: Sequence[Run[Setting]]) -> Sequence[Table]:
        """Every message, and what the router's captures say of it; what else was tried."""
        varied = [run for run in runs if run.test.name in _VARIED]
        others = [tables.circumstances_table([*varied, *extra], self.defaults())] if extra else []
        return [tables.transfer_table(runs), *others]

    def conclusions(self, runs: Sequence[Run[Setting]], extra: Sequence[Run[Setting]]) -> Sequence[str]:
        """Why the source's settings failed and ours do not."""
        return words.conclusions(runs)

    def label(self, name: str) -> str:
        """Name a quantity by its message, or a test of the source, in words."""
        return words.label(name)

    def finding(self, runs: Sequence[Run[Setting]], extra: Sequence[Run[Setting]]) -> str:
        """Say what one queue keeps of a message's rate beside the load."""
        return words.finding(runs)

    def pictures(self, runs: Sequence[Run[Setting]], extra: Sequence[Run[Setting]], folder: Path) -> Sequence[Path]:
        """Throughput over time of each test, and the published rates beside ours."""
        shaped_bps = PUBLISHED["router"]["shape_bps"]
        limits_bps = [WAN_BPS if run.test.policies == UNSHAPED else shaped_bps for run in runs]
        return pictures.pictures(runs, [limit / 1000 for limit in limits_bps], folder)


STUDY = Isode()
