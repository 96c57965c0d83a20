"""What people write of a session: where its reflector is, and which file has its key."""

from __future__ import annotations

import re
from ipaddress import IPv6Address
from pathlib import Path

from phb.errors import InputError
from phb.files import read_bytes
from phb.origin import Origin
from phb.stamp.packets import PORT

EXPECTED = "HOST, HOST:PORT or [IPv6]:PORT, such as 192.0.2.1:862"

_PLACE = re.compile(r"(?:\[([^]]+)\]|([^:]+))(?::(\d{1,5}))?", re.ASCII)


def parse_place(text: str) -> tuple[str, int]:
    """Read ``HOST``, ``HOST:PORT`` or ``[IPV6]:PORT``; an IPv6 address needs no brackets without a port.

    Raises:
        ValueError: It is none of them.
    """
    try:
        IPv6Address(text)
    except ValueError:
        pass
    else:
        return text, PORT
    found = _PLACE.fullmatch(text)
    if found is None or (found[3] is not None and not 0 < int(found[3]) < 65536):
        raise ValueError(EXPECTED)
    return found[1] or found[2], int(found[3] or PORT)


def read_key(path: Path) -> bytes:
    """Read the key of HMAC-SHA-256: the first line of a file, 16 to 1024 octets."""
    line = read_bytes(path, "a file with a key").split(b"\n", 1)[0].rstrip(b"\r")
    if not 16 <= len(line) <= 1024:
        raise InputError(Origin(str(path), 1), f"a key of {len(line)} octets", "one of 16 to 1024")
    return line
