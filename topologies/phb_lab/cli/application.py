"""The application that every command belongs to, and what all commands share."""

import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from phb import InputError, PhbError
from phb.cli.output import print_errors
from phb_lab.errors import LabError, UsageError
from phb_lab.interruption import InterruptedRunError
from phb_lab.registry import place

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done; 1 the run could not go on, or a check failed; 2 bad input; 130 interrupted.",
    help="Published QoS test networks, rebuilt: run them, and see our figures beside theirs.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"phb-lab {version('phb')}")
        raise typer.Exit


@app.callback()
def _options(
    show_version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_print_version, help="Print the version.")
    ] = False,
) -> None:
    """Options of ``phb-lab`` itself."""


def make_folder(option: str, folder: Path) -> None:
    """Make a folder for results before the run rather than after it.

    Raises:
        UsageError: it can't be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{option} {folder}: {error.strerror}, expected a folder") from None
    if not os.access(folder, os.W_OK):
        raise UsageError(f"{option} {folder}: not writable")


def check_result_file(option: str, path: Path) -> None:
    """See that a result can be written, before the run rather than after it.

    Raises:
        UsageError: it is a folder, or its folder can't be made or written to.
    """
    if path.is_dir():
        raise UsageError(f"{option} {path}: found a folder, expected a file")
    make_folder(option, path.parent)


def main() -> None:
    """Entry point: turns errors for users into one line and an exit code."""
    try:
        app()
    except (InputError, UsageError) as error:
        print_errors(f"phb-lab: {error}")
        sys.exit(2)
    except InterruptedRunError as error:
        print_errors(f"phb-lab: {error}")
        sys.exit(130)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print_errors(f"phb-lab: {where}{error.strerror or error}")
        sys.exit(2)
    except (PhbError, LabError) as error:
        print_errors(f"phb-lab: {error}")
        sys.exit(1)
    except Exception as error:
        if (told := place(error)) is None:
            raise
        print_errors(f"phb-lab: {told}")
        sys.exit(2)
