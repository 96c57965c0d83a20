"""HTTP/1.1, bounded in all that strangers send or leave unread: answers in pieces, and streams for as long as they are.

h11 reads and writes the protocol; the sockets are asyncio's. Nothing here waits for a client but its own task.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from math import inf
from time import monotonic
from typing import Final
from urllib.parse import parse_qsl

import h11

MOST_CONNECTIONS: Final = 64
"""When one more comes, the connection that has waited longest for a request gives way. Streams count for themselves."""

MOST_STREAMS: Final = 64
"""When one more comes, the stream that has left most unread for `STUCK_S` gives way."""

MOST_HEAD: Final = 8192
"""Bytes of a request without its body, of its body, and of what may follow it."""

REQUEST_S: Final = 10.0
"""A connection's first request is there after so many seconds, and so is a TLS handshake."""

IDLE_S: Final = 300.0
"""So long a connection waits for its next request: Prometheus asks again on the same one."""

ANSWER_S: Final = 10.0
"""So long a client may take to read an answer, as Prometheus' own `scrape_timeout`."""

STUCK_S: Final = 5.0
"""A stream's reader that has left something unread for so long gives way to another."""

STREAM_S: Final = 60.0
"""A stream's reader that has left something unread for so long is ended. A browser that wakes up comes again."""

REST: Final = 4
"""However often somebody asks, answers take one part in `REST` + 1 of a processor."""

PIECE: Final = 1 << 16
"""Bytes of an answer that wait for a client to read them; of a stream twice that, with what the kernel keeps."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer: its body in pieces, of so many bytes in all, which the client may take `patience_s` to read."""

    status: HTTPStatus
    content_type: str
    body: Iterable[bytes]
    length: int
    headers: tuple[tuple[str, str], ...] = ()
    patience_s: float | None = None

    @classmethod
    def words(cls, status: HTTPStatus, text: str, *headers: tuple[str, str]) -> Answer:
        """Make one of a line of text."""
        return cls.of(status, "text/plain; charset=utf-8", f"{text}\n".encode(), *headers)

    @classmethod
    def of(cls, status: HTTPStatus, content_type: str, body: bytes, *headers: tuple[str, str]) -> Answer:
        """Make one of a body."""
        return cls(status, content_type, (body,), len(body), headers)


@dataclass(frozen=True, slots=True)
class Stream:
    """An answer whose pieces are sent as they come; how it ends is how the client knows that there are no more."""

    content_type: str
    pieces: AsyncGenerator[bytes, None]
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Request:
    """A request: its path, without what is behind a question mark, and headers by their names in small letters.

    Attributes:
        query: What is behind the question mark; of a name that comes twice the last value.
        peer: The client's address.
        encrypted: Whether it came by TLS.
    """

    path: str
    headers: Mapping[str, str]
    method: str = "GET"
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    peer: str = ""
    encrypted: bool = False


