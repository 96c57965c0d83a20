"""``phb schema``: JSON schemas for editors and other checkers."""

from __future__ import annotations

from typing import Annotated

import typer

from phb.cli.application import app, epilog
from phb.cli.options import Json
from phb.cli.output import print_json


@app.command(epilog=epilog("phb schema > phb-policy.schema.json", "phb schema --inventory > phb-inventory.schema.json"))
def schema(
    inventory: Annotated[bool, typer.Option("--inventory", help="Of inventories instead.")] = False,
    json: Json = False,
) -> None:
    """Print the JSON schema of the YAML format; it is JSON with and without --json."""
    from phb import inventory as inventories
    from phb.formats import yaml_format

    print_json(inventories.schema() if inventory else yaml_format.schema())
