"""Paths of the operations page, and what is answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, Protocol
from urllib.parse import unquote

from phb.errors import PhbError
from phb.monitor.live.live import PAST_S, Live
from phb.monitor.live.subscription import Told
from phb.visible import visible
from phb.web.guard import HEADERS, NOT_STORED, Guard, is_own
from phb.web.server import Answer, Request, Stream

HEARTBEAT_S: Final = 5.0
"""Seconds after which a stream without news has a tick without switches."""

MOST_POINTS: Final = 900
"""Details of one series."""

RECORDING_S: Final = 300.0
"""So long a client may take to read a recording."""

_DAY_S: Final = 86_400.0
_JSON: Final = "application/json"


class NotKnownError(PhbError):
    """What was asked for isn't there; the message says why."""


class Asked(Protocol):
    """What the figures alone don't tell. Each raises a `PhbError` whose message says why there is no answer."""

    async def policy(self, switch: str) -> Any:
        """Give the policy's files, and the lines of its rules."""

    async def queues(self, switch: str) -> Any:
        """Give what its queues hold now."""

    async def explain(self, switch: str, packet: str) -> Any:
        """Give what the switch does with a packet."""

    async def rollback(self, switch: str, push: int | None) -> Any:
        """Give the switch its policy of before again, unless another push than this one was the last."""

    async def push(self, switch: str) -> Any:
        """Give the switch the policy of its files."""


Assets = Mapping[str, tuple[str, bytes]]
Recording = Callable[[], Iterable[bytes]]


class Routes:
    """Answers requests.

    Args:
        asked: Answers what the figures don't tell; None where nobody does.
        assets: Content types and bytes by path; the page itself is at ``/``.
        healthy: Gives why the process isn't well, or an empty text.
        recording: Gives a recording as lines with their ends.
    """

    def __init__(
        self,
        live: Live,
        guard: Guard,
        assets: Assets,
        asked: Asked | None = None,
        healthy: Callable[[], str] = lambda: "",
        recording: Recording | None = None,
    ) -> None:
        self._live = live
        self._guard = guard
        self._assets = assets
        self._asked = asked
        self._healthy = healthy
        self._recording = recording

    async def __call__(self, request: Request) -> Answer | Stream:
        """Answer one."""
        if request.path == "/healthz":
            # Who watches processes has no token, and learns nothing else.
            problem = self._healthy()
            status = HTTPStatus.SERVICE_UNAVAILABLE if problem else HTTPStatus.OK
            return Answer.words(status, problem or "ok", *HEADERS, NOT_STORED)
        refusal = await self._guard.refusal(request)
        answer = refusal or await self._answer(request)
        headers = (*answer.headers, *HEADERS)
        if isinstance(answer, Stream):
            return Stream(answer.content_type, answer.pieces, headers)
        return Answer(answer.status, answer.content_type, answer.body, answer.length, headers, answer.patience_s)

    async def _answer(self, request: Request) -> Answer | Stream:
        path = request.path
        if request.method == "POST":
            return await self._change(request)
        if (asset := self._assets.get(path)) is not None:
            return Answer.of(HTTPStatus.OK, *asset, ("Cache-Control", "no-cache"))
        try:
            if path == "/events":
                return self._events(request.query.get("switch"))
            if path == "/recording" and self._recording is not None:
                body = b"".join(self._recording())
                pieces = (body[start : start + (1 << 16)] for start in range(0, len(body), 1 << 16))
                kind = "application/x-ndjson"
                return Answer(HTTPStatus.OK, kind, pieces, len(body), (NOT_STORED,), RECORDING_S)
            if path == "/api/explain":
                asked = self._needed()
                switch, packet = self._known(request.query.get("switch", "")), request.query.get("packet", "")
                return _as_json(await asked.explain(switch, packet))
            if path.startswith("/api/switches/"):
                name, _, what = path.removeprefix("/api/switches/").rpartition("/")
                return await self._of_switch(unquote(name), what, request.query)
        except NotKnownError as error:
            return _as_json({"error": str(error)}, HTTPStatus.NOT_FOUND)
        except PhbError as error:
            return _as_json({"error": str(error)}, HTTPStatus.UNPROCESSABLE_ENTITY)
        return Answer.words(HTTPStatus.NOT_FOUND, "there is nothing here")

    async def _of_switch(self, switch: str, what: str, query: Mapping[str, str]) -> Answer:
        self._known(switch)
        if what == "series":
            seconds = _number(query, "seconds", PAST_S, PAST_S)
            most = int(_number(query, "most", MOST_POINTS, MOST_POINTS))
            lines = await asyncio.to_thread(self._live.lines, switch, seconds, most)
            return _in_pieces([b"[", *_separated(lines), b"]"])
        if what == "policy":
            return _as_json(await self._needed().policy(switch))
        if what == "queues":
            return _as_json(await self._needed().queues(switch))
        if what == "objectives":
            return _as_json(self._live.objectives(switch, _number(query, "seconds", PAST_S, _DAY_S)))
        raise NotKnownError(f"no '{visible(what)}' of a switch: there are series, policy, queues and objectives")

    async def _change(self, request: Request) -> Answer:
        """Do what a page asks for, where it may ask."""
        name, _, what = request.path.removeprefix("/api/switches/").rpartition("/")
        if not self._live.hello["writable"]:
            return _as_json({"error": "this page changes nothing (see --listen-writable)"}, HTTPStatus.FORBIDDEN)
        if not is_own(request):
            return _as_json({"error": "a change is asked for by this page alone"}, HTTPStatus.FORBIDDEN)
        try:
            switch, asked = self._known(unquote(name)), self._needed()
            if what == "rollback":
                return _as_json(await asked.rollback(switch, _push(request.body)))
            if what == "push":
                return _as_json(await asked.push(switch))
            raise NotKnownError("a switch may be asked for rollback and push")
        except NotKnownError as error:
            return _as_json({"error": str(error)}, HTTPStatus.NOT_FOUND)
        except PhbError as error:
            return _as_json({"error": str(error)}, HTTPStatus.CONFLICT)

    def _known(self, switch: str) -> str:
        if switch not in self._live.switches:
            raise NotKnownError(f"no switch '{visible(switch[:100])}' is watched")
        return switch

    def _needed(self) -> Asked:
        if self._asked is None:
            raise NotKnownError("nobody here can tell")
        return self._asked

    def _events(self, switch: str | None) -> Stream:
        pieces = events(self._live, None if switch is None else self._known(switch))
        return Stream("text/event-stream", pieces, (NOT_STORED, ("X-Accel-Buffering", "no")))


