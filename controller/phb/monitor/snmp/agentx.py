"""Messages of AgentX, the protocol between an SNMP agent and those who know a part of its objects (RFC 2741).

Only what a subagent sends and gets: nothing here knows an object, or does input and output.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, NamedTuple

Oid = tuple[int, ...]
"""Object identifiers compare as tuples do: in the order of a walk."""

HEADER_BYTES: Final = 20
MOST_BYTES: Final = 1 << 20
"""Of one message's payload; what a master asks for in one go is some kilobytes."""
_VERSION: Final = 1
_CONTEXT: Final = 0x08
_NETWORK_ORDER: Final = 0x10
_INTERNET: Final = (1, 3, 6, 1)


class Message(IntEnum):
    """What a message is (section 6.1)."""

    OPEN = 1
    CLOSE = 2
    REGISTER = 3
    UNREGISTER = 4
    GET = 5
    GET_NEXT = 6
    GET_BULK = 7
    TEST_SET = 8
    COMMIT_SET = 9
    UNDO_SET = 10
    CLEANUP_SET = 11
    NOTIFY = 12
    PING = 13
    RESPONSE = 18


class Syntax(IntEnum):
    """Type of a value (section 5.4)."""

    INTEGER = 2
    OCTETS = 4
    NULL = 5
    OBJECT_ID = 6
    IP_ADDRESS = 64
    COUNTER32 = 65
    GAUGE32 = 66
    TIME_TICKS = 67
    OPAQUE = 68
    COUNTER64 = 70
    NO_SUCH_OBJECT = 128
    NO_SUCH_INSTANCE = 129
    END_OF_VIEW = 130


class Error(IntEnum):
    """Why a request fails: those of SNMP that a subagent may give, and AgentX' own (section 6.2.16)."""

    NONE = 0
    GENERAL = 5
    NO_ACCESS = 6
    WRONG_TYPE = 7
    WRONG_LENGTH = 8
    WRONG_VALUE = 10
    NO_CREATION = 11
    INCONSISTENT_VALUE = 12
    RESOURCE_UNAVAILABLE = 13
    COMMIT_FAILED = 14
    UNDO_FAILED = 15
    NOT_WRITABLE = 17
    INCONSISTENT_NAME = 18
    PARSE = 266
    REQUEST_DENIED = 267
    PROCESSING = 268


Value = int | bytes | Oid | None


class VarBind(NamedTuple):
    """A name and its value: a number, octets, an object identifier, or nothing, as `syntax` says."""

    name: Oid
    syntax: Syntax
    value: Value = None


class Range(NamedTuple):
    """What a master looks for: from `start` on, which counts itself with `include`, and below `end` (empty: no end)."""

    start: Oid
    include: bool
    end: Oid


class MalformedError(Exception):
    """A message that is none."""


@dataclass(frozen=True, slots=True)
class Header:
    """Of every message; `length` is that of the payload in bytes, `order` that of its numbers, as `struct` calls it."""

    message: Message
    session: int
    transaction: int
    packet: int
    length: int
    has_context: bool
    order: str


def read_header(octets: bytes) -> Header:
    """Read 20 bytes.

    Raises:
        MalformedError: Another version, an unknown message, or a payload that is too long or no multiple of 4.
    """
    version, message, flags, _ = struct.unpack_from("4B", octets)
    order = ">" if flags & _NETWORK_ORDER else "<"
    session, transaction, packet, length = struct.unpack_from(f"{order}4I", octets, 4)
    if version != _VERSION:
        raise MalformedError(f"AgentX version {version}")
    if length > MOST_BYTES or length % 4:
        raise MalformedError(f"a payload of {length} bytes")
    try:
        known = Message(message)
    except ValueError:
        raise MalformedError(f"message {message}") from None
    return Header(known, session, transaction, packet, length, bool(flags & _CONTEXT), order)


