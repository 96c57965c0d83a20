"""TN3270E sessions, each with an application that answers Enter with a screen of a given length."""

import asyncio
from contextlib import suppress

from phb_lab.tn3270 import screen
from phb_lab.tn3270.telnet import DATA_3270, Command, Decoder, Negotiation, Subnegotiation, body, header, record

_READ_BYTES = 4096


class Session:
    """One terminal: octets in, octets out; no sockets, no clock.

    ``number`` gives the logical unit's name, ``reply_octets`` the length of the answer; None is that of its text.
    """

    def __init__(self, number: int, reply_octets: int | None = None) -> None:
        self._decoder = Decoder()
        self._negotiation = Negotiation(f"PHB{number:05}".encode())
        self._reply_octets = reply_octets
        self._shown = False
        self.entered = 0

    @property
    def ended(self) -> bool:
        """Whether the server has nothing more to send."""
        return self._negotiation.ended

    def begin(self) -> bytes:
        """Give the server's first octets."""
        return self._negotiation.begin()

    def receive(self, data: bytes) -> bytes:
        """Answer octets.

        Raises:
            ValueError: the client sent something that isn't TN3270E.
        """
        said = b""
        for event in self._decoder.feed(data):
            if isinstance(event, Command | Subnegotiation):
                said += self._negotiation.answer(event)
                if self._negotiation.done and not self._shown:
                    self._shown = True
                    said += self._screen("READY", None)
            else:
                said += self._answer(event.data)
        return said

    def _answer(self, received: bytes) -> bytes:
        kind, data = body(received)
        if kind != DATA_3270:
            return b""
        entered = screen.read(data)
        if entered.attention != screen.ENTER:
            return self._screen("READY", None)
        self.entered += 1
        typed = " ".join(entered.fields.values())
        return self._screen(f"{self.entered:06} {typed} ", self._reply_octets)

    def _screen(self, text: str, octets: int | None) -> bytes:
        return record(header(DATA_3270) + screen.write(text, octets))


class Server:
    """Serves any number of terminals on one port."""

    def __init__(self, reply_octets: int | None = None) -> None:
        self._reply_octets = reply_octets
        self._sessions = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, from its beginning to its end."""
        self._sessions += 1
        session = Session(self._sessions, self._reply_octets)
        writer.write(session.begin())
        with suppress(ConnectionError, ValueError):
            while not session.ended and (data := await reader.read(_READ_BYTES)):
                writer.write(session.receive(data))
                await writer.drain()
        writer.close()
