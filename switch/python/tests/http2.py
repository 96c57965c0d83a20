"""HTTP/2 by hand (RFC 9113, RFC 7541), for what no client of gRPC's would send."""

import socket
from collections.abc import Iterator
from contextlib import suppress

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 4, 7, 8, 9
END_STREAM, END_HEADERS = 1, 4
FRAME_BYTES = 16_384
"""The most that a frame may have unless told otherwise."""


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def _text(value: bytes) -> bytes:
    length = len(value)
    if length < 127:
        return bytes([length]) + value
    encoded, length = [127], length - 127
    while length >= 128:
        encoded.append(length & 127 | 128)
        length >>= 7
    return bytes([*encoded, length]) + value


def header(name: bytes, value: bytes) -> bytes:
    """A field that the other end keeps in no table."""
    return b"\0" + _text(name) + _text(value)


def call(method: str) -> bytes:
    """The fields that a call of gRPC's begins with."""
    fields = {":method": "POST", ":scheme": "http", ":path": method, ":authority": "switch", "te": "trailers"}
    fields["content-type"] = "application/grpc"
    return b"".join(header(name.encode(), value.encode()) for name, value in fields.items())


def headers(stream: int, block: bytes) -> bytes:
    """The frames of a block of fields."""
    pieces = [block[at : at + FRAME_BYTES] for at in range(0, len(block), FRAME_BYTES)]
    last = len(pieces) - 1
    frames = [
        frame(CONTINUATION if number else HEADERS, END_HEADERS if number == last else 0, stream, piece)
        for number, piece in enumerate(pieces)
    ]
    return b"".join(frames)


def message(stream: int, serialized: bytes) -> bytes:
    """The frame of a message of gRPC's."""
    return frame(DATA, 0, stream, b"\0" + len(serialized).to_bytes(4, "big") + serialized)


class Connection:
    """A connection to a server at a port of this machine."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), 10)
        # It takes whatever comes.
        window = (1 << 30).to_bytes(4, "big")
        self.send(PREFACE + frame(SETTINGS, 0, 0, b"\0\4" + window) + frame(WINDOW_UPDATE, 0, 0, window))

    def send(self, frames: bytes) -> None:
        """Sends frames, as far as the server takes them."""
        with suppress(OSError):
            self._socket.sendall(frames)

    def frames(self) -> Iterator[tuple[int, int, int, bytes]]:
        """Kind, flags, stream and payload of what the server sends, until it says no more."""
        with suppress(OSError), self._socket.makefile("rb") as answers:
            while len(start := answers.read(9)) == 9:
                payload = answers.read(int.from_bytes(start[:3], "big"))
                yield start[3], start[4], int.from_bytes(start[5:], "big"), payload

    def __enter__(self) -> "Connection":
        return self

    def __exit__(self, *_exception: object) -> None:
        self._socket.close()
