"""Terminals beside a transfer over 1 Mbit/s: what a priority queue does for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from matplotlib import pyplot as plt

from phb_lab.description import Host, Network, Port, RequestResponse, Stream, Switch, Wire
from phb_lab.errors import LabError
from phb_lab.figures import Figure
from phb_lab.measures import Groups
from phb_lab.outcome import Outcome
from phb_lab.report.pictures import save
from phb_lab.study import Evaluation, Option, Run, Study, Test

FOLDER = Path(__file__).parent
SECOND = 1_000_000_000  # times are integers, in nanoseconds
LINE_BPS = 1_000_000
CENTER, BRANCH = "10.0.1.1", "10.0.2.1"


@dataclass(frozen=True)
class Queueing(Test):
    """One run: how the router queues."""

    policy: str = ""


TESTS = (
    Queueing("fifo", "one queue", duration_s=60, policy="fifo.yaml"),
    Queueing("priority", "terminals first", duration_s=60, policy="priority.yaml"),
)
# Words for what is measured, which the page shows.
LABELS = {"response": "response of the terminals", "transfer": "rate of the transfer"}


def describe(test: Queueing, seed: int, terminals: int) -> Network:
    """Describe the network of a test. The same seed has to give the same network."""
    random = Random(seed)
    router = Switch(
        "router",
        device_id=1,
        ports=(Port(1), Port(2, rate_bps=LINE_BPS)),
        policy_files=(FOLDER / "router.yaml", FOLDER / test.policy),
    )
    hosts = tuple(
        Host(name, (address,), mtu_bytes=1500, window_bytes=65_535, delayed_ack_ns=SECOND // 5)
        for name, address in (("center", CENTER), ("branch", BRANCH))
    )
    asking = tuple(
        RequestResponse(
            name=f"terminal-{number}",
            group="interactive",
            client="branch",
            client_address=BRANCH,
            server="center",
            server_address=CENTER,
            server_port=700,
            request_bytes=100,
            reply_bytes=1_000,
            records_per_connection=1_000_000,
            start_ns=2 * SECOND + random.randrange(SECOND),
            pause_ns=SECOND // 2,
        )
        for number in range(terminals)
    )
    transfer = Stream(
        name="transfer",
        group="transfer",
        client="center",
        client_address=CENTER,
        server="branch",
        server_address=BRANCH,
        server_port=2000,
        start_ns=0,
    )
    return Network(
        name=f"{FOLDER.name}/{test.name}",
        switches=(router,),
        hosts=hosts,
        adapters=(),
        wires=(Wire(("center", 0), ("router", 1)), Wire(("router", 2), ("branch", 0), delay_ns=SECOND // 100)),
        flows=(*asking, transfer),
        assumptions=("each terminal pauses half a second before it asks again",),
    )


class OwnStudy(Study[Queueing]):
    """The network for the lab: its tests, figures and pictures."""

    name = FOLDER.name
    title = "terminals beside a transfer over 1 Mbit/s"
    source = "none: a network of our own"
    tests = TESTS
    labels = LABELS
    options = (Option("terminals", 5, 1, 100, "connections that ask"),)

    def network(self, test: Queueing, *, seed: int, options: Mapping[str, int]) -> Network:
        """Describe what a test runs."""
        return describe(test, seed, options["terminals"])

    def evaluate(
        self, test: Queueing, network: Network, outcome: Outcome, *, duration_s: int, captures: Path
    ) -> Evaluation:
        """Make figures of a run: what came of each group of traffic."""
        groups = Groups.of([flow.group for flow in network.flows], outcome, duration_s)
        terminals, transfer = groups["interactive"], groups["transfer"]
        if not terminals.n:
            raise LabError(f"{network.name}: no reply came in {duration_s} s")
        asked = 0.1 if test.name == "priority" else None  # what has to hold; None asks nothing
        return Evaluation(
            (
                Figure(test.name, "response", "s", terminals.mean_s, high=asked),
                Figure(test.name, "response.p95", "s", terminals.p95_s),
                Figure(test.name, "transfer", "kbit/s", transfer.throughput_bps / 1000),
            )
        )

    def finding(self, runs: Sequence[Run[Queueing]], extra: Sequence[Run[Queueing]]) -> str:
        """Say in one sentence what was found; the page begins with it."""
        waits = [f"{run.figure('response').measured:.3f} s with {run.test.title}" for run in runs]
        return f"Terminals wait {' and '.join(waits)}."

    def conclusions(self, runs: Sequence[Run[Queueing]], extra: Sequence[Run[Queueing]]) -> Sequence[str]:
        """Say what was found, with the figures of these runs."""
        return [f"{run.test.title}: {run.figure('response').measured:.3f} s on average" for run in runs]

    def pictures(self, runs: Sequence[Run[Queueing]], extra: Sequence[Run[Queueing]], folder: Path) -> Sequence[Path]:
        """Draw response times over time."""
        picture, axes = plt.subplots(figsize=(8, 4))
        for run in runs:
            asked = [each for each in run.outcome.transactions if each.group == "interactive"]
            times = [each.end_ns / SECOND for each in asked]
            axes.plot(times, [each.response_s for each in asked], ".", label=run.test.title)
        axes.set_title("Response time of the terminals")
        axes.set_xlabel("time [s]")
        axes.set_ylabel("response time [s]")
        axes.legend()
        return save(picture, folder / "response")


STUDY = OwnStudy()
