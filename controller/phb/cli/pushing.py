"""Parts of ``plan``, ``push`` and ``rollback``: several switches at once, and the output for each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Coroutine, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from phb.cli.application import INTERRUPTED, OK, REFUSED
from phb.cli.output import (
    console,
    notice_as_json,
    print_error,
    print_errors,
    print_json,
    print_notices,
    print_table,
    progress,
    table,
)
from phb.visible import visible

if TYPE_CHECKING:
    from phb.deploying import Prepared
    from phb.errors import PhbError
    from phb.pushing.report import Changed, Report
    from phb.state import Holder, State

_SIGNS = {"insert": ("+", "green"), "modify": ("~", "yellow"), "delete": ("-", "red")}
_DONE = {"insert": "inserted", "modify": "modified", "delete": "deleted"}


@dataclass(frozen=True)
class Result:
    """The outcome for one switch."""

    prepared: Prepared
    report: Report | None = None
    digest: str | None = None
    error: PhbError | None = None


def other_nodes(prepared: Sequence[Prepared], state: State | None) -> list[str]:
    """Say of each switch that holds another node's policy, which node's."""
    import asyncio
    from contextlib import suppress

    from phb.deploying import is_without_policy, node_before
    from phb.errors import SwitchError

    if state is None:
        return []
    changes = []
    for each in prepared:
        now = each.intent.node
        before = None if now is None else node_before(state, each.switch)
        if before in (None, now):
            continue
        empty = False
        with suppress(SwitchError):  # the push itself reports that
            empty = asyncio.run(is_without_policy(each))
        if not empty:
            changes.append(f"{each.switch.name}: has the policy of node '{before}', and would get that of '{now}'")
    return changes


def warn_of_other_nodes(prepared: Sequence[Prepared], state: State | None) -> None:
    """Say before a push that it will ask, and why."""
    for change in other_nodes(prepared, state):
        print_error(f"warning: {change}; a push asks first, or needs --yes")


def plan_all(prepared: Sequence[Prepared]) -> list[Result]:
    """Compare with every switch at once."""
    from phb.deploying import plan

    async def one(each: Prepared) -> Result:
        report, digest = await plan(each)
        return Result(each, report, digest)

    return _all(prepared, one, "comparing")


def push_all(
    prepared: Sequence[Prepared],
    state: State | None,
    *,
    command: str,
    wait_s: float,
    expected_plan: str | None = None,
    election_id: int | None = None,
) -> list[Result]:
    """Push to every switch at once; a failure at one doesn't stop the others."""
    from phb.deploying import deploy

    def waiting(holder: Holder) -> None:
        print_error(f"waiting for {holder}")

    async def one(each: Prepared) -> Result:
        report = await deploy(
            each,
            state,
            command=command,
            wait_s=wait_s,
            expected_plan=expected_plan,
            election_id=election_id,
            on_wait=waiting,
        )
        return Result(each, report)

    with nullcontext() if state is None or not state.is_shared else state.joined(command):
        return _all(prepared, one, "pushing")


def _all(
    prepared: Sequence[Prepared], one: Callable[[Prepared], Coroutine[Any, Any, Result]], doing: str
) -> list[Result]:
    import asyncio
    from functools import partial

    from phb.errors import PhbError
    from phb.pushing.push import push_each

    async def run() -> list[Result]:
        with progress(doing, len(prepared)) as advance:

            async def guarded(each: Prepared) -> Result:
                try:
                    return await one(each)
                finally:
                    advance()

            outcomes = await push_each([(each.switch.address, partial(guarded, each)) for each in prepared])
            return [
                Result(each, error=outcome) if isinstance(outcome, PhbError) else outcome
                for each, outcome in zip(prepared, outcomes, strict=True)
            ]

    return asyncio.run(run())


def show(results: Sequence[Result], *, many: bool, json: bool) -> int:
    """Print results and give the exit code; the error of a single switch is raised instead."""
    from phb.errors import PushInterruptedError

    if not many:
        (result,) = results
        if result.error is not None:
            raise result.error
        if json:
            print_json(result_as_json(result))
        elif result.report is not None:
            print_notices(result.report.notices)
            print_report(result.report)
            if result.digest is not None:
                console().print(f"plan {result.digest}")
    elif json:
        print_json([result_as_json(result) for result in results])
    else:
        _print_many(results)
    if any(isinstance(result.error, PushInterruptedError) for result in results):
        return INTERRUPTED
    return REFUSED if any(result.error is not None for result in results) else OK


def _print_many(results: Sequence[Result]) -> None:
    from phb.entries import Change

    output = console()
    planned = any(result.digest is not None for result in results)
    rows = table("switch", "address", "insert", "modify", "delete", "unchanged", "plan" if planned else "result")
    for result in results:
        switch = result.prepared.switch
        if result.report is None:
            rows.add_row(switch.name, switch.address, "", "", "", "", "failed", style="red")
            continue
        counts = [str(result.report.count(change)) for change in Change]
        last = result.digest or ("changed" if result.report.differs else "unchanged")
        rows.add_row(switch.name, switch.address, *counts, str(result.report.unchanged), last)
    for result in results:
        if result.report is not None:
            print_notices(result.report.notices)
    print_table(output, rows)
    sys.stdout.flush()
    for result in results:
        if result.error is not None:
            print_errors(f"phb: {visible(result.prepared.switch.name)}: {result.error}")


def result_as_json(result: Result) -> dict[str, Any]:
    """Give the report of a switch, or its error."""
    switch = result.prepared.switch
    if result.report is None:
        failed = {"switch": switch.name, "address": switch.address, "device_id": switch.device_id}
        return {**failed, "error": str(result.error)}
    plan = {} if result.digest is None else {"plan": result.digest}
    return {"switch": switch.name, **report_as_json(result.report), **plan}


def report_as_json(report: Report) -> dict[str, Any]:
    """Give the report of a push or a dry run."""
    return {
        "node": report.node,
        "address": report.address,
        "device_id": report.device_id,
        "dry_run": report.dry_run,
        "pipeline_replaced": report.pipeline_replaced,
        "unchanged": report.unchanged,
        "changes": [_changed_as_json(changed) for changed in report.changes],
        "shapers": [asdict(change) for change in report.shapers],
        "warnings": [notice_as_json(notice) for notice in report.notices],
    }


def _changed_as_json(changed: Changed) -> dict[str, Any]:
    entry = changed.entry
    return {
        "change": changed.change.value,
        "table": entry.table,
        "match": dict(entry.match),
        "priority": entry.priority,
        "action": entry.action,
        "parameters": dict(entry.parameters),
        "file": changed.origin.file if changed.origin.line else None,
        "line": changed.origin.line or None,
    }


def print_report(report: Report) -> None:
    """Print the report of a push or a dry run as a diff."""
    from phb.entries import Change

    output = console()
    if report.pipeline_replaced:
        output.print(f"~ pipeline {'to load' if report.dry_run else 'loaded'}", style="yellow")
    for changed in report.changes:
        sign, style = _SIGNS[changed.change.value]
        place = f"  ({changed.origin})" if changed.origin.line else ""
        output.print(f"{sign} {changed.entry}{place}", style=style, soft_wrap=True)
    for change in report.shapers:
        output.print(f"~ {change}", style="yellow", soft_wrap=True)
    counts = ", ".join(
        f"{report.count(change)} {f'to {change}' if report.dry_run else _DONE[change.value]}" for change in Change
    )
    output.print(f"{report.node or report.address}: {counts}, {report.unchanged} unchanged", soft_wrap=True)