async def events(live: Live, switch: str | None = None) -> AsyncGenerator[bytes, None]:
    """Give what is told as server-sent events, with heartbeats between them."""
    with live.subscribe(switch) as subscription:
        yield b"retry: 2000\n\n"
        while (found := await subscription.next(HEARTBEAT_S)) is not None:
            yield b"".join(map(event_of, found or [live.heartbeat()]))
            await asyncio.sleep(live.rest_s)


def event_of(told: Told) -> bytes:
    """Give a message as a server-sent event; its line has no line break, whatever names are in it."""
    return b"event: %s\ndata: %s\n\n" % (told.message["kind"].encode(), told.line)


def _as_json(found: Any, status: HTTPStatus = HTTPStatus.OK) -> Answer:
    return Answer.of(status, _JSON, json.dumps(found, allow_nan=False).encode(), NOT_STORED)


def _in_pieces(pieces: list[bytes]) -> Answer:
    return Answer(HTTPStatus.OK, _JSON, pieces, sum(map(len, pieces)), (NOT_STORED,))


def _separated(lines: Iterable[bytes]) -> Iterator[bytes]:
    for number, line in enumerate(lines):
        yield b"," + line if number else line


def _push(body: bytes) -> int | None:
    """Give the push that a request is about, of a body such as ``{"push": 17}``.

    Raises:
        PhbError: It isn't one.
    """
    try:
        found = json.loads(body or b"{}")
    except ValueError:
        found = None
    if not isinstance(found, dict) or not isinstance(number := found.get("push"), int | None):
        raise PhbError('found another body, expected one such as {"push": 17}')
    return number


def _number(query: Mapping[str, str], name: str, default: float, most: float) -> float:
    """Give a number of a query: between 1 and `most`.

    Raises:
        PhbError: It is none.
    """
    try:
        value = float(query.get(name, default))
    except ValueError:
        value = 0.0
    if not 1 <= value <= most:
        raise PhbError(f"{name}: found '{visible(query[name][:40])}', expected a number from 1 to {most:g}")
    return value
