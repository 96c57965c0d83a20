"""``phb show entries``: the tables of a switch as they are."""

from __future__ import annotations

from phb.cli.application import epilog
from phb.cli.options import Json, ProgramOptions, SwitchOptions, grouped
from phb.cli.output import console, print_json, print_table, table
from phb.cli.show.application import show_app


@show_app.command("entries", epilog=epilog("phb show entries --address 192.0.2.1:9559"))
@grouped
def show_entries(switch: SwitchOptions, program: ProgramOptions, json: Json = False) -> None:
    """Show every table entry of the switch, by the program's names."""
    import asyncio

    from phb.device.reading import read_entries

    where = switch.one()
    entries = asyncio.run(
        read_entries(
            where.address,
            device_id=where.device_id,
            artifact=program.load(),
            tls=where.certificates,
            timeout_s=where.timeout,
        )
    )
    if json:
        print_json(
            [
                {
                    "table": entry.table,
                    "match": dict(entry.match),
                    "priority": entry.priority,
                    "action": entry.action,
                    "parameters": dict(entry.parameters),
                }
                for entry in entries
            ]
        )
        return
    rows = table("table", "match", "priority", "action")
    for entry in entries:
        match = " ".join(f"{name}={value}" for name, value in entry.match.items()) or "anything"
        parameters = ", ".join(f"{name}={value}" for name, value in entry.parameters.items())
        rows.add_row(entry.table, match, str(entry.priority or ""), f"{entry.action}({parameters})")
    print_table(console(), rows)
