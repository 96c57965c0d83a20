"""A YAML policy file into the policy model, each item with its lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeVar

from pydantic import ValidationError

from phb.errors import InputError
from phb.formats.format import READING, ReadOptions
from phb.formats.yaml_format import document, explanations, shape
from phb.model import Item, PolicySet
from phb.origin import Origin

VERSION = 1

T = TypeVar("T", bound=Item)


def read(text: str, file: str, options: ReadOptions = READING) -> PolicySet:
    """Read a YAML policy file, for which no option counts."""
    return read_as(text, file, PolicySet, shape.POLICY.version_key)


def read_as(text: str, file: str, kind: type[T], version_key: str) -> T:
    """Read a YAML file of phb: a policy, or another `kind`; `version_key` has the version of its format."""
    data = document.load(text, file)
    if not isinstance(data, document.Mapping):
        raise InputError(
            Origin(file, 1), explanations.show(data), f"a mapping that starts with '{version_key}: {VERSION}'"
        )
    version = data.pop(version_key, document)
    if version is document:
        raise InputError(
            Origin(file, 1), f"no '{version_key}' key", f"'{version_key}: {VERSION}', the version of the format"
        )
    if type(version) is not int or version != VERSION:
        raise InputError(Origin(file, data.lines[version_key], version_key), explanations.show(version), str(VERSION))
    root = shape.Root(kind, version_key)
    item = _validated(data, file, kind, root)
    nothing = explanations.nothing(data, file, root)
    if nothing is not None:
        raise nothing
    _attach_origins(item, data, file, "")
    return item


def item_of(values: Mapping[str, Any], origin: Origin, kind: type[T]) -> T:
    """Make an item of values that another program gave; errors, and the item, are at `origin`."""
    data = document.Mapping(origin.line)
    data.update(values)
    data.lines = dict.fromkeys(values, origin.line)
    return _validated(data, origin.file, kind, shape.Root(kind, "")).at(origin)


def _validated(data: document.Mapping, file: str, kind: type[T], root: shape.Root) -> T:
    try:
        return kind.model_validate(data, by_alias=True, by_name=False)
    except ValidationError as errors:
        raise explanations.explain(errors.errors(include_url=False), data, file, root) from None


class _Places(Mapping[str, Origin]):
    """The place of each field of an item, computed on demand: few of 10,000 rules are ever named in a message."""

    __slots__ = ("_file", "_lines", "_path", "_type")

    def __init__(self, item: type[Item], file: str, path: str, lines: dict[str, int]) -> None:
        self._type, self._file, self._path, self._lines = item, file, path, lines

    def __getitem__(self, field: str) -> Origin:
        alias = shape.aliases(self._type)[field]
        return Origin(self._file, self._lines[alias], f"{self._path}{alias}")

    def __iter__(self) -> Iterator[str]:
        return (name for name, alias in shape.aliases(self._type).items() if alias in self._lines)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _attach_origins(item: Item, data: document.Mapping, file: str, path: str) -> None:
    kind = type(item)
    item.at(Origin(file, data.line, path.rstrip(".")), _Places(kind, file, path, data.lines))
    for name, alias in _inner(kind):
        written = data.get(alias)
        if isinstance(written, document.Mapping):
            value = getattr(item, name)
            # A list of one may stand without its brackets.
            for child in value if isinstance(value, tuple) else (value,):
                _attach_origins(child, written, file, f"{path}{alias}.")
        elif isinstance(written, document.Sequence):
            for number, (child, child_data) in enumerate(zip(getattr(item, name), written, strict=True)):
                _attach_origins(child, child_data, file, f"{path}{alias}[{child_data.get('name', number)}].")


@cache
def _inner(item: type[Item]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (name, alias)
        for name, alias in shape.aliases(item).items()
        if any(shape.items_in(item.model_fields[name].annotation))
    )
