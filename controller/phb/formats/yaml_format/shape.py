"""The possible keys and values at each place of a policy file, from the model's type annotations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from phb.model import Item, PolicySet
from phb.model.base import OneOrMany
from phb.values import Text, Within

Location = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Root:
    """The model of a whole file, a policy or another one of phb."""

    item: type[Item]
    version_key: str  # "" of items that stand in no file of their own


POLICY = Root(PolicySet, "phb")


@cache
def aliases(item: type[Item]) -> dict[str, str]:
    """Give the key in a file of each field."""
    return {name: field.alias or name for name, field in item.model_fields.items()}


def items_in(annotation: Any) -> Iterator[type[Item]]:
    """Give the items that a field of this type may hold."""
    for kind, _ in _alternatives(annotation):
        if isinstance(kind, type) and issubclass(kind, Item):
            yield kind
        elif get_origin(kind) is tuple:
            for element in get_args(kind):
                if element is not ...:
                    yield from items_in(element)


def keys_at(location: Location, root: Root) -> list[str]:
    """Give the keys that a mapping at this place may have."""
    keys = {key for kind, _ in _at(location, root) for item in items_in(kind) for key in aliases(item).values()}
    if root.version_key and not location:
        keys.add(root.version_key)
    return sorted(keys)


def homes(location: Location, key: str, root: Root) -> Iterator[str]:
    """Find places nearby for a key that may not stand here: a step deeper, or with another kind."""
    for kind, _ in _at(location, root):
        for item in items_in(kind):
            for name, outer in aliases(item).items():
                if any(key in aliases(inner).values() for inner in items_in(item.model_fields[name].annotation)):
                    yield f"in '{outer}'"
    for kind, _ in _at(location[:-1], root):
        tag = _tag(kind)
        if tag is not None and tag != location[-1] and key in aliases(kind).values():
            yield f"with kind '{tag}'"


def expected_at(location: Location, root: Root) -> str:
    """Describe what may stand at this place."""
    found = list(_at(location, root))
    tags = [_tag(kind) for kind, _ in found]
    if len(found) > 1 and all(tags):
        return f"a mapping whose 'kind' is {one_of(tags)}"
    return " or ".join(dict.fromkeys(_words(kind, marks) for kind, marks in found))


def one_of(choices: Iterable[Any]) -> str:
    """Write a choice between values."""
    shown = [f"'{choice}'" if isinstance(choice, str) else str(choice) for choice in choices]
    return f"one of {', '.join(shown)}" if len(shown) > 1 else shown[0]


def _words(kind: Any, marks: tuple[Any, ...]) -> str:
    for mark in marks:
        if isinstance(mark, Text):
            return mark.expected
        if isinstance(mark, Within):
            return f"an integer from {mark.low} to {mark.high}"
    if get_origin(kind) is Literal:
        return one_of(get_args(kind))
    if get_origin(kind) is tuple:
        several = "a list" if ... in get_args(kind) else f"a list of {len(get_args(kind))}"
        single = any(isinstance(mark, OneOrMany) for mark in marks)
        return f"a mapping or {several} of them" if single else several
    if issubclass(kind, Enum):
        return one_of(member.value for member in kind)
    if issubclass(kind, Item):
        return _item(kind)
    return {bool: "true or false", str: "text"}.get(kind, "a number")


def _item(item: type[Item]) -> str:
    extra = item.model_config.get("json_schema_extra")
    examples: Any = extra.get("examples") if isinstance(extra, dict) else None
    if examples:
        written = ", ".join(f"{key}: {value}" for key, value in examples[0].items())
        return f"a mapping such as {{{written}}}"
    required = [f"'{key}'" for name, key in aliases(item).items() if item.model_fields[name].is_required()]
    return f"a mapping with {' and '.join(required)}" if required else "a mapping"


def _tag(kind: Any) -> str | None:
    """Give the 'kind' that an item is written with, where several may stand in one place."""
    if not (isinstance(kind, type) and issubclass(kind, Item)) or "kind" not in kind.model_fields:
        return None
    annotation = kind.model_fields["kind"].annotation
    return str(get_args(annotation)[0]) if get_origin(annotation) is Literal else None


def _at(location: Location, root: Root) -> list[tuple[Any, tuple[Any, ...]]]:
    """Give the types, with their marks, that may stand at this place; parts that name nothing are skipped."""
    here: list[tuple[Any, tuple[Any, ...]]] = [(root.item, ())]
    for part in location:
        inside = [found for kind, _ in here for found in _step(kind, part)]
        here = inside or here
    return here


def _step(kind: Any, part: str | int) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    if get_origin(kind) is tuple and isinstance(part, int):
        elements = get_args(kind)
        yield from _alternatives(elements[0] if ... in elements else elements[min(part, len(elements) - 1)])
    elif isinstance(kind, type) and issubclass(kind, Item):
        if part == _tag(kind):
            yield kind, ()
        for name, key in aliases(kind).items():
            if key == part:
                field = kind.model_fields[name]
                yield from _alternatives(field.annotation, tuple(field.metadata))


def _alternatives(annotation: Any, marks: tuple[Any, ...] = ()) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Give the single types of a union, each with its own marks; nothing at all is no alternative."""
    if get_origin(annotation) is Annotated:
        inner, *own = get_args(annotation)
        yield from _alternatives(inner, (*marks, *own))
    elif get_origin(annotation) in (Union, UnionType):
        # A mark that parses the value itself speaks for the whole union.
        if any(isinstance(mark, Text) for mark in marks):
            yield annotation, marks
        else:
            for argument in get_args(annotation):
                yield from _alternatives(argument, marks)
    elif annotation is not NoneType:
        yield annotation, marks
