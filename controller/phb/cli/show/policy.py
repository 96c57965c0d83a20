"""``phb show policy``: what a switch's policies match, do, and have seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

from phb.cli.application import epilog
from phb.cli.options import Json, ProgramOptions, ReadingOptions, SwitchOptions, grouped
from phb.cli.output import console, print_json, print_table, table
from phb.cli.show.application import show_app
from phb.cli.show.counters import meaning

if TYPE_CHECKING:
    from phb.cli.show.counters import Counters
    from phb.describe import Described
    from phb.intent import Policy


@show_app.command("policy", epilog=epilog("phb show policy mvs074.yaml mvs074-osa2.yaml policy.conf"))
@grouped
def show_policy(
    switch: SwitchOptions,
    reading: ReadingOptions,
    program: ProgramOptions,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="The files that were pushed: gives policies their rules' names."),
    ] = None,
    json: Json = False,
) -> None:
    """Show the policies of the switch: what they match, what they do, what they have seen."""
    from phb.pushing import load_intent, read_counters_sync, read_entries_sync

    artifact = program.load()
    where = switch.one()
    intent = load_intent(files, artifact, at=reading.moment(), format_name=reading.format_name) if files else None
    entries = read_entries_sync(where.address, device_id=where.device_id, artifact=artifact, tls=where.certificates)
    counters = read_counters_sync(
        where.address,
        ["policy_traffic", "policy_drops"],
        device_id=where.device_id,
        artifact=artifact,
        tls=where.certificates,
    )
    rows = policy_rows(entries, counters, intent.policies if intent else ())
    if json:
        print_json(rows)
        return
    _print(rows)


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
    from phb.pipeline_names import COLOURS_PER_POLICY, REASONS_PER_POLICY

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
        reason = meaning("policy_drops", index).partition(", ")[2]
        row(index // REASONS_PER_POLICY)["drops"][reason] = cell.packets
    return [rows[number] for number in sorted(rows)]


def _print(rows: Sequence[PolicyRow]) -> None:
    shown = table("policy", "rule", "match", "does", "packets", "bytes", "dropped")
    for row in rows:
        name = row["rule"] or ("(no rule)" if row["policy"] == 0 else "")
        direction = f" ({row['direction']})" if row["direction"] else ""
        does = "block" if row["permission"] == "blocked" else row["mark"] or "-"
        drops = ", ".join(f"{count} {reason}" for reason, count in row["drops"].items())
        shown.add_row(
            str(row["policy"]),
            name + direction,
            "\n".join(row["match"]),
            does,
            str(row["packets"]),
            str(row["bytes"]),
            drops or "-",
        )
    print_table(console(), shown)
