"""Rates, as they are written: with a unit, and with what their bits count."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Final

from pydantic import ConfigDict, Field

from phb.model.base import AsNumber, Item

ETHERNET_HEADER: Final = 14
"""Bytes; IEEE 802.3 without FCS."""
PPP_HEADER: Final = 4
"""Bytes; address, control, protocol (RFC 1662 section 3.1), what IOS calls the length without FCS: a reply of 1400
bytes by TCP is 1400 + 40 + 4 = 1444 bytes, as the first source's appendix E displays."""
TCP_HEADERS: Final = 40
"""Bytes; IPv4 (RFC 791) and TCP (RFC 9293) without options, 20 each."""


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

    @property
    def left_out(self) -> int:
        """Bytes by which an untagged Ethernet frame without FCS is longer than what this counts of it."""
        return {
            "ethernet": 0,
            "ip": ETHERNET_HEADER,
            "ppp": ETHERNET_HEADER - PPP_HEADER,
            "tcp-payload": ETHERNET_HEADER + TCP_HEADERS,
        }[self.value]


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
