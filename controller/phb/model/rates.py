"""Rates, as they are written: with a unit, and with what their bits count."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from phb.model.base import AsNumber, Item


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

    value: Annotated[Decimal, Field(gt=0, le=10**12), AsNumber()]
    unit: RateUnit
    basis: RateBasis

    @property
    def bits_per_second(self) -> Decimal:
        """The rate in bit/s."""
        return self.value * self.unit.factor

    def __str__(self) -> str:
        return f"{self.value} {self.unit.value} ({self.basis.value})"
