"""``phb-lab plan``."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from phb_lab.cli.application import app, check_result_file
from phb_lab.errors import UsageError
from phb_lab.planning import capacity, requirement
from phb_lab.planning.arithmetic import Failure, Plan, Step, count_of, in_digits, in_words
from phb_lab.planning.arithmetic import plan as work_out
from phb_lab.report.files import write_json
from phb_lab.report.table import print_table


@app.command()
def plan(
    solution: Annotated[
        list[str] | None,
        typer.Argument(help="solutions of the source; all five unless numbers or a file are given"),
    ] = None,
    file: Annotated[Path | None, typer.Option(help="a requirement of your own (YAML)")] = None,
    mode: Annotated[str | None, typer.Option(help=f"what the CIPs are used for: {', '.join(capacity.modes())}")] = None,
    data: Annotated[str | None, typer.Option(help="to be moved within the window, such as 250GB")] = None,
    window: Annotated[str | None, typer.Option(help="such as 3h")] = None,
    transactions: Annotated[str | None, typer.Option(help="such as 3000/s or 20M/h")] = None,
    lus: Annotated[str | None, typer.Option(help="logical units")] = None,
    active: Annotated[str | None, typer.Option(help="share of them in session at a time, such as 50%")] = None,
    lus_per_cip: Annotated[str | None, typer.Option(help="sessions planned for a CIP  (default: its limit)")] = None,
    pus: Annotated[str | None, typer.Option(help="physical units")] = None,
    cips: Annotated[str | None, typer.Option(help="CIPs that there are  (default: as many as it takes)")] = None,
    cips_per_router: Annotated[str | None, typer.Option(help="CIPs of a router  (default: 2)")] = None,
    spare_routers: Annotated[str | None, typer.Option(help="beside those it takes  (default: 0)")] = None,
    capacity_: Annotated[
        list[str] | None,
        typer.Option("--capacity", help="of one CIP: 20MB/s, 711/s or 16000 sessions; in place of the published one"),
    ] = None,
    measured: Annotated[
        Path | None, typer.Option("--results", help="take capacities from what `phb-lab run cip --json` wrote")
    ] = None,
    json: Annotated[Path | None, typer.Option(help="write the plan here")] = None,
) -> None:
    """Work out how many CIPs and routers a load takes, with the arithmetic.

    Examples:
      phb-lab plan

      phb-lab plan tn3270-conversion

      phb-lab plan --mode ip-datagram --data 250GB --window 3h --cips 2

      phb-lab plan --mode csna --lus 30000 --transactions 3000/s --spare-routers 1 --results cip.json
    """
    options = {
        "mode": mode,
        "data": data,
        "window": window,
        "transactions": transactions,
        "lus": lus,
        "active": active,
        "lus-per-cip": lus_per_cip,
        "pus": pus,
        "cips": cips,
        "cips-per-router": cips_per_router,
        "spare-routers": spare_routers,
    }
    if json is not None:
        check_result_file("--json", json)
    given = dict(requirement.capacity(text) for text in capacity_ or [])
    plans = [
        work_out(asked, capacity.of_mode(asked.mode, measured, given))
        for asked in _requirements(solution or [], file, options)
    ]
    console = Console(markup=False)
    for each in plans:
        _print(console, each)
    if json is not None:
        write_json(json, {"plans": [_document(each) for each in plans]})
        console.print(f"plan: {json}", highlight=False, soft_wrap=True)


def _requirements(
    names: list[str], file: Path | None, options: Mapping[str, str | None]
) -> list[requirement.Requirement]:
    numbers = {key: value for key, value in options.items() if value is not None}
    if bool(names) + (file is not None) + bool(numbers) > 1:
        raise UsageError("plan: expected solutions, or --file, or numbers of your own; found more than one of them")
    if file is not None:
        return [requirement.from_file(file)]
    if numbers:
        return [requirement.parse("given", numbers, "")]
    return [requirement.solution(name) for name in names or requirement.names()]


def _print(console: Console, plan: Plan) -> None:
    published = plan.requirement.published is not None
    table = Table(title=f"{plan.requirement.title} ({plan.requirement.mode})", title_justify="left")
    table.add_column("step", overflow="fold")
    table.add_column("arithmetic", overflow="fold")
    table.add_column("result", justify="right")
    if published:
        table.add_column("published", justify="right")
    for step in plan.steps:
        row = [step.label, step.origin or step.arithmetic, f"{in_digits(step.value)} {_unit(step)}".rstrip()]
        if published:
            row.append("" if step.published is None else in_digits(step.published))
        table.add_row(*row)
    print_table(console, table)
    for remark in plan.remarks:
        console.print(f"- {remark}", highlight=False)
    for failure in plan.failures:
        console.print(f"- {in_words(failure)}", highlight=False)
    verbs = ("carries", "does not carry") if plan.cips == 1 else ("carry", "do not carry")
    verdict = f"{verbs[0] if plan.met else verbs[1]} it"
    console.print(
        f"{count_of(plan.cips, 'CIP')} in {count_of(plan.routers, 'router')} {verdict}; "
        f"{plan.routers_may_fail:,} of the routers may fail\n",
        highlight=False,
    )


def _unit(step: Step) -> str:
    return step.unit.removesuffix("s") if step.value == 1 and "/" not in step.unit else step.unit


def _document(plan: Plan) -> dict[str, object]:
    return {
        "name": plan.requirement.name,
        "title": plan.requirement.title,
        "mode": plan.requirement.mode,
        "cips": plan.cips,
        "cips_needed": plan.cips_needed,
        "routers": plan.routers,
        "cips_may_fail": plan.cips_may_fail,
        "routers_may_fail": plan.routers_may_fail,
        "failures": [_failure(each) for each in plan.failures],
        "met": plan.met,
        "steps": [_step(step) for step in plan.steps],
        "remarks": list(plan.remarks),
    }


def _failure(failure: Failure) -> dict[str, object]:
    use = {kind: {"each": float(each), "most": float(most)} for kind, (each, most) in failure.use.items()}
    return {
        "unit": failure.unit,
        "failed": failure.failed,
        "cips_left": failure.cips_left,
        "use": use,
        "carried": failure.carried,
    }


def _step(step: Step) -> dict[str, object]:
    return {key: value for key, value in asdict(step).items() if value not in (None, "")}
