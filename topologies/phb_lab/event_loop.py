"""Runs coroutines from synchronous code."""

import asyncio
import atexit
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")

_MAKING = threading.Lock()


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end.

    Not with ``asyncio.run``, which makes and closes an event loop each time: gRPC hands late events of a closed loop to
    the next one, which then fails or complains. The main thread keeps one loop; all other threads share another.
    """
    if threading.current_thread() is threading.main_thread():
        return _main_runner().run(coroutine)
    return run_beside(coroutine)


def run_beside(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in the loop of all other threads, which goes on while the main one does other work."""
    with _MAKING:  # a cache alone lets threads that come at once make one loop each
        loop = _shared_loop()
    return asyncio.run_coroutine_threadsafe(coroutine, loop).result()


@cache
def _main_runner() -> asyncio.Runner:
    # With a factory, the runner doesn't make its loop the thread's current one: that belongs to our caller.
    runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
    atexit.register(runner.close)
    return runner


@cache
def _shared_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="event-loop", daemon=True).start()
    return loop
