"""YAML text into plain values that know their lines.

YAML 1.2 with its core schema: ``yes`` is text, ``12:30`` is text, ``010`` is ten. libyaml reads YAML 1.1's grammar,
which is the same for policy files; plain words are converted here. Tags and merge keys are refused. An alias is the
very value of its anchor.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from yaml import CSafeLoader
from yaml.error import MarkedYAMLError
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)
from yaml.reader import ReaderError

from phb.errors import InputError
from phb.origin import Origin

# Values that aliases may repeat in one file. One of 10,000 rules has some 150,000 values; a few lines of nested aliases
# could mean billions.
MOST_REPEATED = 200_000

# Mappings and lists in each other; a policy needs ten.
DEEPEST = 50

_PLAIN = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+")
_OTHER_BASE = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


class Mapping(dict[str, Any]):
    """A mapping with the line it starts at and the line of each key, from 1."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}


class Sequence(list[Any]):
    """A list with the line it starts at and the line of each element, from 1."""

    __slots__ = ("line", "lines")

    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []


def load(text: str, file: str) -> Any:
    """Read the one document of a file; None where there is nothing but comments."""
    try:
        loader = CSafeLoader(text)
        try:
            return _Builder(loader, file).document()
        finally:
            loader.dispose()
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = " ".join(part for part in (error.problem, error.context) if part)
        raise _broken(file, mark.line + 1 if mark is not None else 1, problem) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise _broken(file, line, f"{error.reason}: #x{ord(text[error.position]):02x}") from None


def _broken(file: str, line: int, problem: str) -> InputError:
    return InputError(Origin(file, line), f"broken YAML ({' '.join(problem.split())})", "YAML 1.2")


def plain(text: str) -> Any:
    """Give the value of a word without quotes (YAML 1.2, section 10.3.2)."""
    if text in _PLAIN:
        return _PLAIN[text]
    if text[0] not in "0123456789+-.":
        return text
    if _INTEGER.fullmatch(text):
        # Python refuses to convert thousands of digits; no number of a policy has that many.
        return int(text) if len(text) <= 40 else float(text)
    if _OTHER_BASE.fullmatch(text):
        return int(text, 0) if len(text) <= 40 else text
    if _FLOAT.fullmatch(text):
        return float(text)
    if _INFINITE.fullmatch(text):
        return float(text.replace(".", ""))
    return text


class _Builder:
    def __init__(self, loader: CSafeLoader, file: str) -> None:
        self._next: Callable[[], Any] = loader.get_event
        self._file = file
        # The value of each anchor, and its number of values; None while the value is being read.
        self._anchors: dict[str, tuple[Any, int] | None] = {}
        self._values = 0
        self._repeated = 0

    def document(self) -> Any:
        self._next()  # the start of the stream
        event = self._next()
        if type(event) is StreamEndEvent:
            return None
        value = self._value(self._next(), 0)
        self._next()  # the end of the document
        event = self._next()
        if type(event) is DocumentStartEvent:
            raise self._error(event, "a second document", "one document in a file")
        return value

    def _value(self, event: Any, depth: int) -> Any:
        kind = type(event)
        if kind is AliasEvent:
            return self._alias(event)
        if event.tag is not None:
            raise self._error(event, f"the tag '{event.tag}'", "values without tags")
        anchor = event.anchor
        if anchor is not None:
            self._anchors[anchor] = None
        before = self._values
        self._values += 1
        value: Any
        if kind is ScalarEvent:
            value = plain(event.value) if event.implicit[0] else event.value
        elif depth == DEEPEST:
            raise self._error(event, f"more than {DEEPEST} mappings and lists in each other", "a policy file")
        elif kind is MappingStartEvent:
            value = self._mapping(event, depth + 1)
        else:
            value = self._sequence(event, depth + 1)
        if anchor is not None:
            self._anchors[anchor] = (value, self._values - before)
        return value

    def _mapping(self, start: Any, depth: int) -> Mapping:
        result = Mapping(start.start_mark.line + 1)
        lines = result.lines
        while type(event := self._next()) is not MappingEndEvent:
            mark: Any = event.start_mark
            if type(event) is not ScalarEvent:
                raise self._error(event, "a key that isn't plain text", "text as a key")
            key, line = event.value, mark.line + 1
            if key in lines:
                raise self._error(event, f"key '{key}' again", f"it once; it also stands in line {lines[key]}")
            lines[key] = line
            result[key] = self._value(self._next(), depth)
        return result

    def _sequence(self, start: Any, depth: int) -> Sequence:
        result = Sequence(start.start_mark.line + 1)
        while type(event := self._next()) is not SequenceEndEvent:
            result.lines.append(event.start_mark.line + 1)
            result.append(self._value(event, depth))
        return result

    def _alias(self, event: Any) -> Any:
        name = event.anchor
        if name not in self._anchors:
            raise self._error(event, f"the alias '*{name}'", f"an anchor '&{name}' before it")
        known = self._anchors[name]
        if known is None:
            raise self._error(event, f"the alias '*{name}' inside its own anchor", "values that end")
        value, values = known
        self._values += values
        self._repeated += values
        if self._repeated > MOST_REPEATED:
            raise self._error(event, f"aliases that repeat more than {MOST_REPEATED} values", "fewer of them")
        return value

    def _error(self, event: Any, found: str, expected: str) -> InputError:
        return InputError(Origin(self._file, event.start_mark.line + 1), found, expected)
