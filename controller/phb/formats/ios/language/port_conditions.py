"""Conditions on ports in access lists and object groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from phb.formats.ios.boxes import Interval
from phb.formats.ios.language.lines import Words
from phb.formats.ios.language.names import take_named

OPERATORS = ("eq", "neq", "gt", "lt", "range")

# "Named ACL Support for Noncontiguous Ports on an Access Control Entry": ports behind one `eq` or `neq`.
MOST_PORTS = 10


def take_ports(words: Words, operator: str, names: Mapping[str, int], most: int = MOST_PORTS) -> Sequence[Interval]:
    """Read the ports behind an operator of `OPERATORS` as intervals; at most `most` ports behind ``eq`` or ``neq``."""

    def port() -> int:
        return take_named(words, names, 65535, "a port")

    def next_is_port() -> bool:
        word = words.peek()
        return word is not None and (word.isdigit() or word.lower() in names)

    first = port()
    match operator:
        case "range":
            last = port()
            return ((min(first, last), max(first, last)),)
        case "gt":
            return _some(words, [(first + 1, 65535)])
        case "lt":
            return _some(words, [(0, first - 1)])
    ports = [first]
    while next_is_port() and len(ports) < most:
        ports.append(port())
    if operator == "eq":
        return [(each, each) for each in ports]
    edges = sorted(ports)
    return _some(words, [(low + 1, high - 1) for low, high in zip([-1, *edges], [*edges, 65536], strict=True)])


def _some(words: Words, intervals: list[Interval]) -> list[Interval]:
    left = [(low, high) for low, high in intervals if low <= high]
    if not left:
        words.line.fail("a port condition that no port meets", "one that some port meets")
    return left
