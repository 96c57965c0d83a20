"""A client of the page's server: plain HTTP over a socket, so that what a browser never sends can be sent, too."""

import asyncio
import json
from contextlib import asynccontextmanager

from phb.monitor.listening import serve
from phb.monitor.live import Live

EDGE = {"name": "edge", "address": "192.0.2.1:9559", "groups": []}


def live_of(*names, **more):
    return Live([{**EDGE, "name": name} for name in names or ("edge",)], **more)


@asynccontextmanager
async def serving(live=None, **options):
    async with serve("127.0.0.1:0", live or live_of(), **options) as address:
        yield int(address.rstrip("/").rpartition(":")[2])


@asynccontextmanager
async def connected(port, **tls):
    reader, writer = await asyncio.open_connection("127.0.0.1", port, **tls)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()
        await asyncio.sleep(0)


def request(path="/", method="GET", body="", **headers):
    headers = {"Host": "localhost:8010", **headers}
    if body:
        headers["Content-Length"] = str(len(body))
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", body]).encode()


async def head_of(reader):
    """Give status and headers of an answer."""
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().rstrip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return int(first.split()[1]), headers


async def ask(port, *of, tls=None, **headers):
    """Give status, headers and body of an answer."""
    async with connected(port, **(tls or {})) as (reader, writer):
        writer.write(request(*of, **headers))
        status, found = await head_of(reader)
        return status, found, await reader.readexactly(int(found["content-length"]))


class Events:
    """What comes of `/events`, message by message."""

    def __init__(self, reader):
        self._reader = reader
        self._text = b""

    async def next(self):
        """Give kind and message; heartbeats are left out."""
        while True:
            while b"\n\n" in self._text:
                block, _, self._text = self._text.partition(b"\n\n")
                fields = [line.split(b": ", 1) for line in block.split(b"\n")]
                if fields[0][0] == b"event":
                    (_, kind), (name, data) = fields
                    assert name == b"data"
                    return kind.decode(), json.loads(data)
            size = int((await self._reader.readuntil(b"\r\n"))[:-2], 16)
            if not size:
                raise EOFError
            self._text += await self._reader.readexactly(size)
            await self._reader.readexactly(2)

    async def until(self, kind):
        """Give the next message of a kind."""
        while True:
            found, message = await self.next()
            if found == kind:
                return message


@asynccontextmanager
async def events(port, path="/events", **headers):
    async with connected(port) as (reader, writer):
        writer.write(request(path, **headers))
        status, found = await head_of(reader)
        assert (status, found["content-type"]) == (200, "text/event-stream")
        yield Events(reader)
