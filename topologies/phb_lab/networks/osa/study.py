"""The study."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.table import Table

from phb_lab.description import (
    Network,
    RequestResponse,
    Stream,
)
from phb_lab.figures import read_published
from phb_lab.outcome import Outcome
from phb_lab.study import Evaluation, Run, Study

from . import display, pictures, tables, words
from .description import NETWORKS
from .evaluation import evaluate
from .tests import TESTS, Setting

PUBLISHED = read_published(__file__)


class OsaStudy(Study[Setting]):
    """The study."""

    name = "osa"
    title = "OSA-Express in QDIO mode: interrupts, input and output queues, offloads (z/OS Communications Server)"
    source = "David Herr: z/OS Communications Server Performance Functions Update. SHARE, Orlando, August 2015"
    tests = TESTS
    published = PUBLISHED
    labels = words.LABELS

    def network(self, test: Setting, *, seed: int, options: Mapping[str, int]) -> Network:
        """The two sides of the comparison, each on an island of its own."""
        return NETWORKS[test.name](test)

    def virtual_time_only(self, test: Setting) -> str | None:
        """All of them: a process is too slow for what they compare."""
        return "it compares microseconds of processors at gigabits; each wake-up of a process takes longer than they do"

    def evaluate(
        self, test: Setting, network: Network, outcome: Outcome, *, duration_s: int, captures: Path
    ) -> Evaluation:
        """Gains beside the published ones, and what makes them up."""
        return evaluate(test, outcome)

    def configuration(self, test: Setting, network: Network) -> Mapping[str, object]:
        """Name the comparison and its workload."""
        far = next((adapter.kind for adapter in network.adapters if adapter.name.endswith("-far-adapter")), None)
        return {
            "compares": next((what for what in ("lan-idle", "iwq") if test.name.startswith(what)), test.name),
            "requests": any(isinstance(flow, RequestResponse) for flow in network.flows),
            "stream": any(isinstance(flow, Stream) for flow in network.flows),
            "connections": test.connections,
            "peer": "zos" if far == "osa" else "aix",
        }

    def tables(self, runs: Sequence[Run[Setting]], extra: Sequence[Run[Setting]]) -> Sequence[Table]:
        """List both sides of each gain."""
        return [tables.sides_table(runs)]

    def displays(self, run: Run[Setting]) -> Mapping[str, str]:
        """The adapters' queues as z/OS displays them at the end."""
        return display.displays(run.network, run.outcome)

    def conclusions(self, runs: Sequence[Run[Setting]], extra: Sequence[Run[Setting]]) -> Sequence[str]:
        """How far each gain is from the published one, where it is further than asked."""
        return words.conclusions(runs)

    def finding(self, runs: Sequence[Run[Setting]], extra: Sequence[Run[Setting]]) -> str:
        """Compare published and measured gains."""
        return words.finding(runs)

    def pictures(self, runs: Sequence[Run[Setting]], extra: Sequence[Run[Setting]], folder: Path) -> Sequence[Path]:
        """Bars, as the source draws them: one picture per test."""
        first = sorted(runs, key=lambda run: run.test.name != "iwq-mixed")
        return [path for run in first for path in pictures.bars(run.test.title, run.details, folder / run.test.name)]


STUDY = OsaStudy()
