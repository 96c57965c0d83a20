"""Files that are used anew when they have changed: the certificate of a server, and the token that lets somebody in."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import Final, Generic, TypeVar

from phb.device.tls import check_pair
from phb.errors import InputError
from phb.files import read_bytes
from phb.origin import Origin

LOOK_S: Final = 1.0
"""Seconds between two looks at the files, as a switch looks at its own."""

LEAST_TOKEN: Final = 16
"""Characters of a token."""

Made = TypeVar("Made")


class Renewed(Generic[Made]):
    """What is made of files, made again when one of them has changed; what can't be made leaves the one before.

    Args:
        trouble: Told once of files that can't be used.

    Raises:
        InputError: As `make`, the first time.
    """

    def __init__(
        self,
        files: Sequence[Path],
        make: Callable[[], Made],
        trouble: Callable[[str], None],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._files = files
        self._make = make
        self._trouble = trouble
        self._clock = clock
        self._looked_at = clock()
        self._seen = self._signature()
        self._made = make()

    def __call__(self) -> Made:
        """Give it as the files say now."""
        now = self._clock()
        if now - self._looked_at >= LOOK_S:
            self._looked_at = now
            if (seen := self._signature()) != self._seen:
                self._seen = seen
                try:
                    self._made = self._make()
                except InputError as error:
                    self._trouble(f"{error}; the one before holds on")
        return self._made

    def _signature(self) -> list[tuple[int, int, int] | None]:
        found: list[tuple[int, int, int] | None] = []
        for path in self._files:
            try:
                about = path.stat()
            except OSError:
                found.append(None)
            else:
                found.append((about.st_mtime_ns, about.st_size, about.st_ino))
        return found


def encryption(certificate: Path, key: Path, trouble: Callable[[str], None]) -> Renewed[ssl.SSLContext]:
    """Give what a server's connections are encrypted with: TLS 1.2 or 1.3.

    Raises:
        InputError: A file can't be read, isn't PEM, or the key isn't the certificate's.
    """

    def make() -> ssl.SSLContext:
        check_pair(certificate, key)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.load_cert_chain(certificate, key)
        context.set_alpn_protocols(["http/1.1"])
        return context

    return Renewed((certificate, key), make, trouble)


def token(path: Path, trouble: Callable[[str], None]) -> Renewed[bytes]:
    """Give the token of a file: its first line.

    Raises:
        InputError: It can't be read, others can read it, or it is too short to be kept from guessing.
    """
    expected = f"a token of at least {LEAST_TOKEN} characters, such as `openssl rand -hex 32` makes"

    def make() -> bytes:
        words = read_bytes(path, expected).split(b"\n", 1)[0].strip()
        if path.stat().st_mode & 0o007:
            raise InputError(Origin(str(path)), "a file that everybody may open", "one of its owner: chmod 600")
        if len(words) < LEAST_TOKEN or not words.isascii() or not words.decode().isprintable():
            raise InputError(Origin(str(path), 1), f"{len(words)} characters", f"{expected}, in plain ASCII")
        return words

    return Renewed((path,), make, trouble)
