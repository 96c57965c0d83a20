"""The small values a policy is made of: addresses, ranges, ToS octets, times.

Each is written as text in a policy file. `Text` makes a parser a pydantic field type; a parser that refuses raises
ValueError, and the user is told what was expected there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, time
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_network,
    summarize_address_range,
)
from socket import AF_INET, inet_pton
from typing import Annotated, Any, TypeAlias
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

AnyAddress: TypeAlias = IPv4Address | IPv6Address
AnyNetwork: TypeAlias = IPv4Network | IPv6Network


def is_integer(value: Any) -> bool:
    """Whether this is a whole number; Python counts booleans as such, a policy doesn't."""
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True)
class Text:
    """Marks a field whose value is parsed from what stands in the file.

    Attributes:
        parse: Gives the value, or raises ValueError.
        expected: What the user is told to write there.
        write: Gives back what stands in a file; the inverse of `parse`.
        types: JSON types the written form may have.

    """

    parse: Callable[[Any], Any]
    expected: str
    write: Callable[[Any], Any] = str
    types: tuple[str, ...] = ("string",)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._validate,
            serialization=core_schema.plain_serializer_function_ser_schema(self.write),
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        types: Any = self.types[0] if len(self.types) == 1 else list(self.types)
        return {"type": types, "description": self.expected}

    def _validate(self, value: Any) -> Any:
        try:
            return self.parse(value)
        except (ValueError, TypeError):
            raise ValueError(self.expected) from None


@dataclass(frozen=True)
class Within:
    """Marks an integer field with its bounds; refuses booleans, strings and floats."""

    low: int
    high: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._validate, serialization=core_schema.plain_serializer_function_ser_schema(int)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}

    def _validate(self, value: Any) -> int:
        if is_integer(value) and self.low <= value <= self.high:
            return int(value)
        raise ValueError(f"an integer from {self.low} to {self.high}")


# ---------------------------------------------------------------------------
# Addresses
# ---------------------------------------------------------------------------


def parse_address(value: Any) -> AnyAddress:
    """One IPv4 or IPv6 address; bare integers and zones of IPv6 are refused, though `ipaddress` would take them."""
    if isinstance(value, IPv4Address | IPv6Address):
        return value
    if not isinstance(value, str) or "%" in value:
        raise ValueError
    try:
        # The C library's parser takes the same texts, in a tenth of the time.
        return IPv4Address(int.from_bytes(inet_pton(AF_INET, value)))
    except (OSError, ValueError):
        return IPv6Address(value)


def parse_network(value: Any) -> AnyNetwork:
    """A prefix with its length, whose host bits are zero."""
    if isinstance(value, IPv4Network | IPv6Network):
        return value
    first, length = _prefix(value)
    return ip_network((first, length))


def _prefix(value: Any) -> tuple[AnyAddress, int]:
    if not isinstance(value, str):
        raise TypeError
    address, _, written = value.partition("/")
    first = parse_address(address)
    if not _LENGTH.fullmatch(written) or int(written) > first.max_prefixlen:
        raise ValueError
    return first, int(written)


_LENGTH = re.compile(r"0|[1-9][0-9]{0,2}")


@dataclass(frozen=True, slots=True)
class AddressRange:
    """All addresses from `first` to `last`, both included, of one IP version."""

    first: AnyAddress
    last: AnyAddress

    def __post_init__(self) -> None:
        if self.first.version != self.last.version or int(self.first) > int(self.last):
            raise ValueError("an address range runs from low to high within one IP version")

    @classmethod
    def parse(cls, value: Any) -> AddressRange:
        """``A``, ``A-B`` or ``A/LENGTH``."""
        if isinstance(value, AddressRange):
            return value
        if not isinstance(value, str):
            raise TypeError
        if "/" in value:
            start, length = _prefix(value)
            hosts = (1 << (start.max_prefixlen - length)) - 1
            if int(start) & hosts:
                raise ValueError
            return cls(start, start + hosts)
        first, separator, last = (part.strip() for part in value.partition("-"))
        return cls(parse_address(first), parse_address(last if separator else first))

    @property
    def version(self) -> int:
        """4 or 6."""
        return self.first.version

    def prefixes(self) -> list[AnyNetwork]:
        """The fewest prefixes that cover exactly this range, lowest first."""
        # The two calls look alike; typeshed has one overload per version.
        if isinstance(self.first, IPv4Address) and isinstance(self.last, IPv4Address):
            return list(summarize_address_range(self.first, self.last))
        assert isinstance(self.first, IPv6Address)
        assert isinstance(self.last, IPv6Address)
        return list(summarize_address_range(self.first, self.last))

    def __str__(self) -> str:
        if self.first == self.last:
            return str(self.first)
        prefixes = self.prefixes()
        return str(prefixes[0]) if len(prefixes) == 1 else f"{self.first}-{self.last}"


_MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")


@dataclass(frozen=True, slots=True)
class MacAddress:
    """An IEEE 802 MAC address, written ``02:00:00:00:00:01``."""

    number: int

    @classmethod
    def parse(cls, value: Any) -> MacAddress:
        """Six pairs of hexadecimal digits, colons between them."""
        if isinstance(value, MacAddress):
            return value
        if not isinstance(value, str) or not _MAC.fullmatch(value.lower()):
            raise ValueError
        return cls(int(value.replace(":", ""), 16))

    def __str__(self) -> str:
        return ":".join(f"{byte:02x}" for byte in self.number.to_bytes(6, "big"))


# ---------------------------------------------------------------------------
# Protocols and port numbers
# ---------------------------------------------------------------------------

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
        match = re.fullmatch(r"(\d{1,5})(?:\s*-\s*(\d{1,5}))?", value.strip())
        if match is None:
            raise ValueError
        return cls(int(match[1]), int(match[2] or match[1]))

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    @staticmethod
    def write(ports: PortRange) -> str | int:
        """A single port as a number, a range as text."""
        return ports.first if ports.first == ports.last else str(ports)


# ---------------------------------------------------------------------------
# ToS octet and DSCP
# ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypeOfService:
    """Bits of the IPv4 ToS octet or the IPv6 traffic class: `value` where `mask` has ones.

    RFC 791 puts precedence into the upper three bits, RFC 2474 the DSCP into the upper six.
    """

    value: int
    mask: int = 0xFF

    def __post_init__(self) -> None:
        if not (0 <= self.value <= 0xFF and 0 <= self.mask <= 0xFF):
            raise ValueError("a ToS octet has eight bits")
        if self.value & ~self.mask:
            raise ValueError("the value has ones where the mask has zeros")

    @classmethod
    def parse(cls, value: Any) -> TypeOfService:
        """``192`` (all eight bits), or ``{value: 192, mask: 224}``."""
        if isinstance(value, TypeOfService):
            return value
        if is_integer(value):
            return cls(int(value))
        if not isinstance(value, dict) or set(value) != {"value", "mask"}:
            raise ValueError
        if not is_integer(value["value"]) or not is_integer(value["mask"]):
            raise TypeError
        return cls(int(value["value"]), int(value["mask"]))

    @staticmethod
    def write(tos: TypeOfService) -> int | dict[str, int]:
        """The inverse of `parse`."""
        return tos.value if tos.mask == 0xFF else {"value": tos.value, "mask": tos.mask}


def _code_points() -> Iterator[tuple[str, int]]:
    for number in range(8):
        yield f"CS{number}", number << 3  # RFC 2474 section 4.2.2
    for assured in range(1, 5):
        for drop in range(1, 4):
            yield f"AF{assured}{drop}", (assured << 3) | (drop << 1)  # RFC 2597 section 6
    yield "EF", 46  # RFC 3246
    yield "VA", 44  # RFC 5865


CODE_POINTS = dict(_code_points())


def parse_code_point(value: Any) -> int:
    """A DSCP's name or number."""
    if isinstance(value, str):
        return CODE_POINTS[value.upper()] if value.upper() in CODE_POINTS else _refuse()
    if not is_integer(value) or not 0 <= value <= 63:
        raise ValueError
    return int(value)


def _refuse() -> int:
    raise ValueError


@dataclass(frozen=True, slots=True)
class PriorityCodePoint:
    """The 802.1p priority of a tagged frame: `value` where `mask` has ones (IEEE 802.1Q)."""

    value: int
    mask: int = 7

    def __post_init__(self) -> None:
        if not (0 <= self.value <= 7 and 0 <= self.mask <= 7) or self.value & ~self.mask:
            raise ValueError("a priority code point has three bits, none of them outside the mask")

    @classmethod
    def parse(cls, value: Any) -> PriorityCodePoint:
        """``5`` (all three bits), or ``{value: 4, mask: 4}``."""
        if isinstance(value, PriorityCodePoint):
            return value
        if is_integer(value):
            return cls(int(value))
        if not isinstance(value, dict) or set(value) != {"value", "mask"}:
            raise ValueError
        if not is_integer(value["value"]) or not is_integer(value["mask"]):
            raise TypeError
        return cls(int(value["value"]), int(value["mask"]))

    @staticmethod
    def write(pcp: PriorityCodePoint) -> int | dict[str, int]:
        """The inverse of `parse`."""
        return pcp.value if pcp.mask == 7 else {"value": pcp.value, "mask": pcp.mask}


