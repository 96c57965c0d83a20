"""QoS unit tests: the fixture ``qos`` runs networks inside pytest.

    def test_terminals_stay_fast_while_30_transfers_run(qos):
        run = qos.run("s390", "diffserv-wfq-cip", duration_s=60)
        assert run["interactive"].p95_s < 1

A failed test prints the values of every group, and the command for the same run. ``--phb-seed`` is the seed of all
runs. Equal runs are run once.
"""

# pytest loads every plugin at each start, so the lab is imported only where a test needs it.
from __future__ import annotations

import os
import shlex
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from phb_lab.description import Network
    from phb_lab.measures import Group
    from phb_lab.study import Option

_RUNS: pytest.StashKey[list[QosRun]] = pytest.StashKey()


class QosRun(Mapping[str, "Group"]):
    """One run; its items are the groups of its traffic, see :class:`phb_lab.measures.Group`."""

    def __init__(self, groups: Mapping[str, Group], command: str) -> None:
        self._groups = groups
        self._command = command

    def __getitem__(self, group: str) -> Group:
        return self._groups[group]

    def __iter__(self) -> Iterator[str]:
        return iter(self._groups)

    def __len__(self) -> int:
        return len(self._groups)

    def __repr__(self) -> str:
        return f"<run of {self._command}>"

    def told(self) -> str:
        """Describe the values of every group, and the command."""
        lines = [self._command]
        for name, group in self._groups.items():
            values = ", ".join(f"{key} {value:.4g}" for key, value in group.values().items())
            lines.append(f"  {name}: {values or 'nothing'}")
        return "\n".join(lines)


class Qos:
    """Runs networks in virtual time for one test; see :meth:`run`."""

    def __init__(self, seed: int, cache: dict[str, QosRun], root: Path) -> None:
        self._seed = seed
        self._cache = cache
        self._root = root
        self.runs: list[QosRun] = []

    def run(
        self,
        network: str,
        test: str,
        *,
        policies: Mapping[str, Sequence[str | Path]] | None = None,
        duration_s: int | None = None,
        seed: int | None = None,
        **options: int,
    ) -> QosRun:
        """Run one test of a network.

        Args:
            network: its name, as ``phb-lab list`` has it, or its path.
            test: one of its tests.
            policies: your policy files for some of its switches, by the switch's name; paths are relative to pytest's
                root folder.
            duration_s: virtual seconds; the test's own by default.
            seed: of everything that is drawn; ``--phb-seed`` by default.
            options: the network's, as ``--set`` takes them.

        Raises:
            phb_lab.errors.UsageError: a name is not known.
            phb.InputError: a policy file is wrong.
        """
        from phb_lab import registry
        from phb_lab.experiment import run_test
        from phb_lab.measures import Groups

        study = registry.find(network)
        files = {name: tuple(self._root / path for path in paths) for name, paths in (policies or {}).items()}
        drawn = self._seed if seed is None else seed
        command = ["phb-lab", "run", network, "--test", test, "--seed", str(drawn)]
        command += ["--duration", str(duration_s)] if duration_s is not None else []
        for name, value in options.items():
            command += ["--set", f"{name}={value}"]
        for name, paths in files.items():
            command += ["--policy", f"{name}={','.join(map(str, paths))}"]
        key = shlex.join(command)
        if key not in self._cache:
            done = run_test(
                study,
                study.find_test(test),
                seed=drawn,
                options=_known(study.options, options),
                policies=files,
                duration_s=duration_s,
            )
            groups = Groups.of([flow.group for flow in done.network.flows], done.outcome, done.duration_s)
            self._cache[key] = QosRun(groups, key)
        self.runs.append(self._cache[key])
        return self._cache[key]

    def run_network(self, network: Network, *, duration_s: int, seed: int | None = None) -> QosRun:
        """Run a network of your own (:mod:`phb_lab.description`).

        Raises:
            phb.InputError: a policy file is wrong.
        """
        from phb_lab.measures import Groups
        from phb_lab.outcome import NANOSECONDS
        from phb_lab.virtual import VirtualRun

        drawn = self._seed if seed is None else seed
        with VirtualRun(network, seed=drawn) as run:
            run.push_policies()
            outcome = run.run(duration_s * NANOSECONDS, lambda now: None)
        groups = Groups.of([flow.group for flow in network.flows], outcome, duration_s)
        done = QosRun(groups, f"network {network.name} for {duration_s} s with seed {drawn}")
        self.runs.append(done)
        return done


def _known(known: Sequence[Option], options: Mapping[str, int]) -> Mapping[str, int]:
    from phb_lab.errors import UsageError

    by_name = {option.name: option for option in known}
    for name, value in options.items():
        if name not in by_name:
            raise UsageError(f"option {name}: expected one of: {', '.join(by_name) or 'none'}")
        least, most = by_name[name].minimum, by_name[name].maximum
        if not least <= value <= most:
            raise UsageError(f"option {name}: found {value}, expected a whole number from {least} to {most}")
    return options


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--phb-seed``."""
    group = parser.getgroup("phb", "QoS of networks in virtual time")
    group.addoption("--phb-seed", type=int, default=1, metavar="SEED", help="seed of the runs of the fixture qos")


@pytest.fixture(scope="session")
def _qos_cache() -> dict[str, QosRun]:
    return {}


@pytest.fixture
def qos(request: pytest.FixtureRequest, _qos_cache: dict[str, QosRun]) -> Qos:
    """Run networks, and ask what each group of traffic got."""
    # gRPC reports each connection that ends; errors come as exceptions, too.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    made = Qos(int(request.config.getoption("--phb-seed")), _qos_cache, request.config.rootpath)
    request.node.stash[_RUNS] = made.runs
    return made


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell about the runs of a test that failed."""
    report = yield
    runs = item.stash.get(_RUNS, [])
    if report.failed and runs:
        report.sections.append(("phb-lab", "\n".join(run.told() for run in runs)))
    return report
