"""IPv4 and IPv6 addresses, ranges and prefixes; MAC addresses."""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
    ip_interface,
    ip_network,
    summarize_address_range,
)
from socket import AF_INET, inet_pton
from typing import Annotated, Any, TypeAlias

from phb.values.text import Text, matching

AnyAddress: TypeAlias = IPv4Address | IPv6Address
AnyNetwork: TypeAlias = IPv4Network | IPv6Network
AnyInterface: TypeAlias = IPv4Interface | IPv6Interface


def parse_address(value: Any) -> AnyAddress:
    """Read an IPv4 or IPv6 address; bare integers and zones of IPv6 are refused, though `ipaddress` would take them."""
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
    """Read a prefix with its length, whose host bits are zero."""
    if isinstance(value, IPv4Network | IPv6Network):
        return value
    first, length = _prefix(value)
    return ip_network((first, length))


def parse_interface(value: Any) -> AnyInterface:
    """Read an address with the length of its network's prefix."""
    if isinstance(value, IPv4Interface | IPv6Interface):
        return value
    return ip_interface(_prefix(value))


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
        if value != value.strip():
            raise ValueError
        if "/" in value:
            start, length = _prefix(value)
            hosts = (1 << (start.max_prefixlen - length)) - 1
            if int(start) & hosts:
                raise ValueError
            return cls(start, start + hosts)
        first, separator, last = (part.strip(" ") for part in value.partition("-"))
        return cls(parse_address(first), parse_address(last if separator else first))

    @property
    def version(self) -> int:
        """4 or 6."""
        return self.first.version

    def prefixes(self) -> list[AnyNetwork]:
        """Give the fewest prefixes that cover exactly this range, lowest first."""
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
        """Read six pairs of hexadecimal digits, colons between them."""
        if isinstance(value, MacAddress):
            return value
        if not isinstance(value, str) or not _MAC.fullmatch(value.lower()):
            raise ValueError
        return cls(int(value.replace(":", ""), 16))

    def __str__(self) -> str:
        return ":".join(f"{byte:02x}" for byte in self.number.to_bytes(6, "big"))


_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_IPV4 = rf"(?:{_OCTET}\.){{3}}{_OCTET}"
_GROUP = "[0-9A-Fa-f]{1,4}"
_LAST = f"(?:{_GROUP}:{_GROUP}|{_IPV4})"
# RFC 3986 section 3.2.2, IPv6address.
_IPV6 = "|".join(
    [
        f"(?:{_GROUP}:){{6}}{_LAST}",
        f"::(?:{_GROUP}:){{5}}{_LAST}",
        *(f"(?:(?:{_GROUP}:){{0,{before}}}{_GROUP})?::(?:{_GROUP}:){{{4 - before}}}{_LAST}" for before in range(5)),
        f"(?:(?:{_GROUP}:){{0,5}}{_GROUP})?::{_GROUP}",
        f"(?:(?:{_GROUP}:){{0,6}}{_GROUP})?::",
    ]
)
_IPV6 = f"(?:{_IPV6})"
_PREFIXES = (rf"{_IPV4}/(?:3[0-2]|[12]?[0-9])", rf"{_IPV6}/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9])")

Address = Annotated[AnyAddress, Text(parse_address, "an IPv4 or IPv6 address", str, matching(_IPV4, _IPV6))]
Network = Annotated[
    AnyNetwork, Text(parse_network, "a prefix such as 133.10.50.0/24, host bits zero", str, matching(*_PREFIXES))
]
InterfaceAddress = Annotated[
    AnyInterface,
    Text(
        parse_interface,
        "an address with its prefix length, such as 10.0.1.1/24",
        str,
        matching(*_PREFIXES),
    ),
]
Addresses = Annotated[
    AddressRange,
    Text(
        AddressRange.parse,
        "an address, a range such as 10.0.0.1-10.0.0.9, or a prefix",
        str,
        matching(f"{_IPV4}(?: *- *{_IPV4})?", f"{_IPV6}(?: *- *{_IPV6})?", *_PREFIXES),
    ),
]
Mac = Annotated[
    MacAddress,
    Text(
        MacAddress.parse,
        "a MAC address such as 02:00:00:00:00:01",
        str,
        matching("[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){5}"),
    ),
]
