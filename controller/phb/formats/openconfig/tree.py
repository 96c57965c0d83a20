"""JSON by RFC 7951 as nodes that know their lines, and that refuse what nobody asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from phb.errors import InputError
from phb.formats.yaml_format import document, explanations
from phb.origin import Origin

_LARGEST = 2**64 - 1


def load(text: str, file: str) -> Node:
    """Read a document.

    Raises:
        InputError: It is no JSON, or no object.
    """
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(Origin(file, error.lineno), f"no JSON ({error.msg})", "a JSON document (RFC 7951)") from None
    except RecursionError:
        raise InputError(Origin(file), "JSON of endless depth", "a JSON document (RFC 7951)") from None
    # JSON is YAML but for tabs, which stand between its words only.
    value = document.load(text.replace("\t", " "), file)
    return Node(value, Origin(file, 1), "")


@dataclass(frozen=True)
class Node:
    """A value, its place, and its path from the root for messages."""

    value: Any
    origin: Origin
    path: str

    def wrong(self, expected: str, found: str | None = None) -> InputError:
        """Give the error that says so."""
        what = f"'{self.path}' of {explanations.show(self.value)}" if found is None else found
        return InputError(self.origin, what, expected)

    def members(self) -> dict[str, Node]:
        """Give the members of a container, by name without module."""
        if not isinstance(self.value, document.Mapping):
            raise self.wrong("an object")
        found: dict[str, Node] = {}
        for key, value in self.value.items():
            name = key.rpartition(":")[2]
            place = f"{self.path}/{name}"
            origin = Origin(self.origin.file, self.value.lines[key], place)
            if name in found:
                raise InputError(origin, f"'{place}' again", f"it once; it also stands at {found[name].origin}")
            found[name] = Node(value, origin, place)
        return found

    def container(self, *known: str) -> dict[str, Node]:
        """Give the members of a container that has no others than these; ``state`` is passed over.

        A name with an asterisk in front stands for nothing to do: it is passed over, too.
        """
        passed = {"state", *(name[1:] for name in known if name.startswith("*"))}
        found = {name: node for name, node in self.members().items() if name not in passed}
        for name, node in found.items():
            if name not in known:
                expected = ", ".join(sorted(name for name in known if not name.startswith("*"))) or "nothing here"
                raise InputError(node.origin, f"'{node.path}', which phb has nothing for", expected)
        return found

    def entries(self, key: str) -> Iterator[tuple[str, Node]]:
        """Give the entries of a list with their keys, which are different."""
        if not isinstance(self.value, document.Sequence):
            raise self.wrong("a list")
        seen: dict[str, Origin] = {}
        for line, value in zip(self.value.lines, self.value, strict=True):
            node = Node(value, Origin(self.origin.file, line, self.path), self.path)
            own = node.members().get(key)
            if own is None:
                raise node.wrong(f"an entry with its key '{key}'", f"an entry of '{self.path}' without it")
            name = own.text_or_number()
            if name in seen:
                raise InputError(
                    node.origin, f"'{self.path}[{key}={name}]' again", f"it once; it also stands at {seen[name]}"
                )
            seen[name] = node.origin
            place = f"{self.path}[{key}={name}]"
            yield name, Node(value, Origin(self.origin.file, line, place), place)

    def list_of(self, name: str, key: str) -> Iterator[tuple[str, Node]]:
        """Give the entries of the one list in a container, with their keys."""
        inner = self.container(name).get(name)
        return iter(()) if inner is None else inner.entries(key)

    def config(self, *known: str) -> dict[str, Node]:
        """Give the leaves of a container that has ``config`` and ``state`` only."""
        inner = self.container("config").get("config")
        return {} if inner is None else inner.container(*known)

    def text(self) -> str:
        """Give a string."""
        if not isinstance(self.value, str) or not self.value:
            raise self.wrong("a string")
        return self.value

    def word(self, *known: str) -> str:
        """Give an enumeration's word or an identity, without module."""
        word = self.text().rpartition(":")[2]
        if word not in known:
            raise self.wrong(" or ".join(known))
        return word

    def text_or_number(self) -> str:
        """Give a string, or a number as text."""
        return str(self.value) if type(self.value) is int else self.text()

    def number(self, least: int = 0, most: int = _LARGEST) -> int:
        """Give a number, which RFC 7951 writes as a string where it has 64 bits."""
        value = self.value
        if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 20:
            value = int(value)
        if type(value) is not int or not least <= value <= most:
            raise self.wrong(f"a number from {least} to {most}")
        return value

    def flag(self) -> bool:
        """Give true or false."""
        if not isinstance(self.value, bool):
            raise self.wrong("true or false")
        return self.value

    def numbers(self, most: int) -> list[int]:
        """Give the numbers of a leaf-list, from 0 on, in ascending order."""
        if not isinstance(self.value, document.Sequence) or not self.value:
            raise self.wrong(f"a list of numbers from 0 to {most}")
        each = zip(self.value.lines, self.value, strict=True)
        origin = self.origin
        return sorted(
            {Node(value, Origin(origin.file, line, self.path), self.path).number(0, most) for line, value in each}
        )