Answering = Callable[[Request], Awaitable["Answer | Stream"]]


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
    """Answers GET and HEAD, and POST where `posts` says so.

    Args:
        tls: Gives what connections are encrypted with, as it is when they come.
    """

    def __init__(
        self, answering: Answering, *, posts: bool = False, tls: Callable[[], ssl.SSLContext] | None = None
    ) -> None:
        self._answering = answering
        self._methods = ("GET", "HEAD", "POST") if posts else ("GET", "HEAD")
        self._tls = tls
        self._pace = Pace()
        # In the order in which they began to wait.
        self._waiting: dict[asyncio.Task[None], None] = {}
        self._answered: set[asyncio.Task[None]] = set()
        self._streams: dict[asyncio.Task[None], _Connection] = {}
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
        tasks = [*self._waiting, *self._answered, *self._streams]
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
            if self._tls is not None:
                # Here and not by the listening socket, so that handshakes are among the connections that are counted.
                self._waiting[task] = None
                await writer.start_tls(self._tls(), ssl_handshake_timeout=REQUEST_S)
                # Of 0, Python's TLS would pause its writer while nothing waits, and a stream stand still.
                writer.transport.set_write_buffer_limits(high=1, low=0)
                if self._waiting.pop(task, task) is task:
                    return
            await self._converse(_Connection(reader, writer, self._pace), task)
        except (h11.ProtocolError, OSError, TimeoutError, asyncio.CancelledError):
            writer.transport.abort()
        finally:
            self._waiting.pop(task, None)
            self._answered.discard(task)
            self._streams.pop(task, None)
            writer.close()

    async def _converse(self, connection: _Connection, task: asyncio.Task[None]) -> None:
        patience = REQUEST_S
        while True:
            self._waiting[task] = None
            answer: Answer | Stream | None = None
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
                answer = await self._answer(connection, *asked)
            if isinstance(answer, Stream):
                if not connection.wants_body:
                    answer = Answer.of(HTTPStatus.OK, answer.content_type, b"", *answer.headers)
                elif self._has_room():
                    self._answered.discard(task)
                    self._streams[task] = connection
                    await connection.stream(answer)
                    return
                else:
                    answer = Answer.words(HTTPStatus.SERVICE_UNAVAILABLE, f"{MOST_STREAMS} others are looking")
            async with asyncio.timeout(answer.patience_s or ANSWER_S):
                await connection.send(answer)
            self._answered.discard(task)
            if not connection.goes_on():
                return
            patience = IDLE_S

    def _has_room(self) -> bool:
        """Whether one more stream may begin; if need be, because the one that reads least gives way."""
        if len(self._streams) < MOST_STREAMS:
            return True
        slowest = min(self._streams, key=lambda task: self._streams[task].unread_since)
        if monotonic() - self._streams[slowest].unread_since < STUCK_S:
            return False
        del self._streams[slowest]
        slowest.cancel()
        return True

    async def _answer(self, connection: _Connection, asked: h11.Request, body: bytes) -> Answer | Stream:
        method = asked.method.decode("ascii")
        if method not in self._methods:
            *others, last = self._methods
            words = f"{', '.join(others)} or {last}"
            return Answer.words(HTTPStatus.METHOD_NOT_ALLOWED, words, ("Allow", ", ".join(self._methods)))
        headers: dict[str, str] = {}
        for name, value in asked.headers:
            key, text = name.decode("ascii"), value.decode("latin-1")
            headers[key] = f"{headers[key]},{text}" if key in headers else text
        path, _, query = asked.target.decode("ascii").partition("?")
        found = dict(parse_qsl(query, keep_blank_values=True))
        request = Request(path, headers, method, found, body, connection.peer, self._tls is not None)
        return await self._answering(request)


class _Connection:
    """One connection's requests and answers, in turn."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pace: Pace) -> None:
        self._reader = reader
        self._writer = writer
        self._pace = pace
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=MOST_HEAD)
        self._head = False
        # Since when a stream's reader has left something unread; infinite where it hasn't.
        self.unread_since = inf

    @property
    def peer(self) -> str:
        """The client's address."""
        return str((self._writer.get_extra_info("peername") or ("",))[0])

    @property
    def wants_body(self) -> bool:
        """Whether the request is one for more than the head of an answer."""
        return not self._head

    async def request(self) -> tuple[h11.Request, bytes] | None:
        """Give the next request when it is there as a whole; None where the client has ended the connection."""
        asked: h11.Request | None = None
        body = bytearray()
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                self._http.receive_data(await self._reader.read(MOST_HEAD))
            elif isinstance(event, h11.Request):
                asked = event
                self._head = event.method == b"HEAD"
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > MOST_HEAD:
                    raise h11.RemoteProtocolError("a body", HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
            elif isinstance(event, h11.EndOfMessage):
                assert asked is not None
                return asked, bytes(body)
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

    async def stream(self, answer: Stream) -> None:
        """Send pieces as they come; return when there are no more, or nobody to read them."""
        headers = [("Content-Type", answer.content_type), ("Connection", "close"), *answer.headers]
        if (plain := self._writer.get_extra_info("socket")) is not None:
            # What the kernel keeps for a reader that is slow has grown old when it comes.
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, PIECE)
        task = asyncio.current_task()
        assert task is not None
        gone = asyncio.create_task(self._gone(task))
        try:
            async with aclosing(answer.pieces) as pieces:
                self._write(h11.Response(status_code=HTTPStatus.OK, headers=headers, reason=b"OK"))
                async for piece in pieces:
                    self._write(h11.Data(data=piece))
                    self.unread_since = monotonic()
                    async with asyncio.timeout(STREAM_S):
                        await self._writer.drain()
                    self.unread_since = inf
            self._write(h11.EndOfMessage())
        finally:
            gone.cancel()
            await asyncio.wait([gone])

    async def _gone(self, streaming: asyncio.Task[None]) -> None:
        """End the stream when the client has ended the connection, or says more than its request."""
        with suppress(OSError):
            await self._reader.read(1)
        streaming.cancel()

    def goes_on(self) -> bool:
        """Whether another request may follow."""
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    def _write(self, event: h11.Event) -> None:
        if data := self._http.send(event):
            self._writer.write(data)
