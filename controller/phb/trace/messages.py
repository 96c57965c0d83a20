"""Messages of traces, and the dicts that stand for them: those of the switch's JSON lines.

The messages are made at run time from a descriptor, which suits every version of protobuf's library. A member of a
dict has the field's name; fields that are zero, empty or false aren't there; bytes are hexadecimal, of frames without
``0x``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final, TypeAlias

from google.protobuf import descriptor_pb2, message_factory
from google.protobuf.message import Message

from phb.errors import InputError
from phb.origin import Origin

Trace: TypeAlias = dict[str, Any]
"""A Trace of `trace.proto` as its line of JSON."""

PACKAGE: Final = "phb.trace.v1"

_described = descriptor_pb2.FileDescriptorSet.FromString(files("phb.trace").joinpath("trace.binpb").read_bytes())
_messages: Final[Mapping[str, Any]] = message_factory.GetMessages(_described.file)

TraceMessage: Final = _messages[f"{PACKAGE}.Trace"]
WatchRequest: Final = _messages[f"{PACKAGE}.WatchRequest"]
WatchResponse: Final = _messages[f"{PACKAGE}.WatchResponse"]


@dataclass(frozen=True, slots=True)
class _Member:
    kind: str  # a message's name, or text, bytes, truth, number
    repeated: bool
    of_frame: bool
    low: int
    high: int
    choice: bool  # one of those of which a step has one
    optional: bool  # there is a difference between zero and not there


_KINDS = descriptor_pb2.FieldDescriptorProto
_WORDS = {_KINDS.TYPE_STRING: "text", _KINDS.TYPE_BYTES: "bytes", _KINDS.TYPE_BOOL: "truth"}
_RANGES = {
    _KINDS.TYPE_UINT32: (0, 2**32 - 1),
    _KINDS.TYPE_UINT64: (0, 2**64 - 1),
    _KINDS.TYPE_INT32: (-(2**31), 2**31 - 1),
}


def _members(message: descriptor_pb2.DescriptorProto) -> dict[str, _Member]:
    return {
        field.name: _Member(
            field.type_name.rpartition(".")[2] or _WORDS.get(field.type, "number"),
            field.label == _KINDS.LABEL_REPEATED,
            field.name == "frame",
            *_RANGES.get(field.type, (0, 0)),
            field.HasField("oneof_index") and not field.proto3_optional,
            field.proto3_optional,
        )
        for field in message.field
    }


_SHAPES = {message.name: _members(message) for file in _described.file for message in file.message_type}

KINDS: Final = frozenset(name for name, member in _SHAPES["Step"].items() if member.choice)
"""What a step may be: the member of its dict that says what happened."""


def as_dict(message: Message) -> Trace:
    """Give a message as the dict that a line of JSON is."""
    members = _SHAPES[message.DESCRIPTOR.name]
    return {field.name: _value(value, members[field.name]) for field, value in message.ListFields()}


def _value(value: Any, member: _Member) -> Any:
    if member.repeated:
        return [_single(each, member) for each in value]
    return _single(value, member)


def _single(value: Any, member: _Member) -> Any:
    if member.kind == "bytes":
        return value.hex() if member.of_frame else f"0x{value.hex()}"
    return as_dict(value) if member.kind in _SHAPES else value


def checked(value: Any, origin: Origin) -> Trace:
    """Check that what a line of JSON says is a trace, and give it as `as_dict` would.

    Raises:
        InputError: It isn't; the error has the place in the line, such as ``steps[3].table.key``.
    """
    return _checked(value, "Trace", "", origin)


def _checked(value: Any, kind: str, path: str, origin: Origin) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(value, path, f"an object of a {kind}", origin)
    members, found = _SHAPES[kind], {}
    chosen = [name for name in value if name in members and members[name].choice]
    if len(chosen) > 1:
        raise InputError(origin, f"{_at(path)}both '{chosen[0]}' and '{chosen[1]}'", "a step that is one thing")
    for name, each in value.items():
        inner = f"{path}.{name}" if path else name
        member = members.get(name)
        if member is None:
            raise InputError(origin, f"{_at(path)}a member '{name}'", f"one of {', '.join(members)}")
        if member.repeated:
            if not isinstance(each, list):
                raise _wrong(each, inner, "a list", origin)
            several = [_checked_single(one, member, f"{inner}[{at}]", origin) for at, one in enumerate(each)]
            if several:
                found[name] = several
        else:
            single = _checked_single(each, member, inner, origin)
            if member.optional or member.kind in _SHAPES or single not in (0, "", "0x"):
                found[name] = single
    return found


def _checked_single(value: Any, member: _Member, path: str, origin: Origin) -> Any:
    if member.kind in _SHAPES:
        return _checked(value, member.kind, path, origin)
    if member.kind == "text" and isinstance(value, str):
        return value
    if member.kind == "truth" and isinstance(value, bool):
        return value
    if member.kind == "number" and type(value) is int and member.low <= value <= member.high:
        return value
    if member.kind == "bytes" and isinstance(value, str) and (_FRAME if member.of_frame else _NUMBER).fullmatch(value):
        return value.lower()
    raise _wrong(value, path, _EXPECTED[member.kind].format(low=member.low, high=member.high), origin)


_NUMBER = re.compile(r"0[xX](?:[0-9a-fA-F]{2})*")
_FRAME = re.compile(r"(?:[0-9a-fA-F]{2})*")
_EXPECTED = {
    "text": "text",
    "truth": "true or false",
    "number": "a number from {low} to {high}",
    "bytes": "hexadecimal text, two digits a byte, with 0x where it isn't a frame",
}


def _wrong(value: Any, path: str, expected: str, origin: Origin) -> InputError:
    shown = repr(value)
    return InputError(origin, f"{_at(path)}{shown if len(shown) <= 60 else shown[:60] + '...'}", expected)


def _at(path: str) -> str:
    return f"at {path} " if path else ""
