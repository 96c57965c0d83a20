"""How a value of the policy stands in a file: parsers as pydantic field types, with their JSON schema."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, core_schema

V = TypeVar("V")


def is_integer(value: Any) -> bool:
    """Whether this is a whole number; Python counts booleans as such, a policy doesn't."""
    return isinstance(value, int) and not isinstance(value, bool)


def parsed(kind: type[V], value: Any, of_text: Callable[[str], V], of_number: Callable[[int], V] | None = None) -> V:
    """Give a value back that is of the kind already, else make one of what stands in a file."""
    if isinstance(value, kind):
        return value
    if of_number is not None and is_integer(value):
        return of_number(int(value))
    if not isinstance(value, str):
        raise TypeError
    return of_text(value)


def matched(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    """Match text from end to end, or raise a ValueError."""
    match = pattern.fullmatch(text)
    if match is None:
        raise ValueError
    return match


@dataclass(frozen=True)
class Text:
    """Marks a field whose value is parsed from what stands in the file.

    Attributes:
        parse: Gives the value, or raises ValueError.
        expected: What the user is told to write there.
        write: Gives back what stands in a file; the inverse of `parse`.
        schema: JSON schema of what stands in a file.
    """

    parse: Callable[[Any], Any]
    expected: str
    write: Callable[[Any], Any] = str
    schema: Mapping[str, Any] = field(default_factory=lambda: {"type": "string"}, hash=False)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._validate,
            serialization=core_schema.plain_serializer_function_ser_schema(self.write),
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**self.schema, "description": self.expected}

    def _validate(self, value: Any) -> Any:
        try:
            return self.parse(value)
        except (ValueError, TypeError):
            raise ValueError(self.expected) from None


@dataclass(frozen=True)
class Within:
    """Marks an integer field with its bounds; refuses booleans, strings and floats."""

    low: int
    high: int

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            self._validate, serialization=core_schema.plain_serializer_function_ser_schema(int)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}

    def _validate(self, value: Any) -> int:
        if is_integer(value) and self.low <= value <= self.high:
            return int(value)
        raise ValueError(f"an integer from {self.low} to {self.high}")


def matching(*patterns: str) -> dict[str, Any]:
    """Give the JSON schema of text that one of these matches, from end to end."""
    return {"type": "string", "pattern": f"^(?:{'|'.join(patterns)})$"}


def any_case(word: str) -> str:
    """Give a pattern of this word in large and small letters; JSON schema has no flag for it."""
    return "".join(f"[{letter.upper()}{letter.lower()}]" if letter.isalpha() else letter for letter in word)


def masked(highest: int) -> dict[str, Any]:
    """Give the JSON schema of a number, or a number and its mask."""
    number = {"type": "integer", "minimum": 0, "maximum": highest}
    both = {
        "type": "object",
        "properties": {"value": number, "mask": number},
        "required": ["value", "mask"],
        "additionalProperties": False,
    }
    return {"anyOf": [number, both]}
