"""``phb schema``: JSON schemas for editors and other checkers."""

from __future__ import annotations

from typing import Annotated

import typer

from phb.cli.application import app, epilog
from phb.cli.options import Json
from phb.cli.output import print_json
from phb.errors import InputError
from phb.origin import Origin


@app.command(epilog=epilog("phb schema > phb-policy.schema.json", "phb schema --inventory > phb-inventory.schema.json"))
def schema(
    inventory: Annotated[bool, typer.Option("--inventory", help="Of inventories instead.")] = False,
    expectations: Annotated[bool, typer.Option("--expectations", help="Of files of expectations instead.")] = False,
    json: Json = False,
) -> None:
    """Print the JSON schema of the YAML format; it is JSON with and without --json."""
    from phb import inventory as inventories
    from phb.formats import yaml_format

    if inventory and expectations:
        raise InputError(Origin("--expectations"), "--inventory too", "one of them")
    if expectations:
        from phb.searching import expectations as expected

        print_json(expected.schema())
        return
    print_json(inventories.schema() if inventory else yaml_format.schema())
