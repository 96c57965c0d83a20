"""Runs the screen beside what feeds it, until somebody quits, a signal comes, or the terminal is gone."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Coroutine, Sequence
from typing import Final

from phb.errors import InputError
from phb.origin import Origin
from phb.top.screen import Top

OK: Final = 0
INTERRUPTED: Final = 128 + signal.SIGINT
LOOK_S: Final = 0.5
"""Seconds between two looks whether the terminal is there."""


def require_terminal() -> None:
    """Refuse to draw where there is no terminal.

    Raises:
        InputError: Standard input, output or error isn't a terminal, or one that knows nothing.
    """
    streams = {"standard input": sys.__stdin__, "standard output": sys.__stdout__, "standard error": sys.__stderr__}
    for name, stream in streams.items():
        if stream is None or not stream.isatty():
            raise InputError(
                Origin("phb top"), f"{name} that isn't a terminal", "one; phb monitor --once prints figures"
            )
    if os.environ.get("TERM", "dumb") == "dumb":
        raise InputError(Origin("TERM"), "a terminal that can't draw", "another; phb monitor --once prints figures")


async def run(app: Top, feeds: Sequence[Coroutine[None, None, None]]) -> int:
    """Run all until the screen ends; give the exit code. A feed that ends by itself ends the screen, too."""
    loop = asyncio.get_running_loop()
    for number, code in ((signal.SIGTERM, OK), (signal.SIGHUP, OK), (signal.SIGINT, INTERRUPTED)):
        loop.add_signal_handler(number, _end, app, code)
    tasks = [asyncio.create_task(each) for each in (*feeds, _look())]
    for task in tasks:
        task.add_done_callback(lambda task: None if task.cancelled() else app.exit(OK))
    try:
        ended = await app.run_async()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    for task in tasks:
        if not task.cancelled():
            task.result()
    return (app.return_code or OK) if ended is None else ended


def _end(app: Top, code: int) -> None:
    _end_without_terminal()
    app.exit(code)


async def _look() -> None:
    # A terminal may go without a signal to this process, which would wait for it for ever.
    while True:
        await asyncio.sleep(LOOK_S)
        _end_without_terminal()


def _end_without_terminal() -> None:
    """End at once if the terminal is gone: nothing can be drawn or put back, and nothing is to be kept."""
    assert sys.__stdin__ is not None
    if not os.isatty(sys.__stdin__.fileno()):
        os._exit(OK)
