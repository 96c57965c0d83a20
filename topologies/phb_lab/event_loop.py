"""Coroutines from code that isn't one."""

import asyncio
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end.

    A thread beside the main one, such as a worker of a cluster, doesn't get an event loop of its own each time: gRPC
    hands late events of a closed loop to whichever loop comes next, whose calls then fail. All such threads share one.
    """
    if threading.current_thread() is threading.main_thread():
        return asyncio.run(coroutine)
    return asyncio.run_coroutine_threadsafe(coroutine, _shared_loop()).result()


@cache
def _shared_loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="event-loop", daemon=True).start()
    return loop
