"""``phb-lab new``."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from phb_lab.cli.application import app, make_folder
from phb_lab.errors import UsageError

_TEMPLATE = Path(__file__).resolve().parents[1] / "template"


@app.command()
def new(
    name: Annotated[str, typer.Argument(help="what the network is called")],
    out: Annotated[Path, typer.Option(help="the folder in which its own folder is made")] = Path(),
) -> None:
    """Write a small network of your own to begin with: a folder that runs as it is.

    Examples:
      phb-lab new office

      phb-lab new office --out networks
    """
    folder = out / name
    if not name.isidentifier():
        raise UsageError(f"{name}: expected a name of letters, digits and _, which begins with no digit")
    if folder.exists():
        raise UsageError(f"{folder}: found one already, expected a new name")
    make_folder("--out", folder)
    console = Console(markup=False, highlight=False, soft_wrap=True)
    for file in sorted(_TEMPLATE.iterdir()):
        if file.is_file():
            (folder / file.name).write_text(file.read_text())
            console.print(f"written: {folder / file.name}")
    where = folder if folder.is_absolute() else f"./{folder}"
    console.print(f"run it: phb-lab run {where}")
