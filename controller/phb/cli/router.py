"""``phb router``: answer ARP, neighbour discovery and ICMP for switches with a router's ports."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated

import typer

from phb.cli.application import app, epilog
from phb.cli.interrupting import run_until_signal
from phb.cli.options import Json, ProgramOptions, ReadingOptions, SwitchOptions, grouped
from phb.cli.output import print_json, print_line


@app.command(
    epilog=epilog(
        "phb router --address 192.0.2.1:9559",
        "phb router --inventory network.yaml --switch edge --json",
        "phb router --address 192.0.2.1:9559 --role ''",
    )
)
@grouped
def router(
    switches: SwitchOptions,
    program: ProgramOptions,
    role: Annotated[
        str, typer.Option(metavar="NAME", help="P4Runtime role; '' is the default role.", show_default=True)
    ] = "router",
    election_id: Annotated[
        int, typer.Option("--election-id", min=1, metavar="NUMBER", help="The highest of the role answers.")
    ] = 1,
    json: Json = False,
) -> int:
    """Answer ARP, neighbour discovery and ICMP for switches, as the ports and routes that were pushed say.

    Ends with exit code 0 on SIGTERM, 130 on Ctrl-C; switches keep what they hold.
    """
    import asyncio

    from phb.router.running import Place, serve

    artifact = program.load()
    places = [
        Place(each.address, each.device_id, role, election_id, each.certificates, each.timeout)
        for each in switches.many((), ReadingOptions(), ())
    ]

    async def serve_all() -> None:
        async with asyncio.TaskGroup() as group:
            for place in places:
                group.create_task(serve(place, artifact, _teller(place.address, json)))

    return run_until_signal(serve_all())


def _teller(address: str, json: bool) -> Callable[[str, str], None]:
    """Give a printer of one switch's events."""

    def tell(event: str, message: str) -> None:
        now = datetime.now().astimezone().isoformat(timespec="milliseconds")
        if json:
            print_json({"time": now, "switch": address, "event": event, "message": message}, indent=None)
        else:
            print_line(f"{now} {address}: {event}: {message}")

    return tell
