"""Protocol and port numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

from phb.values.text import Text, any_case, is_integer, matching

# IANA "Assigned Internet Protocol Numbers"; only the ones policies commonly name.
PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17, "rsvp": 46, "gre": 47, "esp": 50, "icmpv6": 58, "ospf": 89}
_PROTOCOL_NAMES = {number: name for name, number in PROTOCOLS.items()}


def parse_protocol(value: Any) -> int:
    """A protocol's name or number."""
    if isinstance(value, str) and value.lower() in PROTOCOLS:
        return PROTOCOLS[value.lower()]
    if not is_integer(value) or not 0 <= value <= 255:
        raise ValueError
    return int(value)


def write_protocol(number: int) -> str | int:
    """A protocol's name where it has one here, else its number."""
    return _PROTOCOL_NAMES.get(number, number)


_PORT = "(?:6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9]?[0-9]{1,3})"
_PORTS = re.compile(rf"({_PORT})(?: *- *({_PORT}))?")


@dataclass(frozen=True, slots=True)
class PortRange:
    """TCP or UDP port numbers from `first` to `last`, both included."""

    first: int
    last: int

    def __post_init__(self) -> None:
        if not 0 <= self.first <= self.last <= 65535:
            raise ValueError("port numbers run from low to high within 0 to 65535")

    @classmethod
    def parse(cls, value: Any) -> PortRange:
        """``N`` or ``N-M``."""
        if isinstance(value, PortRange):
            return value
        if is_integer(value):
            return cls(int(value), int(value))
        if not isinstance(value, str):
            raise TypeError
        match = _PORTS.fullmatch(value)
        if match is None:
            raise ValueError
        return cls(int(match[1]), int(match[2] or match[1]))

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    @staticmethod
    def write(ports: PortRange) -> str | int:
        """A single port as a number, a range as text."""
        return ports.first if ports.first == ports.last else str(ports)


Protocol = Annotated[
    int,
    Text(
        parse_protocol,
        f"a protocol number from 0 to 255 or one of {', '.join(PROTOCOLS)}",
        write_protocol,
        {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, matching(*map(any_case, PROTOCOLS))]},
    ),
]
Ports = Annotated[
    PortRange,
    Text(
        PortRange.parse,
        "a port number or a range such as 700-719",
        PortRange.write,
        {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 65535}, matching(_PORTS.pattern)]},
    ),
]
