"""Values as gNMI carries them: typed scalars, JSON, and JSON by RFC 7951 (gNMI specification, 2.3)."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from finsy.proto import gnmi

from phb_switch.errors import INVALID_ARGUMENT, UNIMPLEMENTED, StatusError
from phb_switch.gnmi import paths, schema
from phb_switch.gnmi.paths import Element, Path
from phb_switch.gnmi.schema import Kind, Leaf

Value = int | str
Datum = tuple[Path, Leaf, Value]
"""A leaf with its value."""

ENCODINGS: Final = (gnmi.Encoding.JSON, gnmi.Encoding.JSON_IETF, gnmi.Encoding.PROTO)

_RANGES = {
    Kind.INT32: range(-(1 << 31), 1 << 31),
    Kind.UINT32: range(1 << 32),
    Kind.UINT64: range(1 << 64),
}
_TEXT_FIELDS = ("string_val", "ascii_val")
_NUMBER_FIELDS = ("uint_val", "int_val")
_JSON_FIELDS = ("json_val", "json_ietf_val")


def check(encoding: int) -> None:
    """Refuses encodings that are not here.

    Raises:
        StatusError: UNIMPLEMENTED, as the specification has it for encodings; INVALID_ARGUMENT for unknown numbers.

    """
    if encoding not in ENCODINGS:
        known = encoding in gnmi.Encoding.values()
        name = gnmi.Encoding.Name(encoding) if known else str(encoding)  # type: ignore[arg-type]
        raise StatusError(UNIMPLEMENTED if known else INVALID_ARGUMENT, f"encoding {name} is not supported")


def typed(leaf: Leaf, value: Value, encoding: int) -> gnmi.TypedValue:
    """The value of one leaf."""
    if encoding == gnmi.Encoding.PROTO and leaf.kind is Kind.INT32 and isinstance(value, int):
        return gnmi.TypedValue(int_val=value)
    if encoding == gnmi.Encoding.PROTO:
        return gnmi.TypedValue(uint_val=value) if isinstance(value, int) else gnmi.TypedValue(string_val=value)
    return document(_scalar(leaf, value, encoding), encoding)


def document(content: Any, encoding: int) -> gnmi.TypedValue:
    """A JSON document."""
    data = json.dumps(content).encode()
    if encoding == gnmi.Encoding.JSON_IETF:
        return gnmi.TypedValue(json_ietf_val=data)
    return gnmi.TypedValue(json_val=data)


def _scalar(leaf: Leaf, value: Value, encoding: int) -> Value:
    if encoding != gnmi.Encoding.JSON_IETF:
        return value
    if leaf.kind is Kind.UINT64:
        return str(value)
    return f"{leaf.identity_module}:{value}" if leaf.kind is Kind.IDENTITY else value


def nested(data: Sequence[Datum], depth: int, encoding: int, *, top: bool = True) -> Any:
    """The JSON of what lies below a node.

    Args:
        data: the leaves at or below it.
        depth: how many elements its path has.
        encoding: JSON or JSON_IETF.
        top: whether this is the whole document.

    """
    if len(data) == 1 and len(data[0][0]) == depth:
        _, leaf, value = data[0]
        return _scalar(leaf, value, encoding)
    result: dict[str, Any] = {}
    by_element: dict[Element, list[Datum]] = {}
    for datum in data:
        by_element.setdefault(datum[0][depth], []).append(datum)
    for below in by_element.values():
        place = schema.names(below[0][0][: depth + 1])
        name = _member(place, encoding, top=top)
        content = nested(below, depth + 1, encoding, top=False)
        if place in schema.LISTS:
            result.setdefault(name, []).append(content)
        else:
            result[name] = content
    return result


def _member(place: tuple[str, ...], encoding: int, *, top: bool) -> str:
    """The name of a member; RFC 7951 puts the module before it at the top, and where it is not the parent's."""
    if encoding != gnmi.Encoding.JSON_IETF:
        return place[-1]
    module = schema.module_of(place)
    inherited = not top and schema.module_of(place[:-1]) == module
    return place[-1] if inherited else f"{module}:{place[-1]}"


def flattened(path: Path, value: gnmi.TypedValue) -> Iterator[tuple[Path, Value]]:
    """The leaves that a value, put at a path, sets.

    Raises:
        StatusError: INVALID_ARGUMENT, with the path.

    """
    field = value.WhichOneof("value")
    if field in _JSON_FIELDS:
        try:
            content = json.loads(getattr(value, field))
        except (ValueError, RecursionError):
            raise _wrong(path, "the value is not JSON") from None
        yield from _below(path, content)
    elif field in _TEXT_FIELDS or field in _NUMBER_FIELDS:
        yield from _below(path, getattr(value, field))
    else:
        raise _wrong(path, f"a value of type {field or 'nothing'} fits no leaf here")


def _below(path: Path, content: Any) -> Iterator[tuple[Path, Value]]:
    place = schema.names(path)
    leaf = schema.LEAVES.get(place)
    if leaf is not None:
        yield path, _coerced(path, leaf, content)
        return
    if place in schema.LISTS and not path[-1].keys:
        yield from _entries(path, content)
        return
    if place not in schema.CONTAINERS:
        raise _wrong(path, "the models here have no such node")
    if not isinstance(content, dict):
        raise _wrong(path, f"expected an object, found {_found(content)}")
    for name, member in content.items():
        yield from _below((*path, Element(name.rpartition(":")[2])), member)


def _entries(path: Path, content: Any) -> Iterator[tuple[Path, Value]]:
    key = schema.LISTS[schema.names(path)]
    if not isinstance(content, list):
        raise _wrong(path, f"expected a list, found {_found(content)}")
    for entry in content:
        if not isinstance(entry, dict):
            raise _wrong(path, f"expected a list of objects, found {_found(entry)}")
        bare = {name.rpartition(":")[2]: member for name, member in entry.items()}
        if not isinstance(bare.get(key), int | str) or isinstance(bare[key], bool):
            raise _wrong(path, f"an entry has no key {key}")
        yield from _below((*path[:-1], Element(path[-1].name, ((key, str(bare[key])),))), entry)


def _coerced(path: Path, leaf: Leaf, content: Any) -> Value:
    if leaf.kind in _RANGES:
        number = content
        if isinstance(content, str) and re.fullmatch("-?[0-9]{1,20}", content):
            number = int(content)
        if isinstance(number, int) and not isinstance(number, bool) and number in _RANGES[leaf.kind]:
            return number
    elif isinstance(content, str):
        return content.rpartition(":")[2] if leaf.kind is Kind.IDENTITY else content
    raise _wrong(path, f"expected {leaf.kind.value}, found {_found(content)}")


def _found(content: Any) -> str:
    words = json.dumps(content)
    return words if len(words) <= 60 else f"{words[:57]}..."


def _wrong(path: Path, message: str) -> StatusError:
    return StatusError(INVALID_ARGUMENT, f"{paths.text(path)}: {message}")
