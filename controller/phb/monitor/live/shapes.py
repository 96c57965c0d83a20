"""Whether data from outside has the shape that its TypedDict says: recordings are files, and anybody may write them."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any, Literal, NotRequired, TypeAlias, Union, get_args, get_origin, get_type_hints, is_typeddict

Check: TypeAlias = Callable[[Any], str | None]
"""Gives None, or where in a value something else was found and what was expected: ``.ports.wan.bps: a number``."""


def check_of(shape: Any) -> Check:
    """Give the check of a type: a TypedDict, a list, dict, tuple, union or literal, or what JSON has."""
    if is_typeddict(shape):
        return _fields(shape)
    origin, arguments = get_origin(shape), get_args(shape)
    if origin is NotRequired:
        return check_of(arguments[0])
    if origin is Literal:
        words = " or ".join(repr(each) for each in arguments)
        return lambda value: None if isinstance(value, str | int) and value in arguments else f": {words}"
    if origin in (Union, types.UnionType):
        return _either([check_of(each) for each in arguments])
    if origin is list:
        return _items(check_of(arguments[0]))
    if origin is tuple:
        return _tuple([check_of(each) for each in arguments])
    if origin is dict:
        return _entries(check_of(arguments[0]), check_of(arguments[1]))
    return _PLAIN[shape]


def _number(value: Any) -> str | None:
    good = (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and isfinite(value))
    return None if good else ": a number"


_PLAIN: dict[Any, Check] = {
    float: _number,
    int: lambda value: None if isinstance(value, int) and not isinstance(value, bool) else ": a whole number",
    bool: lambda value: None if isinstance(value, bool) else ": true or false",
    str: lambda value: None if isinstance(value, str) else ": a text",
    types.NoneType: lambda value: None if value is None else ": null",
}


def _fields(shape: Any) -> Check:
    hints = get_type_hints(shape, include_extras=True)
    checks = {name: check_of(each) for name, each in hints.items()}
    # Of annotations that are texts, a TypedDict doesn't know itself which aren't required.
    needed = [name for name, each in hints.items() if get_origin(each) is not NotRequired]

    def check(value: Any) -> str | None:
        if not isinstance(value, dict):
            return ": an object"
        for name in needed:
            if name not in value:
                return f".{name}: it to be there"
        return _first((f".{name}", checks[name], each) for name, each in value.items() if name in checks)

    return check


def _entries(key: Check, entry: Check) -> Check:
    def check(value: Any) -> str | None:
        if not isinstance(value, dict):
            return ": an object"
        return _first((".", key, name) for name in value) or _first((f".{n}", entry, each) for n, each in value.items())

    return check


def _items(item: Check) -> Check:
    def check(value: Any) -> str | None:
        if not isinstance(value, list):
            return ": a list"
        return _first((f".{number}", item, each) for number, each in enumerate(value))

    return check


def _tuple(items: list[Check]) -> Check:
    def check(value: Any) -> str | None:
        if not isinstance(value, list) or len(value) != len(items):
            return f": a list of {len(items)}"
        return _first((f".{n}", item, each) for n, (item, each) in enumerate(zip(items, value, strict=True)))

    return check


def _either(checks: list[Check]) -> Check:
    def check(value: Any) -> str | None:
        return None if any(each(value) is None for each in checks) else checks[0](value)

    return check


def _first(parts: Iterable[tuple[str, Check, Any]]) -> str | None:
    for where, check, value in parts:
        if (wrong := check(value)) is not None:
            return where + wrong
    return None