# ---------------------------------------------------------------------------
# Time of day
# ---------------------------------------------------------------------------


_TIMES = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d))?\s*-\s*(\d{1,2}):(\d\d)(?::(\d\d))?")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?")


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A time of day from `first` until `last`: 8:00-17:30 ends when the clock shows 17:30.

    A range whose end lies before its start runs over midnight. An end of midnight is written 24:00.
    """

    first: time
    last: time

    def __post_init__(self) -> None:
        if self.first == self.last != time(0):
            raise ValueError("a time range that ends where it begins is none, but for 0:00-24:00")

    @classmethod
    def parse(cls, value: Any) -> TimeRange:
        """``8:00-17:30``, with seconds if need be; the end may be ``24:00``."""
        if isinstance(value, TimeRange):
            return value
        if not isinstance(value, str):
            raise TypeError
        match = _TIMES.fullmatch(value.strip())
        if match is None:
            raise ValueError
        hour, minute, second, last_hour, last_minute, last_second = (int(part or 0) for part in match.groups())
        first = time(hour, minute, second)
        if (last_hour, last_minute, last_second) == (24, 0, 0):
            return cls(first, time(0))
        last = time(last_hour, last_minute, last_second)
        if first == last:
            raise ValueError
        return cls(first, last)

    def contains(self, at: datetime) -> bool:
        """Whether the range holds when a clock shows this."""
        clock = at.time()
        if self.first < self.last:
            return self.first <= clock < self.last
        return clock >= self.first or clock < self.last

    def __str__(self) -> str:
        return f"{_clock(self.first)}-{_clock(self.last) if self.last != time(0) else '24:00'}"


def _clock(at: time) -> str:
    return f"{at:%H:%M:%S}" if at.second else f"{at:%H:%M}"


def parse_moment(value: Any) -> datetime:
    """A date and time of day by some clock; the zone is said elsewhere."""
    if isinstance(value, datetime) and value.tzinfo is None:
        return value
    if not isinstance(value, str) or not _MOMENT.fullmatch(value):
        raise ValueError
    return datetime.fromisoformat(value)


def write_moment(at: datetime) -> str:
    """The inverse of `parse_moment`."""
    return at.isoformat(timespec="seconds" if at.second else "minutes")


def parse_zone(value: Any) -> ZoneInfo:
    """A time zone of the IANA database."""
    if isinstance(value, ZoneInfo):
        return value
    if not isinstance(value, str):
        raise TypeError
    try:
        return ZoneInfo(value)
    except (ZoneInfoNotFoundError, OSError, ValueError) as error:
        raise ValueError(value) from error


# ---------------------------------------------------------------------------
# Field types
# ---------------------------------------------------------------------------

Address = Annotated[AnyAddress, Text(parse_address, "an IPv4 or IPv6 address")]
Network = Annotated[AnyNetwork, Text(parse_network, "a prefix such as 133.10.50.0/24, host bits zero")]
Addresses = Annotated[
    AddressRange, Text(AddressRange.parse, "an address, a range such as 10.0.0.1-10.0.0.9, or a prefix")
]
Mac = Annotated[MacAddress, Text(MacAddress.parse, "a MAC address such as 02:00:00:00:00:01")]
Protocol = Annotated[
    int,
    Text(
        parse_protocol,
        f"a protocol number from 0 to 255 or one of {', '.join(PROTOCOLS)}",
        write_protocol,
        ("string", "integer"),
    ),
]
Ports = Annotated[
    PortRange,
    Text(PortRange.parse, "a port number or a range such as 700-719", PortRange.write, ("string", "integer")),
]
Tos = Annotated[
    TypeOfService,
    Text(
        TypeOfService.parse,
        "a ToS octet from 0 to 255, or {value: 0-255, mask: 0-255} with no value bits outside the mask",
        TypeOfService.write,
        ("integer", "object"),
    ),
]
CodePoint = Annotated[
    int,
    Text(parse_code_point, "a DSCP from 0 to 63 or a name such as EF, AF41, CS6", int, ("string", "integer")),
]
Pcp = Annotated[
    PriorityCodePoint,
    Text(
        PriorityCodePoint.parse,
        "an 802.1p priority from 0 to 7, or {value: 0-7, mask: 0-7} with no value bits outside the mask",
        PriorityCodePoint.write,
        ("integer", "object"),
    ),
]
Zone = Annotated[ZoneInfo, Text(parse_zone, "a time zone of the IANA database such as Europe/Berlin or UTC")]
Times = Annotated[TimeRange, Text(TimeRange.parse, "a time range such as 8:00-17:30 or 22:00-24:00")]
Moment = Annotated[datetime, Text(parse_moment, "a local date and time such as 2026-03-01T08:00", write_moment)]
