"""Attributes of a statement by keyword, and the parsers of their values.

Units are the Policy Agent's: rates in kbit/s, token buckets in kilobits, both of 1000 bits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import TypeVar

from phb.formats.policy_agent.blocks import Block, StatementLine
from phb.model import Day, Rate, RateBasis, RateUnit
from phb.origin import Origin
from phb.values import AddressRange, AnyAddress, PortRange, TimeRange, parse_address, parse_protocol

T = TypeVar("T")

BITS = "eight binary digits"
KILOBITS = "kbit/s as a whole number from 1"
ADDRESS = "an IPv4 or IPv6 address"

# "The maximum decimal value for numeric values": general syntax rules of the Policy Agent, z/OS Communications Server.
LARGEST = 4294967295


class Attributes:
    """The attributes of a block by keyword; unknown and repeated ones are refused."""

    def __init__(self, block: Block, allowed: Sequence[str], repeated: Sequence[str] = ()) -> None:
        self.block = block
        self._by_keyword: dict[str, list[StatementLine]] = {}
        names, many = _lower(tuple(allowed)), _lower(tuple(repeated))
        for line in block.attributes:
            keyword = line.keyword.lower()
            if keyword not in names:
                line.fail(f"'{line.keyword}'", f"one of {', '.join(allowed)} in {block.head.keyword}")
            earlier = self._by_keyword.setdefault(keyword, [])
            if earlier and keyword not in many:
                line.fail(f"{line.keyword} again", f"it once; it also stands at {earlier[0].origin}")
            earlier.append(line)
        self._fields: dict[str, Origin] = {}

    def all(self, *keywords: str) -> list[StatementLine]:
        """Give every line with one of these keywords."""
        return [line for keyword in keywords for line in self._by_keyword.get(keyword.lower(), [])]

    def value(self, keyword: str, name: str, parse: Callable[[str], T], expected: str) -> T | None:
        """Read the attribute's value, or None when it isn't given; `name` is the model's word for it."""
        for line in self.all(keyword):
            self._fields[name] = line.origin
            return parse_line(line, parse, expected)
        return None

    def place(self, name: str, line: StatementLine) -> None:
        """Record the place of the model's word."""
        self._fields[name] = line.origin

    def origins(self) -> dict[str, Origin]:
        """The place of each attribute read so far, by the model's word."""
        return dict(self._fields)


@cache
def _lower(keywords: tuple[str, ...]) -> frozenset[str]:
    return frozenset(keyword.lower() for keyword in keywords)


def parse_line(line: StatementLine, parse: Callable[[str], T], expected: str) -> T:
    """Read the value of one line; refuse a missing or an unexpected one."""
    if not line.value:
        line.fail(f"{line.keyword} without a value", expected)
    try:
        return parse(line.value)
    except (ValueError, TypeError):
        line.fail(f"'{line.value}'", expected)


def bits(width: int) -> Callable[[str], int]:
    """Read a number of exactly so many binary digits."""

    def parse(text: str) -> int:
        if not re.fullmatch(rf"[01]{{{width}}}", text):
            raise ValueError
        return int(text, 2)

    return parse


def mask(width: int) -> Callable[[str], tuple[int, ...]]:
    """Read positions of ones, the leftmost digit is 1; at least one is set, and all of them are no condition."""

    def parse(text: str) -> tuple[int, ...]:
        digits = f"{bits(width)(text):0{width}b}"
        positions = tuple(place for place, digit in enumerate(digits, start=1) if digit == "1")
        if not positions:
            raise ValueError
        return () if len(positions) == width else positions

    return parse


def days(text: str) -> tuple[Day, ...]:
    """Read a mask of seven days, Sunday first (RFC 3060 section 6.5.3)."""
    return tuple(list(Day)[place - 1] for place in mask(7)(text)) or tuple(Day)


def whole(low: int, high: int = LARGEST) -> Callable[[str], int]:
    """Read a whole number between bounds."""

    def parse(text: str) -> int:
        if not re.fullmatch(r"\d{1,10}", text) or not low <= int(text) <= high:
            raise ValueError
        return int(text)

    return parse


def rate(basis: RateBasis) -> Callable[[str], Rate]:
    """Read a rate in kbit/s that counts these bits."""

    def parse(text: str) -> Rate:
        return Rate(value=Decimal(whole(1)(text)), unit=RateUnit.KBIT, basis=basis)

    return parse


def word(*choices: str) -> Callable[[str], str]:
    """Read one of a few words, in lower case."""

    def parse(text: str) -> str:
        if text.lower() not in choices:
            raise ValueError
        return text.lower()

    return parse


def unless_all(parse: Callable[[str], T]) -> Callable[[str], T | None]:
    """Read ``all`` as no condition."""
    return lambda text: None if text.lower() == "all" else parse(text)


def addresses(text: str) -> AddressRange:
    """Read one address, a prefix, or first and last with ``-`` or a blank between."""
    return AddressRange.parse(_dashed(text, r"\s+"))


def address(text: str) -> AnyAddress:
    """Read one address."""
    return parse_address(text)


def ports(text: str) -> PortRange:
    """Read one port number, or first and last with one kind of ``-``, ``:`` or a blank between."""
    return PortRange.parse(_dashed(text, r"\s*:\s*|\s+"))


def protocols(text: str) -> tuple[int, ...]:
    """Read protocol numbers of a range, or one protocol by number or name; all of them are no condition."""
    if not any(sign in text for sign in "-: "):
        return (parse_protocol(int(text) if text.isdigit() else text),)
    numbers = ports(text)
    if numbers.last > 255:
        raise ValueError
    return () if (numbers.first, numbers.last) == (0, 255) else tuple(range(numbers.first, numbers.last + 1))


def times(text: str) -> TimeRange:
    """Read ``8:00-17:30``, whole minutes; 24:00 is the end of the day."""
    if not re.fullmatch(r"\d{1,2}:\d{2}\s*-\s*\d{1,2}:\d{2}", text):
        raise ValueError
    return TimeRange.parse(text)


def moments(text: str) -> tuple[datetime, datetime]:
    """Read ``20000701000000:20050630235959``: year, month, day, hours, minutes, seconds."""
    match = re.fullmatch(r"(\d{14})\s*[:-]\s*(\d{14})", text)
    if match is None:
        raise ValueError
    first, last = (datetime.strptime(part, "%Y%m%d%H%M%S") for part in match.groups())
    if first > last:
        raise ValueError
    return first, last


def name(line: StatementLine, what: str, longest: int = 64) -> str:
    """Read the one name behind a keyword."""
    if len(line.words) != 2 or not 0 < len(line.words[1]) <= longest:
        line.fail(f"'{' '.join(line.words)}'", f"{what} with one name of at most {longest} characters")
    return line.words[1]


def _dashed(text: str, separator: str) -> str:
    parts = re.split(separator, text) if "-" not in text else [text]
    if len(parts) > 2:
        raise ValueError
    return "-".join(parts)
