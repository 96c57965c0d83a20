"""``phb-lab list``."""

import json as json_module
from typing import Annotated

import typer
from rich.console import Console

from phb_lab import registry
from phb_lab.cli.application import app


@app.command("list")
def list_networks(
    network: Annotated[
        list[str] | None, typer.Argument(help="names, or paths of networks of your own  (default: all that are known)")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="print JSON")] = False,
) -> None:
    """List the networks, their tests, and what can be set.

    Examples:
      phb-lab list

      phb-lab list ./office

      phb-lab list --json
    """
    studies = [registry.find(name) for name in network] if network else registry.every()
    if json:
        found = [
            {
                "network": study.name,
                "title": study.title,
                "source": study.source,
                "tests": [
                    {"name": test.name, "title": test.title, "duration_s": test.duration_s} for test in study.tests
                ],
                "options": [vars(option) for option in study.options],
            }
            for study in studies
        ]
        print(json_module.dumps(found, indent=2))
        return
    console = Console(markup=False, highlight=False, soft_wrap=True)
    for study in studies:
        console.print(f"{study.name}: {study.title}")
        width = max(len(test.name) for test in study.tests)
        for test in study.tests:
            console.print(f"  {test.name:{width}}  {test.title}, {test.duration_s} s")
        for option in study.options:
            console.print(f"  --set {option.name}={option.default}  {option.help}")
