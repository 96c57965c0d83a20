"""``phb schema``: JSON schemas for editors and other checkers."""

from __future__ import annotations

from phb.cli.application import app, epilog
from phb.cli.output import print_json


@app.command(epilog=epilog("phb schema > phb-policy.schema.json"))
def schema() -> None:
    """Print the JSON schema of the YAML format."""
    from phb.formats import yaml_format

    print_json(yaml_format.schema())
