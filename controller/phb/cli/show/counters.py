"""``phb show counters``: counters by name and index."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import epilog
from phb.cli.options import Json, ProgramOptions, SwitchOptions, grouped
from phb.cli.output import console, print_json, print_table, table
from phb.cli.show.application import show_app

if TYPE_CHECKING:
    from phb.device.session import CounterValue

    Counters = Mapping[str, Mapping[int, CounterValue]]


@show_app.command("counters", epilog=epilog("phb show counters policy_traffic policy_drops"))
@grouped
def show_counters(
    switch: SwitchOptions,
    program: ProgramOptions,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="COUNTER", help="Counters by name.  (default: all)")
    ] = None,
    json: Json = False,
) -> None:
    """Show the switch's counters; cells that are zero are left out."""
    import asyncio

    from phb.device.reading import read_counters

    where = switch.one()
    counters = asyncio.run(
        read_counters(
            where.address,
            names or None,
            device_id=where.device_id,
            artifact=program.load(),
            tls=where.certificates,
            timeout_s=where.timeout,
        )
    )
    if json:
        print_json(_as_json(counters))
        return
    rows = table("counter", "index", "meaning", "packets", "bytes")
    for name, cells in counters.items():
        for index, cell in cells.items():
            rows.add_row(name, str(index), meaning(name, index), str(cell.packets), str(cell.bytes))
    print_table(console(), rows)


def _as_json(counters: Counters) -> dict[str, Any]:
    return {
        name: [
            {"index": index, "meaning": meaning(name, index), "packets": cell.packets, "bytes": cell.bytes}
            for index, cell in cells.items()
        ]
        for name, cells in counters.items()
    }


def meaning(name: str, index: int) -> str:
    """Say what a counter's index stands for, where that is known."""
    from phb.delays import below_us
    from phb.pipeline_names import (
        BUCKETS_PER_CLASS,
        COLOURS,
        COLOURS_PER_POLICY,
        REASONS_PER_CLASS,
        REASONS_PER_POLICY,
        DropReason,
    )
    from phb.show.policies import reason_words
    from phb.show.queues import CONVERSATION_SLOTS

    match name:
        case "policy_traffic":
            return f"policy {index // COLOURS_PER_POLICY}, {COLOURS.get(index % COLOURS_PER_POLICY, '?')}"
        case "policy_drops":
            return f"policy {index // REASONS_PER_POLICY}, {reason_words(index % REASONS_PER_POLICY)}"
        case "class_drops":
            return f"class {index // REASONS_PER_CLASS}, {reason_words(index % REASONS_PER_CLASS)}"
        case "class_marked":
            return f"class {index}"
        case "drops":
            return DropReason(index).name.lower().replace("_", " ") if index in DropReason.__members__.values() else ""
        case "class_delay":
            return f"class {index // BUCKETS_PER_CLASS}, below {below_us(index % BUCKETS_PER_CLASS)} us"
        case "port_transmit":
            return f"port {index}"
        case _ if name.startswith("applicability_"):
            return applicability_meaning(name, index)
        case "stream_traffic":
            return f"stream {index // COLOURS_PER_POLICY}, {COLOURS.get(index % COLOURS_PER_POLICY, '?')}"
        case "shared_conversation":
            return f"port {index}"
        case _ if name.startswith("conversation_"):
            # Behind the slots that policies hand out, each port has one of its own.
            return f"slot {index}" if index < CONVERSATION_SLOTS else f"port {index - CONVERSATION_SLOTS}"
    return ""


def applicability_meaning(name: str, index: int) -> str:
    """Say the same for the counters of stage applicability."""
    from phb.pipeline_names import LARGEST_SENDS, Before, Connectivity

    def kind(number: int) -> str:
        return Connectivity(number).name.lower() if number in Connectivity.__members__.values() else "?"

    suited = ", well suited" if index & 1 else ""
    match name:
        case "applicability_segments":
            return f"{'inbound' if index >> 3 else 'outbound'}, {kind(index >> 1 & 3)}{suited}"
        case "applicability_connections":
            return f"{kind(index >> 1)}{suited or ', established'}"
        case "applicability_sends":
            bucket = index & 7
            words = f"up to {LARGEST_SENDS[bucket]} bytes" if bucket < len(LARGEST_SENDS) else "larger"
            return f"{kind(index >> 3)}, {words}"
    return f"{kind(index >> 8)}, {index & 63} {Before(index >> 6 & 3).name.lower().replace('_', ' ')} before"
