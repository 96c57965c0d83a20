"""What ``plan`` and ``push`` share: they differ in whether anything is written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from phb.cli.options import ProgramOptions, ReadingOptions, SwitchOptions
from phb.cli.output import console, notice_as_json, print_json, print_notices

if TYPE_CHECKING:
    from phb.pushing import Changed, Report

_SIGNS = {"insert": ("+", "green"), "modify": ("~", "yellow"), "delete": ("-", "red")}
_DONE = {"insert": "inserted", "modify": "modified", "delete": "deleted"}


def push(
    files: Sequence[str],
    switch: SwitchOptions,
    reading: ReadingOptions,
    program: ProgramOptions,
    *,
    election_id: int = 1,
    dry_run: bool,
    json: bool,
) -> None:
    """Push, or in a dry run compare, and print what was or would be changed."""
    from phb.pushing import push_sync

    report = push_sync(
        switch.checked_address(),
        files,
        device_id=switch.device_id,
        artifact=program.load(),
        at=reading.moment(),
        dry_run=dry_run,
        election_id=election_id,
        format_name=reading.format_name,
    )
    if json:
        print_json(report_as_json(report))
        return
    print_notices(report.notices)
    print_report(report)


def report_as_json(report: Report) -> dict[str, Any]:
    """What a push did or would do."""
    return {
        "node": report.node,
        "address": report.address,
        "device_id": report.device_id,
        "dry_run": report.dry_run,
        "pipeline_replaced": report.pipeline_replaced,
        "unchanged": report.unchanged,
        "changes": [_changed_as_json(changed) for changed in report.changes],
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
    """What a push did or would do, as a diff."""
    from phb.difference import Change

    output = console()
    if report.pipeline_replaced:
        output.print(f"~ pipeline {'to load' if report.dry_run else 'loaded'}", style="yellow")
    for changed in report.changes:
        sign, style = _SIGNS[changed.change.value]
        place = f"  ({changed.origin})" if changed.origin.line else ""
        output.print(f"{sign} {changed.entry}{place}", style=style, soft_wrap=True)
    counts = ", ".join(
        f"{report.count(change)} {f'to {change}' if report.dry_run else _DONE[change.value]}" for change in Change
    )
    output.print(f"{report.node or report.address}: {counts}, {report.unchanged} unchanged", soft_wrap=True)