class Payload:
    """Reads a payload from its beginning.

    Every method raises `MalformedError` where the payload ends too early or has what isn't defined.
    """

    def __init__(self, octets: bytes, order: str) -> None:
        self._octets = octets
        self._order = order
        self._at = 0

    def more(self) -> bool:
        """Whether there is anything left."""
        return self._at < len(self._octets)

    def numbers(self, form: str) -> tuple[int, ...]:
        """Read numbers; `form` is that of `struct`."""
        form = self._order + form
        try:
            found = struct.unpack_from(form, self._octets, self._at)
        except struct.error:
            raise MalformedError("a message that ends too early") from None
        self._at += struct.calcsize(form)
        return found

    def octets(self) -> bytes:
        """Read an octet string."""
        (length,) = self.numbers("I")
        if length > len(self._octets) - self._at:
            raise MalformedError(f"an octet string of {length} bytes")
        found = self._octets[self._at : self._at + length]
        self._at += length + -length % 4
        return found

    def oid(self) -> tuple[Oid, bool]:
        """Read an object identifier and its `include`."""
        count, prefix, include, _ = self.numbers("4B")
        if count > 128:
            raise MalformedError(f"an object identifier of {count} parts")
        rest = self.numbers(f"{count}I")
        return ((*_INTERNET, prefix, *rest) if prefix else rest), bool(include)

    def ranges(self) -> list[Range]:
        """Read what is looked for, to the payload's end."""
        found = []
        while self.more():
            start, include = self.oid()
            end, _ = self.oid()
            found.append(Range(start, include, end))
        return found

    def bindings(self) -> list[VarBind]:
        """Read names and values, to the payload's end."""
        found = []
        while self.more():
            number, _ = self.numbers("2H")
            name, _ = self.oid()
            try:
                syntax = Syntax(number)
            except ValueError:
                raise MalformedError(f"a value of type {number}") from None
            found.append(VarBind(name, syntax, self._value(syntax)))
        return found

    def _value(self, syntax: Syntax) -> Value:
        if form := _NUMBERS.get(syntax):
            return self.numbers(form)[0]
        if syntax in _OCTETS:
            return self.octets()
        return self.oid()[0] if syntax is Syntax.OBJECT_ID else None


_NUMBERS: Final = {
    Syntax.INTEGER: "i",
    Syntax.COUNTER32: "I",
    Syntax.GAUGE32: "I",
    Syntax.TIME_TICKS: "I",
    Syntax.COUNTER64: "Q",
}
_OCTETS: Final = {Syntax.OCTETS, Syntax.IP_ADDRESS, Syntax.OPAQUE}


def message(kind: Message, session: int, transaction: int, packet: int, payload: bytes, context: bytes = b"") -> bytes:
    """Write a message; `context` goes before the payload where it isn't the default one."""
    flags = _NETWORK_ORDER
    if context:
        flags |= _CONTEXT
        payload = write_octets(context) + payload
    return struct.pack(">4B4I", _VERSION, kind, flags, 0, session, transaction, packet, len(payload)) + payload


def open_payload(timeout_s: int, description: str) -> bytes:
    """Write what `OPEN` says: a master waits at most `timeout_s` for an answer."""
    return struct.pack(">4B", timeout_s, 0, 0, 0) + write_oid(()) + write_octets(description.encode())


def register_payload(subtree: Oid) -> bytes:
    """Write what `REGISTER` says: all below `subtree` is ours, with the default priority and timeout."""
    return struct.pack(">4B", 0, 127, 0, 0) + write_oid(subtree)


def response_payload(error: Error, index: int, bindings: Iterable[VarBind]) -> bytes:
    """Write an answer; `index` is the place of the binding that failed, from 1."""
    return struct.pack(">IHH", 0, error, index) + write_bindings(bindings)


def write_bindings(bindings: Iterable[VarBind]) -> bytes:
    """Write names and values."""
    return b"".join(_binding(*binding) for binding in bindings)


def _binding(name: Oid, syntax: Syntax, value: Value) -> bytes:
    head = struct.pack(">2H", syntax, 0) + write_oid(name)
    if form := _NUMBERS.get(syntax):
        return head + struct.pack(">" + form, value)
    if isinstance(value, bytes):
        return head + write_octets(value)
    return head + write_oid(value) if isinstance(value, tuple) else head


def write_octets(octets: bytes) -> bytes:
    """Write an octet string."""
    return struct.pack(">I", len(octets)) + octets + bytes(-len(octets) % 4)


def write_oid(oid: Oid) -> bytes:
    """Write an object identifier."""
    prefix = 0
    if len(oid) > 4 and oid[:4] == _INTERNET and 0 < oid[4] < 256:
        prefix, oid = oid[4], oid[5:]
    return struct.pack(f">4B{len(oid)}I", len(oid), prefix, 0, 0, *oid)
