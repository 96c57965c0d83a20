"""What `phb monitor --metrics` starts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from http import HTTPStatus
from time import monotonic
from typing import Final

from prometheus_client.exposition import choose_encoder, gzip_accepted

from phb.errors import InputError
from phb.files import in_words
from phb.monitor.metrics.delays import FINENESS, Bounds
from phb.monitor.metrics.newest import STALE_AFTER_S, Newest
from phb.monitor.metrics.pages import Pages
from phb.monitor.metrics.pushes import Pushes
from phb.monitor.observation import Observation
from phb.origin import Origin
from phb.web.address import parsed
from phb.web.server import Answer, Request, Server

POLICIES: Final = 100
"""Policies, and streams, of each switch with series of their own, unless told otherwise."""

TEXT: Final = "text/plain; version=0.0.4; charset=utf-8"
OPENMETRICS: Final = "application/openmetrics-text; version=1.0.0; charset=utf-8"


class Metrics:
    """Takes observations (`phb.monitor.observation.Taker`) while its page is served.

    Attributes:
        address: ``HOST:PORT`` where it is.
    """

    def __init__(self, newest: Newest, address: str) -> None:
        self._newest = newest
        self.address = address

    def follow(self, switches: Sequence[str]) -> None:
        """Tell of these switches from now on, and of no others."""
        self._newest.follow(switches)

    def take(self, observation: Observation) -> None:
        """Take one."""
        self._newest.take(observation)


@asynccontextmanager
async def serve(
    address: str,
    switches: Sequence[str],
    *,
    policies: int = POLICIES,
    fineness: int = FINENESS[1],
    stale_after_s: float = STALE_AFTER_S,
    pushes: Pushes | None = None,
    option: str = "--metrics",
    clock: Callable[[], float] = monotonic,
) -> AsyncIterator[Metrics]:
    """Serve `/metrics` and `/healthz` for as long as the context lasts.

    Args:
        address: ``HOST:PORT``, with an IPv6 address in brackets; port 0 is any.
        switches: Names of all that are watched: until its first observation comes, one is told as away.
        policies: How many policies, and how many streams, of each switch have series of their own.
        fineness: Bounds of the delay histograms for each power of two: 1, 2, 4 or 8.
        stale_after_s: Seconds without an observation after which a switch counts as away; above its interval.
        pushes: Where pushes are known from.
        option: What errors name.
        clock: Seconds of a clock that nobody sets.

    Raises:
        InputError: There is no such address, or somebody else has its port.
    """
    if fineness not in FINENESS:
        raise InputError(Origin(f"{option}-bounds"), f"{fineness}", "1, 2, 4 or 8")
    host, port = parsed(address, option, "127.0.0.1:9464")
    newest = Newest(switches, policies, stale_after_s, clock)
    pages = Pages(newest, Bounds(fineness))
    began_s = clock()

    async def answer(request: Request) -> Answer:
        if request.path == "/metrics":
            return await _metrics(pages, request)
        if request.path == "/healthz":
            last_s = newest.last_taken_s()
            silent_s = clock() - (began_s if last_s is None else last_s)
            if silent_s <= stale_after_s:
                return Answer.words(HTTPStatus.OK, "ok")
            return Answer.words(HTTPStatus.SERVICE_UNAVAILABLE, f"no observation for {silent_s:.0f} s")
        return Answer.words(HTTPStatus.NOT_FOUND, "there are /metrics and /healthz")

    server = Server(answer)
    try:
        port = await server.start(host, port)
    except OSError as error:
        found = f"'{address}' ({in_words(error)})"
        raise InputError(Origin(option), found, "an address of this machine and a free port") from None
    reading = None if pushes is None else asyncio.create_task(pushes.run(newest.take_pushes))
    try:
        yield Metrics(newest, f"{address.rpartition(':')[0]}:{port}")
    finally:
        if reading is not None:
            reading.cancel()
            await asyncio.wait([reading])
        await server.close()


async def _metrics(pages: Pages, request: Request) -> Answer:
    openmetrics = choose_encoder(request.headers.get("accept", ""))[1].startswith("application/openmetrics-text")
    page = await pages.page(openmetrics)
    content_type = OPENMETRICS if openmetrics else TEXT
    vary = ("Vary", "Accept, Accept-Encoding")
    if gzip_accepted(request.headers.get("accept-encoding", "")):
        zipped = ("Content-Encoding", "gzip")
        return Answer(HTTPStatus.OK, content_type, page.pieces(), len(page.zipped), (zipped, vary))
    return Answer(HTTPStatus.OK, content_type, page.expanded(), page.length, (vary,))
