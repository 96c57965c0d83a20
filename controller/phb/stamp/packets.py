"""Test packets of STAMP: 44 octets without authentication, 112 with it; what comes after them is TLVs (RFC 8972)."""

from __future__ import annotations

import hmac
import struct
from dataclasses import dataclass
from typing import Final

from phb.stamp.timestamps import ErrorEstimate

PORT: Final = 862
"""That of reflectors (RFC 8762 section 4.1)."""

LENGTH: Final = 44
AUTHENTICATED_LENGTH: Final = 112
_TAG: Final = 16
"""Octets that are left of HMAC-SHA-256."""

_REQUEST: Final = struct.Struct(">IQHH28x")
_REPLY: Final = struct.Struct(">IQHHQIQHxxB3x")
_AUTHENTICATED_REQUEST: Final = struct.Struct(">I12xQHH68x")
_AUTHENTICATED_REPLY: Final = struct.Struct(">I12xQHH4xQ8xI12xQH6xB15x")


@dataclass(frozen=True, slots=True)
class Request:
    """What a sender sends.

    Attributes:
        sequence: Of 32 bits, from 0.
        stamp: When it was sent, as on the wire.
        estimate: Error estimate, as on the wire.
        session: The sender's identifier (RFC 8972), 0 of senders that have none.
        rest: What comes after the packet: TLVs, or padding of TWAMP Light.
    """

    sequence: int
    stamp: int
    estimate: int = 1
    session: int = 0
    rest: bytes = b""

    def pack(self, key: bytes | None = None) -> bytes:
        """Give its octets, authenticated with a key."""
        fields = (self.sequence, self.stamp, self.estimate, self.session)
        if key is None:
            return _REQUEST.pack(*fields) + self.rest
        return _signed(_AUTHENTICATED_REQUEST.pack(*fields), key) + self.rest

    @classmethod
    def unpack(cls, octets: bytes, key: bytes | None = None) -> Request:
        """Read one.

        Raises:
            ValueError: It is too short, or the key isn't the sender's.
        """
        form = _REQUEST if key is None else _AUTHENTICATED_REQUEST
        sequence, stamp, estimate, session = form.unpack_from(_checked(octets, key))
        return cls(sequence, stamp, estimate, session, octets[length(key) :])


@dataclass(frozen=True, slots=True)
class Reply:
    """What a reflector sends back.

    Attributes:
        sequence: The reflector's own; a stateless one copies the sender's.
        stamp, received: When it was sent, when the request came: both by the reflector's clock.
        ttl: Of the request, as it came.
    """

    sequence: int
    stamp: int
    estimate: int
    session: int
    received: int
    sender_sequence: int
    sender_stamp: int
    sender_estimate: int
    ttl: int
    rest: bytes = b""

    def pack(self, key: bytes | None = None) -> bytes:
        """Give its octets, authenticated with a key."""
        fields = (
            *(self.sequence, self.stamp, self.estimate, self.session, self.received),
            *(self.sender_sequence, self.sender_stamp, self.sender_estimate, self.ttl),
        )
        if key is None:
            return _REPLY.pack(*fields) + self.rest
        return _signed(_AUTHENTICATED_REPLY.pack(*fields), key) + self.rest

    @classmethod
    def unpack(cls, octets: bytes, key: bytes | None = None) -> Reply:
        """Read one.

        Raises:
            ValueError: It is too short, or the key isn't the reflector's.
        """
        form = _REPLY if key is None else _AUTHENTICATED_REPLY
        fields: tuple[int, int, int, int, int, int, int, int, int] = form.unpack_from(_checked(octets, key))
        return cls(*fields, rest=octets[length(key) :])

    @property
    def clock(self) -> ErrorEstimate:
        """What the reflector says of its clock."""
        return ErrorEstimate.decode(self.estimate)


def length(key: bytes | None) -> int:
    """Give the octets of a packet without TLVs."""
    return LENGTH if key is None else AUTHENTICATED_LENGTH


def _signed(octets: bytes, key: bytes) -> bytes:
    return octets + hmac.digest(key, octets, "sha256")[:_TAG]


def _checked(octets: bytes, key: bytes | None) -> bytes:
    if len(octets) < length(key):
        raise ValueError("short")
    if key is not None:
        signed, tag = octets[: AUTHENTICATED_LENGTH - _TAG], octets[AUTHENTICATED_LENGTH - _TAG : AUTHENTICATED_LENGTH]
        if not hmac.compare_digest(hmac.digest(key, signed, "sha256")[:_TAG], tag):
            raise ValueError("not authentic")
    return octets
