"""Commands of other packages: entry points of the group ``phb.commands``.

An entry point's name is the command's; its value is a module that registers it with `phb.cli.application.app` when it
is imported, as the modules beside this one do. It is imported for every ``phb``, so it imports what does the work when
the command is called, not before.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

import typer

from phb.cli.application import app
from phb.errors import PhbError

GROUP = "phb.commands"


def load() -> tuple[str, ...]:
    """Register the commands of other packages; give their names, sorted: the order of the help.

    One that can't be imported becomes a command that says so: the others still work.
    """
    found = {point.name: point for point in entry_points(group=GROUP)}
    for _, point in sorted(found.items()):
        try:
            point.load()
        # Whatever a foreign module raises.
        except Exception as error:
            _say_what_is_broken(point, error)
    return tuple(sorted(found))


def _say_what_is_broken(point: EntryPoint, error: Exception) -> None:
    package = f" of {point.dist.name} {point.dist.version}" if point.dist else ""
    words = str(error).partition("\n")[0]
    message = f"command '{point.name}'{package} is broken: {point.value}: {type(error).__name__}: {words}"

    @app.command(
        point.name,
        help=f"Can't be loaded: {type(error).__name__}.",
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
    def broken(context: typer.Context) -> None:
        raise PhbError(message)
