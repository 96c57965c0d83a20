"""Distinguished names (RFC 4514), compared so that two spellings of a name are equal."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

Rdn: TypeAlias = tuple[tuple[str, str], ...]

_PAIR = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*|\d+(?:\.\d+)*)\s*=\s*(.*)", re.DOTALL)
_ESCAPED = re.compile(r"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Dn:
    """A name as it was written; equal regardless of case and spaces, as LDAP compares text."""

    written: str
    parts: tuple[Rdn, ...]

    @property
    def value(self) -> str:
        """The value of its first part, the usual name of the entry."""
        match = _PAIR.fullmatch(_split(_split(self.written, ",")[0], "+")[0])
        return _plain(match[2]) if match is not None else ""

    @property
    def parent(self) -> tuple[Rdn, ...]:
        """The parts of the entry above."""
        return self.parts[1:]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Dn) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def __str__(self) -> str:
        return self.written


def parse_dn(text: str) -> Dn | None:
    """Parse a name; None where it isn't one. The empty name is that of the whole tree, not of an entry."""
    parts = []
    for part in _split(text, ","):
        pairs = [_PAIR.fullmatch(pair) for pair in _split(part, "+")]
        found = [(match[1].lower(), " ".join(_plain(match[2]).casefold().split())) for match in pairs if match]
        if len(found) != len(pairs):
            return None
        parts.append(tuple(sorted(found)))
    return Dn(text, tuple(parts))


def _split(text: str, separator: str) -> list[str]:
    """Split at separators that aren't escaped."""
    parts, start, position = [], 0, 0
    while position < len(text):
        if text[position] == "\\":
            position += 1
        elif text[position] == separator:
            parts.append(text[start:position])
            start = position + 1
        position += 1
    return [*parts, text[start:]]


def _plain(value: str) -> str:
    """Remove escapes from a value; octets written as hexadecimal pairs are UTF-8."""

    def octet(match: re.Match[str]) -> bytes:
        return bytes([int(match[1], 16)]) if len(match[1]) == 2 else match[1].encode()

    octets, start = b"", 0
    for match in _ESCAPED.finditer(value):
        octets += value[start : match.start()].encode() + octet(match)
        start = match.end()
    return (octets + value[start:].rstrip().encode()).decode(errors="replace")
