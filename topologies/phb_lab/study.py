"""A network's study, which any runner runs and any report shows.

A study has tests; a test is one run of one described network. Its outcome becomes figures beside the published ones.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from rich.table import Table

from phb_lab.description import Network
from phb_lab.errors import UsageError
from phb_lab.figures import Figure
from phb_lab.following import Journeys
from phb_lab.levels.achieved import Achieved
from phb_lab.outcome import Outcome


@dataclass(frozen=True)
class Test:
    """One run.

    Attributes:
        name: unique in its study; what ``--test`` takes.
        title: a few words for ``phb-lab list``.
        duration_s: seconds of the network.
        short_s: the same with ``--short``; at most 60.
    """

    name: str
    title: str
    duration_s: int
    short_s: int = 60


T = TypeVar("T", bound=Test)


@dataclass(frozen=True)
class Option:
    """Something that a user may set differently for a whole run: ``--set NAME=VALUE``."""

    name: str
    default: int
    minimum: int
    maximum: int
    help: str


@dataclass(frozen=True)
class Snapshot:
    """Something to ask of a switch during the run: ``phb show queue`` of one of its ports."""

    label: str
    at_ns: int
    switch: str
    port: str


@dataclass(frozen=True)
class Run(Generic[T]):
    """One test that has run.

    Attributes:
        mode: ``virtual`` or ``mininet``.
        target: ``phb-switch`` or ``bmv2``.
        remarks: on this run's figures, a sentence or two each.
        details: whatever the study's own tables, pictures and conclusions need.
        journeys: of packets that were followed, if any were to be.
        levels: what became of objectives, if any were judged.
    """

    test: T
    network: Network
    mode: str
    target: str
    seed: int
    duration_s: int
    options: Mapping[str, int]
    outcome: Outcome
    figures: tuple[Figure, ...]
    remarks: tuple[str, ...] = ()
    details: Any = None
    journeys: Journeys | None = None
    levels: Achieved | None = None

    def figure(self, quantity: str, test: str | None = None) -> Figure:
        """One figure of this run by its quantity and, where they differ, its published test.

        Raises:
            KeyError: there is none.
        """
        for figure in self.figures:
            if figure.quantity == quantity and test in (None, figure.test):
                return figure
        raise KeyError(quantity)


@dataclass(frozen=True)
class Evaluation:
    """Figures of an outcome; see :class:`Run`."""

    figures: Sequence[Figure]
    remarks: Sequence[str] = ()
    details: Any = None


class Study(ABC, Generic[T]):
    """One test network; ``T`` is the class of its tests. Its package or file has one instance, ``STUDY``.

    Attributes:
        name: what the command line calls it.
        title: what it is, in a line.
        source: the document, as one would cite it.
        tests: in the order of the source.
        options: those of ``--set``.
        published: the source's figures.
        path: of its folder or file, where it was found by that and not by its name.
        labels: words for quantities and for tests of the source, by name, for the page.
    """

    name: str
    title: str
    source: str
    tests: tuple[T, ...]
    options: tuple[Option, ...] = ()
    published: Mapping[str, Any] = {}
    path: str | None = None
    labels: Mapping[str, str] = {}

    @abstractmethod
    def network(self, test: T, *, seed: int, options: Mapping[str, int]) -> Network:
        """Describe what a test runs. The same arguments give the same network."""

    @abstractmethod
    def evaluate(self, test: T, network: Network, outcome: Outcome, *, duration_s: int, captures: Path) -> Evaluation:
        """Make figures of an outcome; ``captures`` is the folder with the captures that :meth:`taps` asked for.

        Raises:
            LabError: the run was too short for any figure.
        """

    def taps(self, test: T, network: Network) -> Mapping[str, tuple[str, int]]:
        """Ports to capture: file name (``NAME.pcap``) to (node, port)."""
        return {}

    def snapshots(self, test: T, network: Network, duration_s: int) -> Sequence[Snapshot]:
        """Ask switches for a port's queue during the run."""
        return ()

    def extra_runs(self, tests: Sequence[T], options: Mapping[str, int]) -> Sequence[tuple[T, Mapping[str, int]]]:
        """Further runs that a whole ``phb-lab run`` adds: the same tests with other options (``--extra``)."""
        return ()

    def tables(self, runs: Sequence[Run[T]], extra: Sequence[Run[T]]) -> Sequence[Table]:
        """Tables of this network's own, printed after the figures."""
        return ()

    def conclusions(self, runs: Sequence[Run[T]], extra: Sequence[Run[T]]) -> Sequence[str]:
        """Why figures differ from the published ones, and what was found; a sentence or two each."""
        return ()

    def finding(self, runs: Sequence[Run[T]], extra: Sequence[Run[T]]) -> str:
        """Say in one plain sentence what the runs found; empty where they are too few for it."""
        return ""

    def label(self, name: str) -> str:
        """Name a quantity, or a test of the source, in words."""
        return self.labels.get(name) or name.replace(".", ", ").replace("_", " ")

    def pictures(self, runs: Sequence[Run[T]], extra: Sequence[Run[T]], folder: Path) -> Sequence[Path]:
        """Draw the source's figures from our runs, PNG and SVG; the page begins with the first. Gives the files."""
        return ()

    def displays(self, run: Run[T]) -> Mapping[str, str]:
        """Give the text that nodes of a run showed, by label: that of its snapshots unless a study has others."""
        return run.outcome.snapshots

    def configuration(self, test: T, network: Network) -> Mapping[str, object]:
        """Describe a run's configuration, in the words of ``measured_with`` of the published data."""
        return {}

    def measured_with(self, figure: Figure) -> Mapping[str, object]:
        """Give the configuration with which the source measured a figure; empty where the published data has none."""
        tables: Mapping[str, Mapping[str, object]] = self.published.get("measured_with", {})
        paths = (f"{figure.test}.{figure.quantity}.", f"{figure.quantity}.")
        found = [table for table in tables if any(path.startswith(f"{table}.") for path in paths)]
        return tables[max(found, key=len)] if found else {}

    def beside_its_own(self, figure: Figure, configuration: Mapping[str, object]) -> Figure:
        """Drop a figure's published value where the source measured it with another configuration than the run's."""
        same = all(configuration.get(name) == value for name, value in self.measured_with(figure).items())
        return figure if same else replace(figure, published=None)

    def find_test(self, name: str) -> T:
        """The test of that name.

        Raises:
            UsageError: there is none; the message lists them.
        """
        for test in self.tests:
            if test.name == name:
                return test
        raise UsageError(f"--test {name}: expected one of: {', '.join(test.name for test in self.tests)}")

    def virtual_time_only(self, test: T) -> str | None:
        """Why a test can't run on real interfaces; None if it can."""
        return None

    @property
    def given_as(self) -> str:
        """Its name on a command line."""
        return self.path or self.name

    def defaults(self) -> dict[str, int]:
        """Every option at its default."""
        return {option.name: option.default for option in self.options}
