"""The HTTP server of `/metrics`: HTTP/1.1, for reading only, and bounded in all that strangers send or leave unread.

h11 reads and writes the protocol; the sockets are asyncio's. Nothing here waits for a client but its own task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from time import monotonic
from typing import Final

import h11

MOST_CONNECTIONS: Final = 64
"""When one more comes, the connection that has waited longest for a request gives way."""

MOST_HEAD: Final = 8192
"""Bytes of a request without its body, and of what may follow it."""

REQUEST_S: Final = 10.0
"""A connection's first request is there after so many seconds."""

IDLE_S: Final = 300.0
"""So long a connection waits for its next request: Prometheus asks again on the same one."""

ANSWER_S: Final = 10.0
"""So long a client may take to read an answer, as Prometheus' own `scrape_timeout`."""

REST: Final = 4
"""However often somebody asks, answers take one part in `REST` + 1 of a processor."""

PIECE: Final = 1 << 16
"""Bytes of an answer that wait for a client to read them."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: its body in pieces, of so many bytes in all."""

    status: HTTPStatus
    content_type: str
    body: Iterable[bytes]
    length: int
    headers: tuple[tuple[str, str], ...] = ()

    @classmethod
    def words(cls, status: HTTPStatus, text: str, *headers: tuple[str, str]) -> Answer:
        """Make one of a line of text."""
        body = f"{text}\n".encode()
        return cls(status, "text/plain; charset=utf-8", (body,), len(body), headers)


@dataclass(frozen=True, slots=True)
class Request:
    """A request: its path, without what is behind a question mark, and headers by their names in small letters."""

    path: str
    headers: Mapping[str, str]


Answering = Callable[[Request], Awaitable[Answer]]


class Pace:
    """What all answers together take of the processor: one works at a time, and then rests for `REST` times as long."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._turn = asyncio.Lock()
        self._began_s = 0.0

    async def __aenter__(self) -> None:
        await self._turn.acquire()
        self._began_s = self._clock()

    async def __aexit__(self, *error: object) -> None:
        try:
            await asyncio.sleep(REST * (self._clock() - self._began_s))
        finally:
            self._turn.release()


class Server:
    """Answers GET and HEAD."""

    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self._pace = Pace()
        # In the order in which they began to wait.
        self._waiting: dict[asyncio.Task[None], None] = {}
        self._answered: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self, host: str, port: int) -> int:
        """Listen; give the port, which is another where 0 was asked for.

        Raises:
            OSError: The address is not there, or taken.
        """
        self._server = await asyncio.start_server(self._accept, host, port, limit=PIECE)
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        """Stop, and end all connections."""
        if self._server is not None:
            self._server.close()
        tasks = [*self._waiting, *self._answered]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        if len(self._waiting) + len(self._answered) >= MOST_CONNECTIONS:
            oldest = next(iter(self._waiting), None)
            if oldest is None:
                writer.transport.abort()
                return
            del self._waiting[oldest]
            oldest.cancel()
        # A piece is with the kernel before the next one is made.
        writer.transport.set_write_buffer_limits(high=0)
        try:
            await self._converse(_Connection(reader, writer, self._pace), task)
        except (h11.ProtocolError, OSError, TimeoutError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            self._waiting.pop(task, None)
            self._answered.discard(task)
            writer.close()

    async def _converse(self, connection: _Connection, task: asyncio.Task[None]) -> None:
        patience = REQUEST_S
        while True:
            self._waiting[task] = None
            answer: Answer | None = None
            try:
                async with asyncio.timeout(patience):
                    asked = await connection.request()
            except h11.RemoteProtocolError as error:
                answer = Answer.words(HTTPStatus(error.error_status_hint), f"no request: {error}")
            if self._waiting.pop(task, task) is task:
                return
            self._answered.add(task)
            if answer is None:
                if asked is None:
                    return
                answer = await self._answer(asked)
            async with asyncio.timeout(ANSWER_S):
                await connection.send(answer)
            self._answered.discard(task)
            if not connection.goes_on():
                return
            patience = IDLE_S

    async def _answer(self, asked: h11.Request) -> Answer:
        if asked.method not in (b"GET", b"HEAD"):
            return Answer.words(HTTPStatus.METHOD_NOT_ALLOWED, "GET or HEAD", ("Allow", "GET, HEAD"))
        headers: dict[str, str] = {}
        for name, value in asked.headers:
            key, text = name.decode("ascii"), value.decode("latin-1")
            headers[key] = f"{headers[key]},{text}" if key in headers else text
        path = asked.target.partition(b"?")[0].decode("ascii")
        return await self._answering(Request(path, headers))


class _Connection:
    """One connection's requests and answers, in turn."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pace: Pace) -> None:
        self._reader = reader
        self._writer = writer
        self._pace = pace
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEAD)
        self._head = False

    async def request(self) -> h11.Request | None:
        """Give the next request when it is there as a whole; None where the client has ended the connection."""
        asked: h11.Request | None = None
        body = 0
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                self._http.receive_data(await self._reader.read(MOST_HEAD))
            elif isinstance(event, h11.Request):
                asked = event
                self._head = event.method == b"HEAD"
            elif isinstance(event, h11.Data):
                body += len(event.data)
                if body > MOST_HEAD:
                    raise h11.RemoteProtocolError("a body", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            elif isinstance(event, h11.EndOfMessage):
                return asked
            else:
                return None

    async def send(self, answer: Answer) -> None:
        """Send an answer, as fast as the client reads."""
        headers = [("Content-Type", answer.content_type), ("Content-Length", str(answer.length)), *answer.headers]
        if self._http.their_state is not h11.DONE:
            headers.append(("Connection", "close"))
        status = answer.status
        async with self._pace:
            self._write(h11.Response(status_code=status, headers=headers, reason=status.phrase.encode()))
        pieces = iter(() if self._head else answer.body)
        more = True
        while more:
            async with self._pace:
                # To make a piece is work, too.
                more = (piece := next(pieces, None)) is not None
                self._write(h11.EndOfMessage() if piece is None else h11.Data(data=piece))
            await self._writer.drain()

    def goes_on(self) -> bool:
        """Whether another request may follow."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    def _write(self, event: h11.Event) -> None:
        if data := self._http.send(event):
            self._writer.write(data)
