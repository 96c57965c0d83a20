"""The base of every item of the model: frozen, compared by its values, and with the places where they were said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, PrivateAttr
from pydantic.alias_generators import to_snake
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

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

    # None, because pydantic copies any other default anew for each item: half the time of reading 10,000 rules.
    _origin: Origin | None = PrivateAttr(default=None)
    _origins: Mapping[str, Origin] | None = PrivateAttr(default=None)

    def at(self, origin: Origin, fields: Mapping[str, Origin] | None = None) -> Self:
        """Record where the item, and each of its fields, was said; a format calls this once, right after building."""
        self._origin = origin
        self._origins = fields
        return self

    def origin(self, field: str = "") -> Origin:
        """Where the item was said, or one of its fields if that is known."""
        own = self._origin or UNKNOWN
        return own if self._origins is None else self._origins.get(field, own)

    def origins(self) -> dict[str, Origin]:
        """Where each field was said, as far as that is known: what a copy of the item takes along."""
        return dict(self._origins or {})

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


Name = Annotated[str, Field(min_length=1, max_length=64, strict=True)]
PortReference = Annotated[
    str | int,
    Text(
        _port_reference,
        "a port's name or number",
        _as_written,
        {"anyOf": [{"type": "string", "minLength": 1}, {"type": "integer"}]},
    ),
]
Flag = Annotated[bool, Field(strict=True)]


@dataclass(frozen=True)
class AsNumber:
    """Marks a decimal as it stands in a file: a number, neither text nor true or false, with the digits as written."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(
            self._read, handler(source), serialization=core_schema.plain_serializer_function_ser_schema(self._written)
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        # A decimal of pydantic may also be text, which comes second.
        number: dict[str, Any] = handler(schema)["anyOf"][0]
        return {key: int(value) if isinstance(value, float) else value for key, value in number.items()}

    def _read(self, value: Any) -> Any:
        if isinstance(value, bool | str):
            raise ValueError("a number")
        # YAML gives floats; their shortest text is what the user wrote.
        return str(value) if isinstance(value, float) else value

    def _written(self, value: Decimal) -> int | float:
        return int(value) if value == value.to_integral_value() else float(value)


@dataclass(frozen=True)
class NonEmpty:
    """Marks a list of at least one element. Pydantic's own bound calls a list empty whose elements are wrong."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._validate, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(schema), "minItems": 1}

    def _validate(self, value: tuple[Any, ...]) -> tuple[Any, ...]:
        if not value:
            raise PydanticCustomError(
                "unexpected",
                "found an empty list",
                {"found": "an empty list", "expected": "at least one element", "field": ""},
            )
        return value


@dataclass(frozen=True)
class OneOrMany:
    """Marks a list of mappings, one of which may stand without the list; it is also written so."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_before_validator_function(
            self._as_list,
            handler(source),
            serialization=core_schema.wrap_serializer_function_ser_schema(self._without_list),
        )

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        many = handler(schema)
        return {"anyOf": [many["items"], many]}

    def _as_list(self, value: Any) -> Any:
        return (value,) if isinstance(value, Item | dict) else value

    def _without_list(self, value: tuple[Any, ...], write: core_schema.SerializerFunctionWrapHandler) -> Any:
        written = write(value)
        return written[0] if len(written) == 1 else written


# 511 is v1model's drop port, 510 the controller's (CPU_PORT in p4src/headers.p4).
LAST_PORT = 509
