"""Conditions as short text on a command line: ``source=10.0.0.0/8 protocol=tcp dscp!=ef``, or YAML in braces."""

from __future__ import annotations

import re
import shlex
from typing import Any, TypeVar

from phb.errors import InputError
from phb.formats.yaml_format import document, item_of
from phb.model import Item
from phb.origin import UNKNOWN, Origin
from phb.searching.conditions import TreatmentConditions, inner

T = TypeVar("T", bound=Item)

_WORD = re.compile(r"([a-z0-9-]+)(!?=)(.*)", re.DOTALL)


def parse(text: str, option: str, kind: type[T]) -> T:
    """Read the conditions of one option.

    Values are those of YAML, in the shell's quotes where they have blanks; ``KEY!=VALUE`` is what must not hold of a
    treatment.

    Raises:
        InputError: It isn't a list of such words, or a condition is wrong; its place is the option.
    """
    origin = Origin(option)
    if text.lstrip().startswith("{"):
        values = document.load(text, option)
    else:
        values = _values(text, origin, may_deny=issubclass(kind, TreatmentConditions))
    item = item_of(values, origin, kind)
    if isinstance(item, TreatmentConditions):
        for each in inner(item):
            if each.origin() is UNKNOWN:
                each.at(origin)
    return item


def _values(text: str, origin: Origin, *, may_deny: bool) -> dict[str, Any]:
    example = "words such as protocol=tcp dscp=ef, or {YAML}"
    try:
        words = shlex.split(text)
    except ValueError:
        raise InputError(origin, f"'{text}', a quote without its end", example) from None
    if not words:
        raise InputError(origin, "nothing", example)
    values: dict[str, Any] = {}
    denied: list[dict[str, Any]] = []
    for word in words:
        match = _WORD.fullmatch(word)
        if match is None or not match[3]:
            raise InputError(origin, f"'{word}'", example)
        key, value = match[1], document.plain(match[3])
        if match[2] == "!=":
            if not may_deny:
                raise InputError(origin, f"'{word}'", f"'{key}=...' in --unless: packets that aren't meant")
            denied.append({"not": {key: value}})
        elif key in values:
            raise InputError(origin, f"'{key}' twice", "it once; --match, --unless and --treatment may be repeated")
        else:
            values[key] = value
    return {**values, "all": denied} if denied else values
