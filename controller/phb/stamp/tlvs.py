"""What may follow a test packet (RFC 8972): padding, and the class of service there and back."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final

_HEAD: Final = struct.Struct(">BBH")
HEAD: Final = _HEAD.size
_EXTRA_PADDING: Final = 1
_CLASS_OF_SERVICE: Final = 4

_UNRECOGNISED: Final = 0x80
_MALFORMED: Final = 0x40

_REFUSED: Final = 1
"""Of the two bits RP: the reflector sends back with another DSCP than it was asked for."""


def padding(octets: int) -> bytes:
    """Give a TLV of so many octets that says nothing, at least its head's 4."""
    return _HEAD.pack(_UNRECOGNISED, _EXTRA_PADDING, octets - HEAD) + bytes(octets - HEAD)


def ask_class(dscp: int) -> bytes:
    """Ask for a reply with this DSCP, and for the one that the request came with."""
    return _HEAD.pack(_UNRECOGNISED, _CLASS_OF_SERVICE, 4) + (dscp << 26).to_bytes(4)


@dataclass(frozen=True, slots=True)
class Class:
    """What a reflector says of classes of service.

    Attributes:
        wanted: DSCP that the reply was to have.
        came: That of the request when it came.
        ecn: Of the request when it came.
        refused: Whether the reply was sent with another DSCP than the one wanted.
    """

    wanted: int
    came: int
    ecn: int
    refused: bool


def class_of(rest: bytes) -> Class | None:
    """Read what a reply says of classes; None if the reflector doesn't know this TLV."""
    for flags, kind, at, size in _each(rest):
        if kind == _CLASS_OF_SERVICE and size == 4 and not flags & (_UNRECOGNISED | _MALFORMED):
            bits = int.from_bytes(rest[at : at + 4])
            return Class(bits >> 26, bits >> 20 & 0x3F, bits >> 18 & 3, bits >> 16 & 3 == _REFUSED)
    return None


def answered(rest: bytes, tos: int) -> tuple[bytes, int]:
    """Give what follows a reply, as long as what followed the request, and the reply's DSCP.

    Unknown TLVs go back marked as such. What isn't a TLV goes back as it is, so that padding of TWAMP Light does.

    Args:
        rest: What followed the request.
        tos: The request's ToS octet or traffic class, as it came.
    """
    dscp = tos >> 2
    if not any(rest):
        return rest, dscp
    octets = bytearray(rest)
    for _, kind, at, size in _each(rest):
        start = at - HEAD
        if at + size > len(rest):
            octets[start] = octets[start] & ~_UNRECOGNISED | _MALFORMED
        elif kind == _CLASS_OF_SERVICE and size == 4:
            dscp = rest[at] >> 2
            octets[start] &= ~_UNRECOGNISED
            octets[at : at + 4] = (dscp << 26 | tos >> 2 << 20 | (tos & 3) << 18).to_bytes(4)
        elif kind == _EXTRA_PADDING:
            octets[start] &= ~_UNRECOGNISED
        else:
            octets[start] |= _UNRECOGNISED
    return bytes(octets), dscp


def _each(rest: bytes) -> list[tuple[int, int, int, int]]:
    """Give flags, type, place and size of each value; the last may go beyond the end."""
    found, at = [], 0
    while at + HEAD <= len(rest):
        flags, kind, size = _HEAD.unpack_from(rest, at)
        found.append((flags, kind, at + HEAD, size))
        at += HEAD + size
    return found
