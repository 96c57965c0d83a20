"""A directory that answers whatever a test wants, octet by octet: LDAP's messages (RFC 4511) by hand."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


def ber(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    return bytes([tag]) + b"\x84" + len(content).to_bytes(4, "big") + content


def message(number: int, *parts: bytes) -> bytes:
    return ber(0x30, ber(2, number.to_bytes(4, "big")), *parts)


def entry(number: int, dn: str, **attributes: bytes) -> bytes:
    """A SearchResultEntry."""
    listed = [ber(0x30, ber(4, name.encode()), ber(0x31, ber(4, value))) for name, value in attributes.items()]
    return message(number, ber(0x64, ber(4, dn.encode()), ber(0x30, *listed)))


def done(number: int, cookie: bytes = b"", code: int = 0, words: str = "") -> bytes:
    """A SearchResultDone with the control of a page (RFC 2696)."""
    value = ber(4, ber(0x30, ber(2, b"\0"), ber(4, cookie)))
    control = ber(0xA0, ber(0x30, ber(4, b"1.2.840.113556.1.4.319"), value))
    return message(number, ber(0x65, ber(10, bytes([code])), ber(4), ber(4, words.encode())), control)


def reference(number: int, url: str) -> bytes:
    """A SearchResultReference."""
    return message(number, ber(0x73, ber(4, url.encode())))


@contextmanager
def directory(answer: Callable[[socket.socket, int, threading.Event], None]) -> Iterator[str]:
    """Run one; give its address without the scheme.

    Args:
        answer: Told the connection, the request's number, and what is set when the test is over.
    """
    over = threading.Event()

    def serve(connection: socket.socket) -> None:
        number = 0
        with connection, suppress(OSError):
            while connection.recv(65536):
                number += 1
                answer(connection, number, over)

    def accept() -> None:
        with suppress(OSError):
            while not over.is_set():
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        over.set()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
