"""``phb conform``: the RFC checklist on a switch. An entry point of the group ``phb.commands``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phb.cli.application import OK, REFUSED, app, epilog
from phb.cli.output import console, progress
from phb.errors import InputError, PhbError
from phb.origin import Origin

if TYPE_CHECKING:
    from collections.abc import Sequence

    from phb_conform.check import Check
    from phb_conform.report import Report
    from phb_conform.switches import Wanted

_ATTACHED = "A switch that runs already"


@app.command(
    epilog=epilog(
        'phb conform --only "RFC 2698"',
        "phb conform --target bmv2 --markdown report.md",
        "phb conform --target bmv2 --address 127.0.0.1:9559 -i 1@veth1 -i 2@veth3 -i 3@veth5 -i 4@veth7",
    )
)
def conform(
    target: Annotated[
        str, typer.Option(metavar="NAME", help="Kind of switch, as in docs/evidence/targets.md.")
    ] = "phb-switch",
    ports: Annotated[
        str,
        typer.Option(
            metavar="memory|veth",
            help="Frames in memory, or virtual Ethernet in a network namespace that goes with the command (root).",
        ),
    ] = "memory",
    address: Annotated[
        str | None,
        typer.Option(metavar="HOST:PORT", rich_help_panel=_ATTACHED, help="Its P4Runtime server; device id 1."),
    ] = None,
    interface: Annotated[
        list[str] | None,
        typer.Option(
            "--interface",
            "-i",
            metavar="PORT@NAME",
            rich_help_panel=_ATTACHED,
            help="Our interface at the other end of its port; four times, for ports 1 to 4.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="WHAT", help="A document such as 'RFC 2698', or a check's name; may be repeated."),
    ] = None,
    list_checks: Annotated[bool, typer.Option("--list", help="Run nothing; list the checks.")] = False,
    json: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the report as JSON; - prints it.")] = None,
    markdown: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the report as Markdown; - prints it.")
    ] = None,
) -> None:
    """Run what the DiffServ RFCs ask of a node as tests on a switch: pass, fail, or not applicable and why.

    The switch is started for it and gets the program anew for every check; one that runs already loses its entries.
    Exit code 1 means that something failed.
    """
    from phb_conform import switches

    wanted = switches.wanted(target, ports, address, interface or [])
    for option, path in (("--json", json), ("--markdown", markdown)):
        if path is not None and path != Path("-") and not path.parent.is_dir():
            raise InputError(Origin(option), f"'{path}'", "a file in a folder that exists")
    if json == markdown == Path("-"):
        raise InputError(Origin("--json"), "'-' of --markdown too", "standard output for one of them")
    if not list_checks:
        # Before any thread starts.
        wanted.prepare()
    from phb_conform import table
    from phb_conform.checklist import select

    checks = select(only or [])
    output = console()
    if list_checks:
        table.show(output, table.listing(checks))
        return
    found = _run(wanted, checks)
    if json is not None:
        _write(json, found.to_json())
    if markdown is not None:
        from phb_conform.markdown import page

        _write(markdown, page([found]))
    if Path("-") not in (json, markdown):
        table.show(output, table.tables(found))
    raise typer.Exit(OK if found.conforms else REFUSED)


def _run(wanted: Wanted, checks: Sequence[Check]) -> Report:
    from phb_conform.report import report
    from phb_conform.running import run
    from phb_device import ControlError

    try:
        with wanted.open() as device, progress(f"checks on {device.title}", len(checks)) as advance:
            results = []
            for result in run(device, checks):
                results.append(result)
                advance()
            return report(device, results)
    except ControlError as error:
        raise PhbError(str(error)) from None


def _write(path: Path, text: str) -> None:
    if path == Path("-"):
        sys.stdout.write(text)
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PhbError(f"{path}: {error.strerror}") from None
