"""Whole numbers as few octets: seven bits in each, the lowest first (LEB128), and all of them deflated."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator


def packed(numbers: Iterable[int]) -> bytes:
    """Pack numbers from 0."""
    octets = bytearray()
    append = octets.append
    for number in numbers:
        while number > 0x7F:
            append(number & 0x7F | 0x80)
            number >>= 7
        append(number)
    return zlib.compress(octets, 6)


def unpacked(octets: bytes) -> Iterator[int]:
    """Give the numbers again.

    Raises:
        ValueError: The octets aren't such.
    """
    try:
        inflated = zlib.decompress(octets)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    number = shift = 0
    for octet in inflated:
        if octet & 0x80:
            number |= (octet & 0x7F) << shift
            shift += 7
        else:
            yield number | octet << shift
            number = shift = 0
    if shift:
        raise ValueError("a number without an end")


def signed(number: int) -> int:
    """Make a number of any sign one from 0: 0, -1, 1, -2 and so on become 0, 1, 2, 3."""
    return number << 1 if number >= 0 else (-number << 1) - 1


def unsigned(number: int) -> int:
    """Undo `signed`."""
    return number >> 1 if not number & 1 else -(number + 1 >> 1)


# A float of few bits, as `phb.delays` has them: below PARTS as it is, above, each power of two in equal parts.
PARTS = 8
_BITS = PARTS.bit_length() - 1
ROUNDING = 1 / (2 * PARTS)
"""The most by which a value differs from what `rounded` made of it, as a part of the value."""


def rounded(value: int) -> int:
    """Give the code of a value, which is the smaller the more octets the codes of a series have in common."""
    if value < PARTS:
        return value
    octave = value.bit_length() - 1 - _BITS
    return octave * PARTS + (value >> octave)


def value_of(code: int) -> int:
    """Give the middle of the values that have this code."""
    if code < PARTS:
        return code
    octave = code // PARTS - 1
    least = (code % PARTS + PARTS) << octave
    return least + ((1 << octave) >> 1)
