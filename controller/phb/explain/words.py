"""Numbers of packets in the words of RFCs."""

from __future__ import annotations

from ipaddress import ip_address

from phb.intent import Exact, MatchValue, Prefix, Range, Ternary
from phb.values import CODE_POINTS

_NAMES = {number: name for name, number in CODE_POINTS.items()}
_ECN = {0: "", 1: " ECT(1)", 2: " ECT(0)", 3: " CE"}  # RFC 3168 section 5


def dscp_name(tos: int) -> str:
    """Give the name of the octet's DSCP, such as ``AF31``, or its number."""
    return _NAMES.get(tos >> 2, str(tos >> 2))


def tos_words(tos: int) -> str:
    """Give the octet as a number, and its DSCP and ECN bits: ``104 (AF31)``."""
    return f"{tos} ({dscp_name(tos)}{_ECN[tos & 3]})"


def field_words(field: str, wanted: MatchValue, found: int) -> str:
    """Write the packet's value and the one that a match field asks for: ``source_port 720, not 700-719``."""
    return f"{field} {_value(field, found, wanted)}, not {_wanted(field, wanted)}"


def _wanted(field: str, wanted: MatchValue) -> str:
    match wanted:
        case Range(low, high) if low != high:
            return f"{_value(field, low, wanted)}-{_value(field, high, wanted)}"
        case Range(number, _) | Exact(number):
            return _value(field, number, wanted)
        case Ternary(number, mask):
            return f"{_value(field, number, wanted)} under {_value(field, mask, wanted)}"
        case Prefix(number, length):
            return f"{_value(field, number, wanted)}/{length}"


def _value(field: str, number: int, wanted: MatchValue) -> str:
    if field in ("source", "destination"):
        # IPv6 ranges are prefixes in the tables; IPv4 ones stay ranges.
        wide = isinstance(wanted, Ternary)
        return str(ip_address(number.to_bytes(16 if wide else 4, "big")))
    return str(number)


def decimals(value: float, digits: int = 3) -> str:
    """Give a number with so many decimals, or with more where it would seem to be zero."""
    words = f"{value:.{digits}f}"
    return words if float(words) or not value else f"{value:.1g}"
