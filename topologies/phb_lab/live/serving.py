"""The operations page of a run or of a recording, served in a thread of its own beside what is synchronous."""

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any, TypeVar

from phb.monitor.listening import serve
from phb.monitor.live import Live
from phb_lab.interruption import InterruptedRunError, Interruption

ANYWHERE = "127.0.0.1:0"
"""Any free port of loopback."""

_LOOK_S = 0.1

T = TypeVar("T")


@contextmanager
def serving(listen: str, live: Live, recording: Callable[[], Iterable[bytes]]) -> Iterator[str]:
    """Serve the page for as long as the context lasts; give its address, as a browser wants it.

    Args:
        listen: ``HOST:PORT`` of loopback.
        live: Whose figures these are.
        recording: Gives the lines of the whole, with their ends, once `live` has ended.

    Raises:
        phb.InputError: there is no such address, others could reach it, or somebody else has its port.
    """
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="page", daemon=True)
    thread.start()

    def call(work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    async def enter() -> str:
        return await server.__aenter__()

    async def leave() -> None:
        await server.__aexit__(None, None, None)

    server = serve(listen, live, recording=recording)
    try:
        address = call(enter())
        try:
            yield address
        finally:
            call(leave())
            call(loop.shutdown_asyncgens())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def stay() -> None:
    """Wait for Ctrl-C or SIGTERM."""
    with Interruption() as interruption:
        try:
            while True:
                interruption.check()
                time.sleep(_LOOK_S)
        except InterruptedRunError:
            return
