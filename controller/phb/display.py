"""What the command line prints: each thing once as JSON, once for people. Colour only on a terminal: rich's rule."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from rich import box
from rich.console import Console
from rich.table import Table

from phb.describe import Described
from phb.difference import Change
from phb.intent import NodeIntent, Notice, Policy
from phb.pipeline_names import COLOURS, COLOURS_PER_POLICY, REASONS_PER_POLICY, DropReason
from phb.pushing import Changed, Report
from phb.session import CounterValue

Counters = Mapping[str, Mapping[int, CounterValue]]

_SIGNS = {Change.INSERT: ("+", "green"), Change.MODIFY: ("~", "yellow"), Change.DELETE: ("-", "red")}
_DONE = {Change.INSERT: "inserted", Change.MODIFY: "modified", Change.DELETE: "deleted"}
PIPE_WIDTH = 200  # columns; tables in a pipe have no terminal to fit into


def console() -> Console:
    """Standard output."""
    return Console(markup=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def print_notices(notices: Sequence[Notice]) -> None:
    """List warnings on standard error."""
    errors = Console(file=sys.stderr, markup=False, highlight=False, soft_wrap=True)
    for notice in notices:
        errors.print(f"warning: {notice}", style="yellow", markup=False)


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


# ---------------------------------------------------------------------------
# check, plan, push
# ---------------------------------------------------------------------------


def _notice_as_json(notice: Notice) -> dict[str, Any]:
    return {"file": notice.origin.file, "line": notice.origin.line, "message": notice.message}


def intent_as_json(intent: NodeIntent) -> dict[str, Any]:
    """What files compile to."""
    return {
        "node": intent.node,
        "entries": len(intent.entries),
        "policies": [
            {
                "policy": policy.number,
                "rule": policy.rule,
                "direction": policy.direction,
                "file": policy.origin.file,
                "line": policy.origin.line,
            }
            for policy in intent.policies
        ],
        "warnings": [_notice_as_json(notice) for notice in intent.notices],
    }


def print_intent(output: Console, intent: NodeIntent) -> None:
    """What files compile to, for people."""
    if intent.policies:
        table = _table("policy", "rule", "direction", "from")
        for policy in intent.policies:
            table.add_row(str(policy.number), policy.rule, policy.direction, str(policy.origin))
        output.print(table)
    output.print(f"{intent.node or 'policy'}: ok, {len(intent.entries)} table entries", highlight=False)


def _changed_as_json(changed: Changed) -> dict[str, Any]:
    return {
        "change": changed.change.value,
        **entry_as_json(changed.entry),
        "file": changed.origin.file if changed.origin.line else None,
        "line": changed.origin.line or None,
    }


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
        "warnings": [_notice_as_json(notice) for notice in report.notices],
    }


def print_report(output: Console, report: Report) -> None:
    """What a push did or would do, as a diff."""
    if report.pipeline_replaced:
        output.print(f"~ pipeline {'to load' if report.dry_run else 'loaded'}", style="yellow", highlight=False)
    for changed in report.changes:
        sign, style = _SIGNS[changed.change]
        place = f"  ({changed.origin})" if changed.origin.line else ""
        line = f"{sign} {changed.entry}{place}"
        output.print(line, style=style, highlight=False, markup=False, soft_wrap=True)
    counts = ", ".join(
        f"{report.count(change)} {f'to {change}' if report.dry_run else _DONE[change]}" for change in Change
    )
    name = report.node or report.address
    output.print(f"{name}: {counts}, {report.unchanged} unchanged", highlight=False)


# ---------------------------------------------------------------------------
# show
# ---------------------------------------------------------------------------


def entry_as_json(entry: Described) -> dict[str, Any]:
    """A table entry by names."""
    return {
        "table": entry.table,
        "match": dict(entry.match),
        "priority": entry.priority,
        "action": entry.action,
        "parameters": dict(entry.parameters),
    }


def print_entries(output: Console, entries: Sequence[Described]) -> None:
    """Table entries, one table after another."""
    table = _table("table", "match", "priority", "action")
    for entry in entries:
        match = " ".join(f"{name}={value}" for name, value in entry.match.items()) or "anything"
        parameters = ", ".join(f"{name}={value}" for name, value in entry.parameters.items())
        table.add_row(entry.table, match, str(entry.priority or ""), f"{entry.action}({parameters})")
    output.print(table)


def counters_as_json(counters: Counters) -> dict[str, Any]:
    """Counters by name and index, with what the index means where that is known."""
    return {
        name: [
            {"index": index, "meaning": _meaning(name, index), "packets": cell.packets, "bytes": cell.bytes}
            for index, cell in cells.items()
        ]
        for name, cells in counters.items()
    }


def print_counters(output: Console, counters: Counters) -> None:
    """Counters, one after another."""
    table = _table("counter", "index", "meaning", "packets", "bytes")
    for name, cells in counters.items():
        for index, cell in cells.items():
            table.add_row(name, str(index), _meaning(name, index), str(cell.packets), str(cell.bytes))
    output.print(table)


def _meaning(name: str, index: int) -> str:
    match name:
        case "policy_traffic":
            return f"policy {index // COLOURS_PER_POLICY}, {COLOURS.get(index % COLOURS_PER_POLICY, '?')}"
        case "policy_drops":
            reason = index % REASONS_PER_POLICY
            known = reason in DropReason.__members__.values()
            words = DropReason(reason).name.lower().replace("_", " ") if known else f"reason {reason}"
            return f"policy {index // REASONS_PER_POLICY}, {words}"
        case "class_delay":
            bucket = index % 32
            return f"class {index // 32}, below {2**bucket} us" if bucket < 31 else f"class {index // 32}, longer"
        case "port_transmit":
            return f"port {index}"
        case "conversation_discards" | "conversation_tail_drops":
            return f"fair queue {index // 4096}, conversation {index % 4096}"
    return ""


class PolicyRow(TypedDict):
    """A policy of a live switch."""

    policy: int
    rule: str | None
    direction: str | None
    match: list[str]
    permission: str
    mark: str | None
    packets: int
    bytes: int
    drops: dict[str, int]


def policy_rows(entries: Sequence[Described], counters: Counters, policies: Sequence[Policy]) -> list[PolicyRow]:
    """The switch's policies, put together from its tables and counters; policy 0 is what no rule took."""
    names = {policy.number: policy for policy in policies}
    rows: dict[int, PolicyRow] = {}

    def row(number: int) -> PolicyRow:
        if number not in rows:
            policy = names.get(number)
            rows[number] = PolicyRow(
                policy=number,
                rule=policy.rule if policy else None,
                direction=policy.direction if policy else None,
                match=[],
                permission="allowed",
                mark=None,
                packets=0,
                bytes=0,
                drops={},
            )
        return rows[number]

    for entry in entries:
        if entry.action == "set_class":
            match = " ".join(f"{name}={value}" for name, value in entry.match.items()) or "anything"
            row(int(entry.parameters["policy"]))["match"].append(match)
        elif entry.action == "block":
            row(int(entry.match["policy"]))["permission"] = "blocked"
        elif entry.action == "set_tos":
            value, mask = int(entry.parameters["value"]), int(entry.parameters["mask"])
            row(int(entry.match["policy"]))["mark"] = f"ToS {value}" + ("" if mask == 0xFF else f"&{mask:#x}")
    for index, cell in counters.get("policy_traffic", {}).items():
        seen = row(index // COLOURS_PER_POLICY)
        seen["packets"] += cell.packets
        seen["bytes"] += cell.bytes
    for index, cell in counters.get("policy_drops", {}).items():
        reason = _meaning("policy_drops", index).partition(", ")[2]
        row(index // REASONS_PER_POLICY)["drops"][reason] = cell.packets
    return [rows[number] for number in sorted(rows)]


def print_policies(output: Console, rows: Sequence[PolicyRow]) -> None:
    """The switch's policies."""
    table = _table("policy", "rule", "match", "does", "packets", "bytes", "dropped")
    for row in rows:
        name = row["rule"] or ("(no rule)" if row["policy"] == 0 else "")
        direction = f" ({row['direction']})" if row["direction"] else ""
        does = "block" if row["permission"] == "blocked" else row["mark"] or "-"
        drops = ", ".join(f"{count} {reason}" for reason, count in row["drops"].items())
        table.add_row(
            str(row["policy"]),
            name + direction,
            "\n".join(row["match"]),
            does,
            str(row["packets"]),
            str(row["bytes"]),
            drops or "-",
        )
    output.print(table)
