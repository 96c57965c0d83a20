"""The typer application that every command's module registers with, and the exit codes that all of them share."""

from __future__ import annotations

from typing import Annotated, Final

import typer

OK: Final = 0
REFUSED: Final = 1
BAD_INPUT: Final = 2
INTERRUPTED: Final = 130
"""As a shell gives for a process that SIGINT (2) ended: 128 + 2."""
NO_MEMORY: Final = "there is not enough memory"

EXIT_CODES = (
    "Exit codes: 0 done; 1 a switch refused, can't be reached or is being changed by somebody else; "
    "2 bad input; 130 interrupted."
)

HELP_NAMES = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="phb",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Bring switches to what policy files say, show what they do, and go back.",
    epilog=EXIT_CODES,
    context_settings=HELP_NAMES,
)


def epilog(*examples: str, codes: str = EXIT_CODES) -> str:
    """Give the text below a command's options: examples and exit codes."""
    return "\n\n".join(("Examples:", *examples, codes))


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"phb {version('phb')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """Options of ``phb`` itself."""
