"""Rates, as they are written: with a unit, and with what their bits count."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any

from pydantic import ConfigDict, Field, field_serializer, field_validator

from phb.model.base import Item


class RateUnit(StrEnum):
    """Bits per second, decimal multiples."""

    BIT = "bit/s"
    KBIT = "kbit/s"
    MBIT = "Mbit/s"

    @property
    def factor(self) -> int:
        """Bit/s in one of this unit."""
        return {"bit/s": 1, "kbit/s": 1000, "Mbit/s": 1_000_000}[self.value]


class RateBasis(StrEnum):
    """Which bits a rate counts."""

    ETHERNET = "ethernet"
    IP = "ip"
    PPP = "ppp"
    TCP_PAYLOAD = "tcp-payload"


class Rate(Item):
    """A rate as it was written, with its unit and what its bits count."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"value": 1.5, "unit": "Mbit/s", "basis": "ip"}]})

    value: Annotated[Decimal, Field(gt=0, le=10**12)]
    unit: RateUnit
    basis: RateBasis

    @field_validator("value", mode="before")
    @classmethod
    def _number(cls, value: Any) -> Any:
        # YAML gives floats; their shortest text is what the user wrote.
        if isinstance(value, bool | str):
            raise ValueError("a number")
        return str(value) if isinstance(value, float) else value

    @field_serializer("value")
    def _plain_number(self, value: Decimal) -> int | float:
        return int(value) if value == value.to_integral_value() else float(value)

    @property
    def bits_per_second(self) -> Decimal:
        """The rate in bit/s."""
        return self.value * self.unit.factor

    def __str__(self) -> str:
        return f"{self.value} {self.unit.value} ({self.basis.value})"
