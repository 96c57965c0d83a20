"""The group ``phb show``, which every module beside this one registers its command with."""

from __future__ import annotations

import typer

from phb.cli.application import EXIT_CODES, HELP_NAMES, app

show_app = typer.Typer(
    no_args_is_help=True, help="Look at a live switch.", epilog=EXIT_CODES, context_settings=HELP_NAMES
)
app.add_typer(show_app, name="show")
