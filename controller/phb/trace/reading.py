"""Files of traces: lines of JSON, or protobuf messages that each follow their length. Which it is, the file tells."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO, Final

from google.protobuf.message import DecodeError

from phb.errors import InputError
from phb.files import in_words, open_file
from phb.origin import Origin
from phb.trace.messages import Trace, TraceMessage, as_dict, checked

LARGEST: Final = 16 << 20
"""Bytes of one trace; a switch bounds its own to far less."""

STDIN: Final = "-"

_EXPECTED = "traces: lines of JSON, or protobuf messages behind their lengths"


def read_traces(path: str) -> Iterator[tuple[Origin, Trace]]:
    """Read traces one by one, each with its place: the line of JSON, or the number of the message. ``-`` is stdin.

    Raises:
        InputError: The file can't be read, or has something else in it.
    """
    name = "standard input" if path == STDIN else path
    try:
        if path == STDIN:
            yield from _read(sys.stdin.buffer, name)
        else:
            with open_file(path, "a readable file of traces") as file:
                yield from _read(file, name)
    except OSError as problem:
        raise InputError(Origin(name), in_words(problem), "a readable file of traces") from None


def _read(file: BinaryIO, name: str) -> Iterator[tuple[Origin, Trace]]:
    begins = file.peek(2)[:2] if hasattr(file, "peek") else b""
    # A length of 123 is a brace, too; but a message begins with the tag of its number.
    return _messages(file, name) if begins[:1] not in b"{ \t\r\n" or begins[1:] == b"\x08" else _lines(file, name)


def _lines(file: BinaryIO, name: str) -> Iterator[tuple[Origin, Trace]]:
    number = 0
    while line := file.readline(LARGEST + 1):
        number += 1
        origin = Origin(name, number)
        if len(line) > LARGEST:
            raise InputError(origin, f"a line of more than {LARGEST >> 20} MiB", "a trace as JSON")
        if not line.isspace():
            yield origin, checked(_decoded(line, origin), origin)


def _decoded(line: bytes, origin: Origin) -> Any:
    try:
        return json.loads(line)
    except UnicodeDecodeError:
        raise InputError(origin, "a line that isn't UTF-8", "a trace as JSON") from None
    except json.JSONDecodeError as error:
        found = f"at column {error.colno} broken JSON ({error.msg})"
        raise InputError(origin, found, "a trace as JSON") from None
    except (RecursionError, ValueError):
        raise InputError(origin, "JSON too deep, or a number too long", "a trace as JSON") from None


def _messages(file: BinaryIO, name: str) -> Iterator[tuple[Origin, Trace]]:
    number = 1
    while (size := _length(file, origin := Origin(name, number))) is not None:
        if size > LARGEST:
            raise InputError(origin, f"a message of {size} bytes", _EXPECTED)
        content = file.read(size)
        if len(content) < size:
            raise InputError(origin, f"{len(content)} bytes of a message of {size}", "a whole one: the file is cut off")
        try:
            yield origin, as_dict(TraceMessage.FromString(content))
        except DecodeError:
            raise InputError(origin, "bytes that are no trace", _EXPECTED) from None
        number += 1


def _length(file: BinaryIO, origin: Origin) -> int | None:
    """Read a length (a varint); None at the end."""
    size = shift = 0
    while octet := file.read(1):
        size |= (octet[0] & 0x7F) << shift
        shift += 7
        if not octet[0] & 0x80:
            return size
        if shift > 63:
            raise InputError(origin, "a length of more than 63 bits", _EXPECTED)
    if shift:
        raise InputError(origin, "half a length", "a whole message: the file is cut off")
    return None
