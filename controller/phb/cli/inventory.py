"""``phb inventory``: what an inventory and its sources come to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phb.cli.application import app, epilog
from phb.cli.options import Json
from phb.cli.output import console, print_json, print_line, print_table, table

if TYPE_CHECKING:
    from phb.inventory import Inventory, Switch

Place = Annotated[
    Path,
    typer.Option("--inventory", metavar="FILE", envvar="PHB_INVENTORY", help="The file, or a folder of such files."),
]
Some = Annotated[
    list[str] | None,
    typer.Option("--switch", metavar="NAME", help="Only this switch or group; repeatable.  (default: all)"),
]


@app.command(
    epilog=epilog(
        "phb inventory --inventory network.yaml",
        "phb inventory --inventory network.yaml --switch branches --json",
        "phb inventory --inventory inventory.d --check",
    )
)
def inventory(
    inventory: Place,
    switch: Some = None,
    check: Annotated[
        bool, typer.Option("--check", help="Read the switches' policy files and certificates, too; print only counts.")
    ] = False,
    json: Json = False,
) -> None:
    """Show which switches an inventory comes to, in which groups, and which source gave each; asks no switch."""
    from phb.inventory import read_whole, select

    whole = read_whole(inventory)
    chosen = select(whole.switches, switch or (), inventory)
    if check:
        _check(chosen)
    if json:
        print_json(_as_json(whole, chosen))
        return
    if not check:
        rows = table("switch", "address", "groups", "from")
        for each in chosen:
            rows.add_row(each.name, each.address, ", ".join(each.groups), str(each.origin()))
        print_table(console(), rows)
    groups = len({group for each in chosen for group in each.groups})
    print_line(f"{inventory}: {len(chosen)} switches, {groups} groups, {len(whole.links)} links")


def _check(switches: tuple[Switch, ...]) -> None:
    """Read what the switches name; those with the same files share them.

    Raises:
        InputError: All that is wrong.
    """
    from functools import partial

    from phb.deploying import same_policy
    from phb.errors import each_of
    from phb.formats.format import ReadOptions
    from phb.sources import read_sources

    policies = {same_policy(each): each for each in switches}
    each_of(partial(read_sources, each.policies, each.format, ReadOptions(each.dialect)) for each in policies.values())
    each_of(tls.credentials for each in switches if (tls := each.certificates) is not None)


def _as_json(whole: Inventory, switches: tuple[Switch, ...]) -> dict[str, Any]:
    return {
        "switches": [
            {
                "name": each.name,
                "address": each.address,
                "device_id": each.device_id,
                "target": each.target.value,
                "groups": list(each.groups),
                "policies": list(each.policies),
                "from": str(each.origin()),
            }
            for each in switches
        ],
        "links": [[str(link.a), str(link.b)] for link in whole.links],
    }
