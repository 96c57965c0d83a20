"""Parts of all looks at a live switch: which names to use, and looking again every few seconds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from phb.cli.options import Json, ProgramOptions, ReadingOptions, StateFile, SwitchOptions, check_target, known_state
from phb.cli.output import console, print_json, print_table

if TYPE_CHECKING:
    from rich.console import RenderableType

    from phb.deploying import Prepared
    from phb.device.artifact import Artifact
    from phb.inventory import Switch
    from phb.show.reading import Reading
    from phb.state import State

T = TypeVar("T")


@dataclass(frozen=True)
class Look:
    """Where to look, and how to name what is there."""

    switch: SwitchOptions
    reading: ReadingOptions
    program: ProgramOptions
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE",
            help="The files that were pushed: they give numbers their names.  (default: those of the last push)",
        ),
    ] = None


@dataclass(frozen=True)
class Manner:
    """How to show it; the state says what was pushed last."""

    state: StateFile = None
    watch: Annotated[
        float | None,
        typer.Option("--watch", "-w", min=0.1, metavar="SECONDS", help="Look again and again, until Ctrl-C."),
    ] = None
    json: Json = False


def show(
    look: Look,
    manner: Manner,
    read: Callable[[Reading], Awaitable[T]],
    as_json: Callable[[T], Any],
    render: Callable[[T], RenderableType],
) -> None:
    """Read something from one switch and print it, once or, with `watch`, again after so many seconds.

    `as_json` makes of it what programs read, with `watch` one line each time; `render` draws it for people.
    """
    import asyncio

    from phb.show.looking import look as look_at

    place = place_and_policy(look, manner.state)

    async def once() -> T:
        return await look_at(place.where, place.artifact, place.prepared, read)

    if manner.watch is None:
        value = asyncio.run(once())
        if manner.json:
            print_json(as_json(value))
        else:
            print_table(console(), render(value))
        return
    asyncio.run(_again(once, as_json, render, manner.watch, json=manner.json))


@dataclass(frozen=True)
class Place:
    """One switch, the program it should run, and the policies it was given, as far as they are known."""

    where: Switch
    artifact: Artifact
    prepared: Prepared | None


def place_and_policy(look: Look, state: str | None) -> Place:
    """Find where to look."""
    artifact = look.program.load()
    (where,) = _one(look)
    return Place(where, artifact, _prepared(look, where, artifact, state))


def _one(look: Look) -> list[Switch]:
    if look.files:
        return look.switch.many(look.files, look.reading)
    return [look.switch.one()]


def _prepared(look: Look, where: Switch, artifact: Artifact, state: str | None) -> Prepared | None:
    """Give the policies that the user names, or those of the last good push."""
    from phb.deploying import prepare

    if where.policies:
        return prepare(where, artifact, at=look.reading.moment())
    return last_pushed(where, artifact, look.reading, state)


def last_pushed(where: Switch, artifact: Artifact, reading: ReadingOptions, state_file: str | None) -> Prepared | None:
    """Give the policies of the last good push that the state knows; None where it knows none."""
    with known_state(state_file) as state:
        return None if state is None else last_pushed_by(state, where, artifact, reading)


def last_pushed_by(state: State, where: Switch, artifact: Artifact, reading: ReadingOptions) -> Prepared | None:
    """Give the policies of the last good push that an open state knows; None where it knows none."""
    from phb.deploying import prepare
    from phb.sources import Document
    from phb.state import History

    history = History(state)
    push = history.last_good(where.address, where.device_id)
    if push is None:
        return None
    documents = [Document(file.path, file.content, file.format_name) for file in history.files(push.number)]
    dialect = ReadingOptions(dialect=push.dialect).options().dialect
    target = check_target(push.target) or where.target
    restored = where.model_copy(update={"format": push.format_name, "dialect": dialect, "target": target})
    return prepare(restored, artifact, at=reading.moment(), documents=documents)


async def _again(
    once: Callable[[], Awaitable[T]],
    as_json: Callable[[T], Any],
    render: Callable[[T], RenderableType],
    seconds: float,
    *,
    json: bool,
) -> None:
    import asyncio

    if json:
        while True:
            print_json(as_json(await once()), indent=None)
            await asyncio.sleep(seconds)
    from rich.live import Live

    output = console()
    if not output.is_terminal:
        while True:
            print_table(output, render(await once()))
            await asyncio.sleep(seconds)
    with Live(render(await once()), console=output, screen=True, auto_refresh=False) as live:
        while True:
            await asyncio.sleep(seconds)
            live.update(render(await once()), refresh=True)
