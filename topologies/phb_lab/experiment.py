"""Runs tests of a study, one after another, with either runner, and turns each into figures."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal, Protocol

from phb_lab.description import Network
from phb_lab.errors import UnsupportedError, UsageError
from phb_lab.following import Followed, Journeys
from phb_lab.levels import Achieved, Looks, with_objectives
from phb_lab.levels import Asked as AskedLevels
from phb_lab.outcome import NANOSECONDS, Outcome
from phb_lab.stamps import Asked as AskedStamp
from phb_lab.stamps import with_stamps
from phb_lab.study import Run, Snapshot, Study, T, Test
from phb_switch import ExecutorName

DEFAULT_SEED = 1

Mode = Literal["virtual", "mininet"]
TargetName = Literal["phb-switch", "bmv2"]


class NetworkRun(Protocol):
    """A network that has been built, programmed and run once by a runner."""

    def push_policies(self) -> None:
        """Have the controller program every switch.

        Raises:
            phb.PhbError: a policy file is wrong, or a switch refuses an entry.
        """

    def tap(self, node: str, port: int, path: Path) -> None:
        """Capture both directions of a port into a pcap file."""

    def follow(self, followed: Followed) -> None:
        """Follow packets from now on.

        Raises:
            UsageError: this runner can't, or the filter isn't understood.
        """

    def watch(self, looks: Looks) -> Achieved:
        """Look at the switches from now on, and judge the objectives of their policies.

        Raises:
            UnsupportedError: this runner can't.
            UsageError: there are to be objectives, and there are none.
        """

    def journeys(self) -> Journeys | None:
        """Give the ways of the packets that were followed; None without :meth:`follow`."""

    def run(self, duration_ns: int, progress: Callable[[int], None], snapshots: Sequence[Snapshot] = ()) -> Outcome:
        """Let time pass; ``progress`` is called with the time (ns) now and then, and may raise to stop."""


@dataclass(frozen=True)
class Way:
    """How networks are run; ``tools`` are real tools in place of our traffic generators, by name (Mininet only).

    ``executor`` is what runs phb-switch's programs, native code unless it is said; in virtual time both do the same.
    """

    mode: Mode = "virtual"
    target: TargetName = "phb-switch"
    tools: tuple[str, ...] = ()
    executor: ExecutorName | None = None

    def open(self, network: Network, seed: int) -> AbstractContextManager[NetworkRun]:
        """Build a network. What was built is torn down with the context.

        Raises:
            UsageError: the description is wrong.
        """
        if self.mode == "virtual":
            from phb_lab.virtual import VirtualRun

            try:
                return VirtualRun(network, seed=seed, executor=self.executor)
            except ValueError as error:  # names, ports and addresses, as the native network finds them
                raise UsageError(f"{network.name}: {error}") from error
        from phb_lab.emulation.runner import EmulatedRun

        return EmulatedRun(network, seed=seed, target=self.target, tools=self.tools, executor=self.executor)


def run_test(
    study: Study[T],
    test: T,
    *,
    way: Way | None = None,
    seed: int = DEFAULT_SEED,
    options: Mapping[str, int] | None = None,
    policies: Mapping[str, tuple[Path, ...]] | None = None,
    duration_s: int | None = None,
    captures: Path | None = None,
    followed: Followed | None = None,
    stamps: Sequence[AskedStamp] = (),
    levels: AskedLevels | None = None,
    looks: Looks | None = None,
    progress: Callable[[float], None] = lambda share: None,
) -> Run[T]:
    """Run one test.

    Each test draws from a seed of its own, made from ``seed`` and its name, so that the tests of a study are
    independent runs. ``options`` that are left out have their defaults, ``policies`` are other policy files by switch,
    ``captures`` is a folder that keeps the captures; packets of ``followed`` are followed, ``stamps`` measure, and
    objectives are judged as ``levels`` asks, in virtual time only; so are switches looked at as ``looks`` says, which
    without it are for ``levels`` alone; ``progress`` is called with the share that is done, 0 to 1.

    Raises:
        UnsupportedError: the test can't run this way.
        LabError: too short for any figure; packets unaccounted for.
        phb.PhbError: a policy file is wrong, or a switch refuses an entry.
    """
    way = way or Way()
    if way.mode == "mininet" and (reason := study.virtual_time_only(test)) is not None:
        raise UnsupportedError(f"{study.name} {test.name}: {reason}")
    chosen = study.defaults() | dict(options or {})
    lasting = test.duration_s if duration_s is None else duration_s
    own_seed = _own_seed(seed, test)
    network = network_of(study, test, seed=seed, options=chosen, policies=policies)
    if stamps:
        network = with_stamps(network, stamps)
    if levels is not None:
        network = with_objectives(network, levels.files)
        looks = looks or Looks(levels.takers, levels.every_ns)
    with _folder(captures) as folder:
        with way.open(network, own_seed) as run:
            run.push_policies()
            for name, (node, port) in study.taps(test, network).items():
                run.tap(node, port, folder / f"{name}.pcap")
            if followed is not None:
                run.follow(followed)
            achieved = None if looks is None else run.watch(looks)
            end_ns = lasting * NANOSECONDS
            outcome = run.run(
                end_ns, lambda now: progress(min(now / end_ns, 1.0)), study.snapshots(test, network, lasting)
            )
            journeys = None if followed is None else run.journeys()
        evaluation = study.evaluate(test, network, outcome, duration_s=lasting, captures=folder)
    configuration = study.configuration(test, network)
    return Run(
        test=test,
        network=network,
        mode=way.mode,
        target=way.target,
        seed=seed,
        duration_s=lasting,
        options=chosen,
        outcome=outcome,
        figures=tuple(study.beside_its_own(figure, configuration) for figure in evaluation.figures),
        remarks=tuple(evaluation.remarks),
        details=evaluation.details,
        journeys=journeys,
        levels=None if levels is None else achieved,
    )


def network_of(
    study: Study[T],
    test: T,
    *,
    seed: int,
    options: Mapping[str, int] | None = None,
    policies: Mapping[str, tuple[Path, ...]] | None = None,
) -> Network:
    """Give the network that :func:`run_test` runs."""
    chosen = study.defaults() | dict(options or {})
    return study.network(test, seed=_own_seed(seed, test), options=chosen).with_policies(policies or {})


def _own_seed(seed: int, test: Test) -> int:
    return Random(f"{seed}/{test.name}").randrange(2**63)


@contextmanager
def _folder(captures: Path | None) -> Iterator[Path]:
    if captures is not None:
        captures.mkdir(parents=True, exist_ok=True)
        yield captures
        return
    with tempfile.TemporaryDirectory(prefix="phb-lab-") as scratch:
        yield Path(scratch)
