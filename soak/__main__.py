"""The command `python -m soak`."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from phb_device.control import ControlError
from phb_switch import ExecutorName
from soak import run as running

_EXAMPLES = "\n\n".join(
    (
        "Examples:",
        "python -m soak --seconds 240 --seed 7",
        "python -m soak --executor interpreter",
        "python -m soak --seconds 3600 --report out/soak.json --picture out/soak.png",
        "Exit codes: 0 everything held; 1 something did not; 2 it can't run here (it needs root); 130 Ctrl-C.",
    )
)


def _end(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def main(
    seconds: Annotated[float, typer.Option(min=1, help="When no further fault begins; a last one comes then.")] = 3600,
    seed: Annotated[int, typer.Option(min=0, help="Decides faults, policies and traffic.")] = 1,
    once: Annotated[bool, typer.Option("--once", help="End when every fault has been.")] = False,
    executor: Annotated[
        ExecutorName | None, typer.Option(help="What runs the switch's programs; native code unless it is said.")
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write the report as JSON to this file.")] = None,
    picture: Annotated[Path | None, typer.Option(help="Draw memory and losses over time into this PNG.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Hold a real switch under overload, faults and misuse, and see after each that everything is as it was."""
    reason = running.missing()
    if reason:
        print(f"soak: {reason}", file=sys.stderr)
        raise typer.Exit(2)
    signal.signal(signal.SIGTERM, _end)
    try:
        found = running.run(seconds, seed, lambda line: print(line, file=sys.stderr, flush=True), executor, once)
    except ControlError as error:
        print(f"soak: {error}", file=sys.stderr)
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
    if report:
        found.write(report)
    if picture:
        found.draw(picture)
    if json:
        print(found.as_json())
    else:
        # Wide enough for its words, also in a file.
        found.show(Console(width=None if sys.stdout.isatty() else 140))
    raise typer.Exit(1 if found.failures else 0)


if __name__ == "__main__":
    app = typer.Typer(pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]})
    app.command(epilog=_EXAMPLES)(main)
    app()
