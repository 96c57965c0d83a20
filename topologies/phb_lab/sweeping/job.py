"""One run of a sweep as plain data, for any machine."""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from phb import PhbError
from phb_lab import registry
from phb_lab.errors import LabError
from phb_lab.experiment import run_test
from phb_lab.measures import Groups
from phb_lab.study import Study, Test


@dataclass(frozen=True)
class PolicyChoice:
    """Policy files for some switches under one label, with their contents: the files need not be where a job runs.

    ``files`` are (switch, ((file name, content), ...)) of each switch.
    """

    label: str
    files: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]

    @classmethod
    def read(cls, label: str, policies: Mapping[str, Sequence[Path]]) -> "PolicyChoice":
        """Read the files."""
        return cls(
            label,
            tuple(
                (switch, tuple((path.name, path.read_text()) for path in paths)) for switch, paths in policies.items()
            ),
        )


OWN_POLICIES = PolicyChoice("own", ())


@dataclass(frozen=True)
class Job:
    """One run: everything that its values depend on."""

    network: str
    test: str
    policy: PolicyChoice
    options: tuple[tuple[str, int], ...]
    seed: int
    duration_s: int | None

    @property
    def setting(self) -> tuple[str, str, str, tuple[tuple[str, int], ...]]:
        """Everything but the seed."""
        return self.network, self.test, self.policy.label, self.options

    def __str__(self) -> str:
        options = "".join(f", {name} {value}" for name, value in self.options)
        return f"{self.network} {self.test}, policies {self.policy.label}{options}, seed {self.seed}"


@dataclass(frozen=True)
class Sample:
    """The values of one job, by group and name (see :meth:`phb_lab.measures.Group.values`).

    ``figures`` are those beside the published ones, by ``test.quantity``; ``error`` says why there are no values.
    """

    job: Job
    values: Mapping[str, Mapping[str, float]]
    figures: Mapping[str, float]
    error: str | None = None


def jobs(
    tests: Iterable[tuple[Study[Any], Test]],
    policies: Sequence[PolicyChoice],
    options: Mapping[str, Sequence[int]],
    seeds: Iterable[int],
    duration_s: int | None,
) -> list[Job]:
    """Every combination; options that a network doesn't have are left out for it."""
    drawn = tuple(seeds)
    made = []
    for study, test in tests:
        own = {name: values for name, values in options.items() if name in study.defaults()}
        settings = [tuple(zip(own, values, strict=True)) for values in product(*own.values())]
        made += [
            Job(study.given_as, test.name, policy, setting, seed, duration_s)
            for policy in policies
            for setting in settings
            for seed in drawn
        ]
    return made


def run_job(job: Job) -> Sample:
    """Run it here. An error in a policy or a run becomes the sample's; any other is raised."""
    study = registry.find(job.network)
    with tempfile.TemporaryDirectory(prefix="phb-sweep-") as folder:
        try:
            run = run_test(
                study,
                study.find_test(job.test),
                seed=job.seed,
                options=dict(job.options),
                policies=_unpack(job.policy, Path(folder)),
                duration_s=job.duration_s,
            )
        except (PhbError, LabError) as error:
            return Sample(job, {}, {}, str(error).replace(f"{folder}/", ""))
        except Exception as error:
            if (told := registry.place(error)) is None:
                raise
            return Sample(job, {}, {}, told)
    groups = Groups.of([flow.group for flow in run.network.flows], run.outcome, run.duration_s)
    return Sample(
        job,
        {name: group.values() for name, group in groups.items()},
        {f"{figure.test}.{figure.quantity}": figure.measured for figure in run.figures},
    )


def _unpack(policy: PolicyChoice, folder: Path) -> dict[str, tuple[Path, ...]]:
    unpacked = {}
    for switch, files in policy.files:
        own = folder / switch
        own.mkdir()
        # Numbered, because files of different folders may have one name; errors show the name.
        for number, (name, content) in enumerate(files):
            (own / f"{number}").mkdir()
            (own / f"{number}" / name).write_text(content)
        unpacked[switch] = tuple(own / f"{number}" / name for number, (name, _) in enumerate(files))
    return unpacked
