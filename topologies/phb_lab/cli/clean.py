"""``phb-lab clean``."""

from rich.console import Console

from phb_lab.cli.application import app
from phb_lab.emulation import leftovers


@app.command()
def clean() -> None:
    """Remove what runs in Mininet left that were killed: processes, and with them interfaces, and folders.

    Runs that are still going are left alone, and so is everything that isn't the lab's. Each run does this first, too.

    Examples:
      phb-lab clean
    """
    console = Console(markup=False, highlight=False)
    found = leftovers.clean()
    for each in found:
        console.print(f"removed: {each}", soft_wrap=True)
    if not found:
        console.print("nothing is left of any run")
