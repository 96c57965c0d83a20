"""``phb-lab sweep``."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from phb_lab import registry
from phb_lab.cli.application import app, check_result_file
from phb_lab.cli.arguments import parse_policies, whole_number
from phb_lab.errors import LabError, UsageError
from phb_lab.interruption import Interruption
from phb_lab.report.files import write_json, write_text
from phb_lab.report.table import print_table
from phb_lab.study import Study, Test
from phb_lab.sweeping import summary
from phb_lab.sweeping.cluster import cluster
from phb_lab.sweeping.job import OWN_POLICIES, Job, PolicyChoice, Sample, jobs


@app.command()
def sweep(
    network: Annotated[
        list[str],
        typer.Argument(
            metavar="NETWORK[:TEST]...", help="networks by name or path, with all their tests, or single tests"
        ),
    ],
    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LABEL:SWITCH=FILE[,FILE]",
            help="also with these policy files; those of one label are one policy; may be repeated",
        ),
    ] = None,
    own: Annotated[bool, typer.Option(help="also with the network's own policies")] = True,
    set_: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE[,VALUE]", help="each of these values of an option")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, max=10_000, help="runs of each setting")] = 10,
    first_seed: Annotated[int, typer.Option(min=0, max=2**62, help="their first seed; the others follow")] = 1,
    duration: Annotated[
        int | None, typer.Option(min=1, max=86_400, help="seconds per run  (default: each test's own)")
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(metavar="tcp://HOST:PORT", help="a dask scheduler  (default: worker processes on this machine)"),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, max=1024, help="worker processes here  (default: one per processor)")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="write means and intervals here")] = None,
    csv: Annotated[Path | None, typer.Option(help="write every single value here")] = None,
) -> None:
    """Run policy x network x seed, and print means over the seeds with 95 % confidence intervals.

    Examples:
      phb-lab sweep s390:diffserv-fifo-cip s390:diffserv-wfq-cip --seeds 20

      phb-lab sweep s390:diffserv-wfq-cip --set transmit_ring=0,1,6 --csv rings.csv

      phb-lab sweep s390:diffserv-wfq-cip --policy new:c7513=a.yaml,b.yaml --scheduler tcp://10.0.0.1:8786
    """
    if scheduler is not None and workers is not None:
        raise UsageError("--workers and --scheduler: a cluster has its own workers; expected one of them")
    for name, path in (("--json", json), ("--csv", csv)):
        if path is not None:
            check_result_file(name, path)
    tests = list(dict.fromkeys(found for text in network for found in _tests(text)))
    policies = [*([OWN_POLICIES] if own else []), *_policies(policy or [], [study for study, _ in tests])]
    if not policies:
        raise UsageError("--no-own: expected --policy LABEL:SWITCH=FILE beside it")
    options = _options(set_ or [], [study for study, _ in tests])
    wanted = jobs(tests, policies, options, range(first_seed, first_seed + seeds), duration)
    samples = _run(wanted, scheduler, workers or os.cpu_count() or 1)
    console = Console(markup=False, highlight=False)
    _print(console, samples)
    if json is not None:
        write_json(json, summary.as_json(samples))
    if csv is not None:
        write_text(csv, summary.as_csv(samples))
    failed = [sample for sample in samples if sample.error is not None]
    for sample in failed:
        console.print(f"failed: {sample.job}: {sample.error}", soft_wrap=True)
    if failed:
        raise LabError(f"sweep: {len(failed)} of {len(samples)} runs failed")


def _run(wanted: Sequence[Job], scheduler: str | None, workers: int) -> list[Sample]:
    samples: list[Sample] = []
    with (
        Interruption() as interruption,
        cluster(scheduler, workers) as chosen,
        Progress(console=Console(stderr=True)) as progress,
    ):
        task = progress.add_task("sweep", total=len(wanted))
        for sample in chosen.run(wanted, interruption.check):
            samples.append(sample)
            progress.advance(task)
    return samples


def _tests(text: str) -> list[tuple[Study[Any], Test]]:
    name, _, test = text.partition(":")
    study = registry.find(name)
    return [(study, study.find_test(test))] if test else [(study, each) for each in study.tests]


def _policies(given: Sequence[str], studies: Sequence[Study[Any]]) -> list[PolicyChoice]:
    """Policies by label; finds what can't be pushed to one of the networks before anything runs."""
    by_label: dict[str, list[str]] = {}
    for text in given:
        label, _, rest = text.partition(":")
        if not label or "=" in label or not rest:
            raise UsageError(f"--policy {text}: expected LABEL:SWITCH=FILE[,FILE]")
        if label == OWN_POLICIES.label:
            raise UsageError(f"--policy {text}: the label {label} is that of the network's own policies")
        by_label.setdefault(label, []).append(rest)
    chosen = []
    for label, texts in by_label.items():
        policies = parse_policies(texts)
        for study in studies:
            described = study.network(study.tests[0], seed=0, options=study.defaults())
            described.with_policies(policies)
        chosen.append(PolicyChoice.read(label, policies))
    return chosen


def _options(given: Sequence[str], studies: Sequence[Study[Any]]) -> dict[str, list[int]]:
    known = {option.name: option for study in studies for option in study.options}
    chosen: dict[str, list[int]] = {}
    for text in given:
        name, _, values = text.partition("=")
        if name not in known:
            raise UsageError(f"--set {text}: found the name {name!r}, expected one of: {', '.join(known) or 'none'}")
        option = known[name]
        chosen[name] = []
        for value in values.split(","):
            number = whole_number(value)
            if number is None or not option.minimum <= number <= option.maximum:
                raise UsageError(
                    f"--set {text}: found {value!r}, expected whole numbers from {option.minimum} to {option.maximum}"
                )
            if number not in chosen[name]:  # run twice, the same bytes would count as two seeds
                chosen[name].append(number)
    return chosen


def _print(console: Console, samples: Sequence[Sample]) -> None:
    previous: tuple[object, ...] = ()
    table: Table | None = None
    for row in summary.rows(samples):
        setting = (row.network, row.test, row.policy, row.options)
        if setting != previous:
            if table is not None:
                print_table(console, table)
            options = "".join(f", {name} {value}" for name, value in row.options)
            seeds = f"{row.interval.samples} seed{'s' if row.interval.samples > 1 else ''}"
            heading = f"{row.network} {row.test}, policies {row.policy}{options}: {seeds}"
            console.print(heading, soft_wrap=True)
            table = Table("group", "quantity")
            table.add_column("mean", justify="right")
            table.add_column("± 95 %", justify="right")
            previous = setting
        assert table is not None
        width = "-" if row.interval.half_width is None else f"{row.interval.half_width:.3g}"
        table.add_row(row.group, row.quantity, f"{row.interval.mean:,.4g}", width)
    if table is not None:
        print_table(console, table)
