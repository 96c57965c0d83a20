"""What `phb monitor --listen` and the lab start."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from phb.errors import InputError
from phb.files import in_words
from phb.monitor.listening.routes import Asked, Recording, Routes
from phb.monitor.live.live import Live
from phb.monitor.page import assets
from phb.origin import Origin
from phb.web import renewing
from phb.web.address import is_loopback, parsed
from phb.web.guard import Guard
from phb.web.server import Server


@asynccontextmanager
async def serve(
    address: str,
    live: Live,
    *,
    asked: Asked | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    token_file: Path | None = None,
    trouble: Callable[[str], None] = lambda message: None,
    healthy: Callable[[], str] = lambda: "",
    recording: Recording | None = None,
    option: str = "--listen",
) -> AsyncIterator[str]:
    """Serve the page for as long as the context lasts; give its address, as a browser wants it.

    Args:
        address: ``HOST:PORT``, with an IPv6 address in brackets; port 0 is any.
        live: Whose figures these are.
        asked: Answers what the figures don't tell.
        certificate: A PEM file; with it the server speaks TLS alone.
        key: The PEM file of its key.
        token_file: Whose first line lets somebody in.
        trouble: Told of wrong tokens, and of files that were renewed and can't be used.
        healthy: Gives why the process isn't well, for ``/healthz``; an empty text where it is.
        recording: Gives the lines of ``/recording``, with their ends.
        option: What errors name.

    Raises:
        InputError: There is no such address or somebody else has its port; a file can't be used; or others could reach
            the page without a certificate or without a token.
    """
    host, port = parsed(address, option, "127.0.0.1:8010")
    if (certificate is None) != (key is None):
        given, absent = ("key", "cert") if certificate is None else ("cert", "key")
        raise InputError(Origin(f"{option}-{given}"), f"no {option}-{absent}", "both or neither: TLS needs them")
    if not is_loopback(host) and (certificate is None or token_file is None):
        missing = [f"{option}-cert and {option}-key"] if certificate is None else []
        missing += [f"{option}-token-file"] if token_file is None else []
        expected = f"{' and '.join(missing)} besides, or an address of loopback, such as 127.0.0.1:{port}"
        raise InputError(Origin(option), f"'{address}', which others can reach", expected)
    token = None if token_file is None else renewing.token(token_file, trouble)
    tls = None if certificate is None or key is None else renewing.encryption(certificate, key, trouble)
    routes = Routes(live, Guard(host, token, trouble), assets(), asked, healthy, recording)
    server = Server(routes, posts=True, tls=tls)
    try:
        port = await server.start(host, port)
    except OSError as error:
        found = f"'{address}' ({in_words(error)})"
        raise InputError(Origin(option), found, "an address of this machine and a free port") from None
    try:
        yield f"{'http' if tls is None else 'https'}://{address.rpartition(':')[0]}:{port}/"
    finally:
        await server.close()
