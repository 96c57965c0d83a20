"""Values of traces in words: numbers, addresses, matches, times, bytes that differ."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from ipaddress import ip_address
from typing import Any, Final

_WIDEST_NUMBER: Final = 8
"""Bytes of a value up to which it is a decimal number; 128-bit ones are unreadable so."""

_ADDRESS = ("addr", "source", "destination", "src", "dst", "hop", "mac", "ipv4", "ipv6", "gateway")


def number(value: str) -> int:
    """Give the number of ``0x0a``; 0 of ``0x``."""
    return int(value, 16) if len(value) > 2 else 0


def shown(value: str, name: str = "") -> str:
    """Write a value: an address where width and the field's name say so, else a number."""
    octets = bytes.fromhex(value[2:])
    last = name.rpartition(".")[2].lower()
    if any(word in last for word in _ADDRESS) and "port" not in last:
        if len(octets) in (4, 16):
            return str(ip_address(octets))
        if len(octets) == 6:
            return octets.hex(":")
    return str(number(value)) if len(octets) <= _WIDEST_NUMBER else value


def named(fields: list[dict[str, Any]]) -> str:
    """Write fields with their values: ``hdr.ipv4.ttl 63, hdr.ipv4.protocol 6``."""
    return ", ".join(
        f"{each.get('name', '?')} {shown(each.get('value', '0x'), each.get('name', ''))}" for each in fields
    )


def match(asked: dict[str, Any], name: str) -> str | None:
    """Write how an entry matches a field; None if every value does.

    Traces have no widths: where a field isn't whole bytes wide, a mask or a range of all of its bits is written out.
    """
    value, second, kind = asked.get("value", "0x"), asked.get("second", "0x"), asked.get("kind")
    words = shown(value, name)
    if kind == "prefix":
        length = asked.get("length", 0)
        return f"{words}/{length}" if length else None
    every = (1 << 4 * (len(second) - 2)) - 1
    if kind == "ternary":
        mask = number(second)
        if mask == 0:
            return None
        return words if mask == every else f"{value} &&& {second}"
    if kind == "range":
        low, high = number(value), number(second)
        if low == 0 and high == every:
            return None
        return words if low == high else f"{words}-{shown(second, name)}"
    return words


def milliseconds(nanoseconds: int) -> str:
    """Write a span of time: ``4.812 ms``."""
    return f"{nanoseconds / 1e6:.3f} ms" if nanoseconds >= 1000 or not nanoseconds else f"{nanoseconds} ns"


def changed(before: bytes, after: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """Give the stretches of two frames that differ: where in the first, its bytes, and those of the second."""
    if len(before) == len(after):
        at = 0
        while at < len(before):
            end = at
            while end < len(before) and before[end] != after[end]:
                end += 1
            if end > at:
                yield at, before[at:end], after[at:end]
            at = end + 1
        return
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for kind, first, last, other_first, other_last in matcher.get_opcodes():
        if kind != "equal":
            yield first, before[first:last], after[other_first:other_last]
