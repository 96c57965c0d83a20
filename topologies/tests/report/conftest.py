"""A small study with made-up runs: reports are tested without running a network."""

from pathlib import Path

import pytest
from rich.table import Table

import phb_examples
from phb_lab.description import Adapter, Host, Network, Port, RequestResponse, Switch, Wire
from phb_lab.figures import Figure
from phb_lab.outcome import Conservation, Outcome
from phb_lab.study import Run, Study, Test

EXAMPLES = Path(phb_examples.__file__).parent / "s390"

FIGURES = (
    Figure("fifo", "interactive.n", "transactions", 189, 188),
    Figure("fifo", "interactive.avg", "s", 4.57, 4.73353, low=4.26, high=5.21),
    Figure("fifo", "interactive.avg_pooled", "s", 4.55),
    Figure("fifo", "ftp.avg", "s", 10.02, 11.54204, note="what took 12 % of the line the source does not say"),
    Figure("wfq", "interactive.n", "transactions", 2276, 895),
    Figure("wfq", "interactive.avg", "s", 0.39, 1.00288, "a packet of ring costs <0.1 s> & more", high=0.35),
    Figure("wfq", "ftp.avg", "s", 15.3, 16.85668),
    Figure("by_mtu", "500.EF", "ms", 5.1, 6.0, high=6.0),
    Figure("by_mtu", "500.AF1", "ms", 80.25, 79.3),
    Figure("by_mtu", "1500.EF", "ms", 11.4, 12.0, high=12.0),
    Figure("gone", "packets", "packets", 0, 0),
)

LABELS = {"interactive.avg": "response of the interactive traffic"}

SHOWN = "Serial1/0/0 is up\n  Queueing strategy: weighted fair <b>\n"


class MadeUp(Study):
    """Two tests of nothing."""

    name = "s390"
    title = "a made-up network"
    source = "Nobody, Nothing (1999)"
    tests = (Test("fifo", "first in, first out", 300), Test("wfq", "fair", 300))
    labels = LABELS

    def finding(self, runs, extra):
        return "Fair queueing helps those who wait."

    def network(self, test, *, seed, options):
        server = RequestResponse(
            "i-0", "interactive", "branch", "133.10.50.2", "os390", "135.1.1.1", 700, 100, 1400, 50, 0
        )
        return Network(
            name=f"s390/{test.name}",
            switches=(Switch("c3640", 3, (Port(1, 256_000), Port(2)), (EXAMPLES / "c3640.yaml",)),),
            hosts=tuple(Host(name, (address,), 1500, 16_384, None) for name, address in
                        (("os390", "135.1.1.1"), ("branch", "133.10.50.2"))),
            adapters=(Adapter("cip", "cip", {"block_bytes": 4096, "read_buffers": 15}),),
            wires=(Wire(("os390", 0), ("cip", 0)), Wire(("cip", 1), ("c3640", 1)), Wire(("c3640", 2), ("branch", 0))),
            flows=(server,),
            assumptions=("hosts answer at once", "no propagation delay"),
        )  # fmt: skip

    def evaluate(self, test, network, outcome, *, duration_s, captures):
        raise NotImplementedError

    def tables(self, runs, extra):
        table = Table(title="What the captures say", caption="sent: once")
        table.add_column("test, group")
        table.add_column("sent", justify="right")
        table.add_row("fifo <i>", "477")
        return (table,)

    def conclusions(self, runs, extra):
        return ("Minima & maxima scatter.",)

    def pictures(self, runs, extra, folder):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "figure-8.svg").write_text(
            '<svg xmlns="http://www.w3.org/2000/svg" width="300" height="100"><rect width="300" height="100"/></svg>'
        )
        (folder / "figure-8.png").write_bytes(b"\x89PNG")
        return [folder / "figure-8.png", folder / "figure-8.svg"]


def make_run(study, test, figures, **changes):
    outcome = Outcome(
        transactions=(),
        deliveries=(),
        conservation=(Conservation("c3640", 100, 90, {"queue full": 8}, 2),),
        shared={"c3640": 0},
        adapters={"cip": {"cpu_busy_ns": 5}},
        snapshots={"show queue after 60 s": SHOWN},
        wall_s=0.25,
    )
    values = {
        "test": test,
        "network": study.network(test, seed=1, options={}),
        "mode": "virtual",
        "target": "phb-switch",
        "seed": 1,
        "duration_s": 300,
        "options": {},
        "outcome": outcome,
        "figures": tuple(figures),
        "remarks": (f"{test.name}: line busy 99 %",),
    }
    return Run(**values | changes)


@pytest.fixture
def study():
    return MadeUp()


@pytest.fixture
def runs(study):
    first, second = study.tests
    return [
        make_run(study, first, FIGURES[:4]),
        make_run(study, second, FIGURES[4:]),
    ]


@pytest.fixture
def figures():
    return FIGURES
