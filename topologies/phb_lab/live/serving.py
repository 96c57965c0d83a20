"""The operations page of a run or of a recording, served beside what is synchronous."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from phb.errors import InputError
from phb.monitor.listening import Asked, serve
from phb.monitor.live import Live
from phb.origin import Origin
from phb.web.address import is_loopback, parsed
from phb_lab import event_loop
from phb_lab.interruption import InterruptedRunError, Interruption

ANYWHERE = "127.0.0.1:0"
"""Any free port of loopback."""
EXAMPLE = "127.0.0.1:8010"

_LOOK_S = 0.1


@contextmanager
def serving(
    listen: str, live: Live, recording: Callable[[], Iterable[bytes]], asked: Asked | None = None
) -> Iterator[str]:
    """Serve the page for as long as the context lasts; give its address, as a browser wants it.

    Args:
        listen: ``HOST:PORT`` of loopback.
        live: Whose figures these are.
        recording: Gives the lines of the whole, with their ends, once `live` has ended.
        asked: Answers what the figures don't tell.

    Raises:
        phb.InputError: there is no such address, others could reach it, or somebody else has its port.
    """
    host, port = parsed(listen, "--listen", EXAMPLE)
    if not is_loopback(host):
        expected = f"an address of loopback, such as 127.0.0.1:{port}"
        raise InputError(Origin("--listen"), f"'{listen}', which others can reach", expected)
    server = serve(listen, live, recording=recording, asked=asked)

    async def enter() -> str:
        return await server.__aenter__()

    async def leave() -> None:
        await server.__aexit__(None, None, None)

    address = event_loop.run_beside(enter())
    try:
        yield address
    finally:
        event_loop.run_beside(leave())


def stay() -> None:
    """Wait for Ctrl-C or SIGTERM."""
    with Interruption() as interruption:
        try:
            while True:
                interruption.check()
                time.sleep(_LOOK_S)
        except InterruptedRunError:
            return
