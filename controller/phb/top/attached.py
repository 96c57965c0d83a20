"""What a monitor elsewhere tells: the server-sent events of `phb monitor --listen`."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

from phb.errors import InputError, PhbError
from phb.files import in_words
from phb.monitor.live.messages import VERSION, Detail, Hello, Mark, Message, Occurrence, Tick
from phb.monitor.live.shapes import check_of
from phb.origin import Origin
from phb.top.known import Known
from phb.visible import visible

CONNECT_S: Final = 5.0
"""Seconds that a connection and the beginning of an answer may take."""
SILENT_S: Final = 15.0
"""Seconds of silence after which a connection is given up: there are heartbeats every 5 s."""
REST_S: Final = 0.3
"""Seconds for which the cursor has to be at a switch until its details are asked for."""
RETRY_S: Final = 1.0
"""Seconds between the end of a connection and the next attempt."""
MOST_BYTES: Final = 16 << 20
"""Of one message."""

MOST_DIGITS: Final = 19
"""Of a whole number: more can't be computed with as a rate."""

_CHECKS: Final = {
    "hello": check_of(Hello),
    "tick": check_of(Tick),
    "detail": check_of(Detail),
    "event": check_of(Occurrence),
    "mark": check_of(Mark),
}


class Attached:
    """Has `known` know what the monitor at an address tells: all switches in one look, and of one its details.

    Args:
        token: Lets us in; None where nobody asks for one.
        tls_ca: PEM file of the authority of the server's certificate; None: the system's.

    Raises:
        InputError: The address is none, or the file can't be used.
    """

    def __init__(self, url: str, known: Known, token: str | None = None, tls_ca: Path | None = None) -> None:
        self.url = url
        parts = urlsplit(url)
        try:
            self._host, self._port = parts.hostname or "", parts.port
        except ValueError:
            self._host = ""
        if not self._host or parts.scheme not in ("http", "https") or parts.path not in ("", "/") or parts.query:
            raise InputError(Origin("URL"), f"'{url}'", "that of phb monitor --listen, such as http://127.0.0.1:8010/")
        self._tls = _context(tls_ca) if parts.scheme == "https" else None
        self._headers = {"Accept": "text/event-stream"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"
        self._known = known
        self._switch: str | None = None
        self._attending: asyncio.TimerHandle | None = None
        self._socket: socket.socket | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over = False

    def attend(self, switch: str) -> None:
        """Have details of this switch from now on."""
        if self._attending is not None:
            self._attending.cancel()
        # The cursor may only pass by.
        self._attending = asyncio.get_running_loop().call_later(REST_S, self._attend, switch)

    def _attend(self, switch: str) -> None:
        if switch != self._switch:
            if self._switch is not None:
                self._known.forget_details(self._switch)
            self._switch = switch
            self._hang_up()

    def try_once(self) -> None:
        """Connect once, so that what is wrong is said before anything is drawn.

        Raises:
            PhbError: It can't be reached, or doesn't let us in.
        """
        with self._opened(None):
            pass

    async def run(self) -> None:
        """Follow it until cancelled; while it can't be had, `known.trouble` says why."""
        self._loop = asyncio.get_running_loop()
        try:
            while True:
                switch = self._switch
                try:
                    await asyncio.to_thread(self._read, switch)
                except PhbError as error:
                    self._known.trouble = str(error)
                    self._known.changes += 1
                if switch == self._switch:
                    await asyncio.sleep(RETRY_S)
        finally:
            self._over = True
            self._hang_up()

    # -- in a thread ----------------------------------------------------------

    def _read(self, switch: str | None) -> None:
        """Read until the connection ends; quietly, where another switch is wanted."""
        assert self._loop is not None
        with self._opened(switch) as answer:
            try:
                for message in self._messages(answer):
                    if self._over or switch != self._switch:
                        return
                    self._loop.call_soon_threadsafe(self._take, message)
            except (OSError, http.client.HTTPException, ValueError) as error:
                if self._over or switch != self._switch:
                    return
                raise PhbError(f"{self.url}: {visible(_why(error))}") from None
        if switch == self._switch:
            raise PhbError(f"{self.url}: it has ended the connection")

    @contextmanager
    def _opened(self, switch: str | None) -> Iterator[http.client.HTTPResponse]:
        if self._tls is None:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=CONNECT_S)
        else:
            connection = http.client.HTTPSConnection(self._host, self._port, timeout=CONNECT_S, context=self._tls)
        path = "/events" if switch is None else f"/events?switch={quote(switch, safe='')}"
        try:
            try:
                connection.request("GET", path, headers=self._headers)
                self._socket = connection.sock
                answer = connection.getresponse()
                words = "" if answer.status == http.client.OK else visible(answer.read(200).decode("utf-8", "replace"))
            except (OSError, http.client.HTTPException) as error:
                raise PhbError(f"{self.url}: can't be reached: {visible(_why(error))}") from None
            if answer.status != http.client.OK:
                raise PhbError(f"{self.url}: refused ({answer.status}): {words or visible(answer.reason)}")
            if answer.headers.get_content_type() != "text/event-stream":
                raise PhbError(f"{self.url}: answers, but is no phb monitor --listen")
            if self._socket is not None:
                self._socket.settimeout(SILENT_S)
            with answer:
                yield answer
        finally:
            self._socket = None
            connection.close()

    def _messages(self, answer: http.client.HTTPResponse) -> Iterator[Message]:
        while line := answer.readline(MOST_BYTES):
            if not line.endswith(b"\n"):
                raise ValueError("a message that doesn't end")
            if line.startswith(b"data:"):
                yield _message(line.removeprefix(b"data:"))

    def _take(self, message: Message) -> None:
        self._known.trouble = ""
        self._known.take(message)

    def _hang_up(self) -> None:
        """End the connection, so that the thread that reads it goes on."""
        if (open_socket := self._socket) is not None:
            with suppress(OSError):
                # Of the socket itself: TLS's own end belongs to that thread.
                socket.socket.shutdown(open_socket, socket.SHUT_RDWR)


def read_token(path: Path) -> str:
    """Read the first line of a file.

    Raises:
        InputError: It can't be read, or no token is in it.
    """
    try:
        lines = path.read_text("ascii").splitlines()
    except OSError as error:
        raise InputError(Origin(str(path)), in_words(error), "a file with a token") from None
    except UnicodeDecodeError:
        lines = []
    token = lines[0].strip() if lines else ""
    if not token or not token.isprintable():
        raise InputError(Origin(str(path), 1), "no token", "one of printable ASCII characters in the first line")
    return token


def _message(data: bytes) -> Message:
    """Check what a server says, which may be anything."""
    try:
        value = json.loads(data, parse_int=_whole)
    except (ValueError, RecursionError):
        value = None
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in _CHECKS:
        raise ValueError("something that is no live message")
    if kind == "hello" and value.get("version") != VERSION:
        raise ValueError(f"messages of version {value.get('version')}, and this phb knows {VERSION}")
    if (wrong := _CHECKS[kind](value)) is not None:
        raise ValueError(f"a message that is wrong: {wrong}")
    found: Message = value
    return found


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(digits)
    return int(digits)


def _context(tls_ca: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if tls_ca is None else str(tls_ca))
    except (OSError, ssl.SSLError) as error:
        raise InputError(Origin(str(tls_ca)), error.strerror or str(error), "a PEM file of certificates") from None


def _why(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate isn't good: {error.verify_message}"
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
