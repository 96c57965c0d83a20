"""What every item of the model has: frozen, compared by what it says, and aware of where it was said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr
from pydantic.alias_generators import to_snake
from pydantic_core import PydanticCustomError

from phb.origin import UNKNOWN, Origin
from phb.values import Text, is_integer


def _kebab(name: str) -> str:
    return to_snake(name).replace("_", "-")


def unexpected(found: str, expected: str, field: str = "") -> PydanticCustomError:
    """An error of a whole item; `field` is the key to point at, as written in YAML."""
    context = {"found": found, "expected": expected, "field": field}
    return PydanticCustomError("unexpected", "found {found}, expected {expected}", context)


class Item(BaseModel):
    """Base of everything in the model. Two items are equal when they say the same, wherever they say it."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        alias_generator=_kebab,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
    )

    _origin: Origin = PrivateAttr(default=UNKNOWN)
    _origins: dict[str, Origin] = PrivateAttr(default_factory=dict)

    def at(self, origin: Origin, fields: Mapping[str, Origin] | None = None) -> Self:
        """Record where the item, and each of its fields, was said; a format calls this once, right after building."""
        self._origin = origin
        self._origins = dict(fields or {})
        return self

    def origin(self, field: str = "") -> Origin:
        """Where the item was said, or one of its fields if that is known."""
        return self._origins.get(field, self._origin)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__


def _port_reference(value: Any) -> str | int:
    if is_integer(value):
        return int(value)
    if isinstance(value, str) and value:
        return str(value)
    raise ValueError


def _as_written(value: str | int) -> str | int:
    return value


def _port_reference(value: Any) -> str | int:
    if is_integer(value):
        return int(value)
    if isinstance(value, str) and value:
        return str(value)
    raise ValueError


def _as_written(value: str | int) -> str | int:
    return value


Name = Annotated[str, Field(min_length=1, max_length=64, strict=True)]
PortReference = Annotated[
    str | int, Text(_port_reference, "a port's name or number", _as_written, ("string", "integer"))
]
Flag = Annotated[bool, Field(strict=True)]

# 511 is v1model's drop port, 510 the controller's (CPU_PORT in p4src/headers.p4).
LAST_PORT = 509
