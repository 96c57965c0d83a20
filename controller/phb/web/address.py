"""Where a server listens, and which names its clients may call it by."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Final

from phb.errors import InputError
from phb.origin import Origin

_ADDRESS: Final = re.compile(r"(\[[0-9a-fA-F:.]+(?:%\w+)?\]|[^\[\]:/\s]+):([0-9]{1,5})")


def parsed(address: str, option: str, example: str) -> tuple[str, int]:
    """Give host and port of ``HOST:PORT``, with an IPv6 address in brackets; errors name `option`, and show `example`.

    Raises:
        InputError: It isn't one.
    """
    match = _ADDRESS.fullmatch(address)
    if match is None or int(match[2]) > 65535:
        raise InputError(Origin(option), f"'{address}'", f"HOST:PORT, such as {example}")
    return match[1].strip("[]"), int(match[2])


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches a server at that host: `localhost`, or an address of loopback."""
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def host_of(header: str) -> str:
    """Give the host of a Host header, or of what is behind the slashes of an Origin."""
    match = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::[0-9]*)?", header.strip())
    return "" if match is None else match[1].strip("[]")
