"""Marks of packets: the ToS octet, DSCP names, 802.1p priorities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from phb.values.text import Text, any_case, is_integer, masked, matching


@dataclass(frozen=True, slots=True)
class TypeOfService:
    """Bits of the IPv4 ToS octet or the IPv6 traffic class: `value` where `mask` has ones.

    RFC 791 puts precedence into the upper three bits, RFC 2474 the DSCP into the upper six.
    """

    value: int
    mask: int = 0xFF

    def __post_init__(self) -> None:
        if not (0 <= self.value <= 0xFF and 0 <= self.mask <= 0xFF):
            raise ValueError("a ToS octet has eight bits")
        if self.value & ~self.mask:
            raise ValueError("the value has ones where the mask has zeros")

    @classmethod
    def parse(cls, value: Any) -> TypeOfService:
        """``192`` (all eight bits), or ``{value: 192, mask: 224}``."""
        if isinstance(value, TypeOfService):
            return value
        if is_integer(value):
            return cls(int(value))
        if not isinstance(value, dict) or set(value) != {"value", "mask"}:
            raise ValueError
        if not is_integer(value["value"]) or not is_integer(value["mask"]):
            raise TypeError
        return cls(int(value["value"]), int(value["mask"]))

    @staticmethod
    def write(tos: TypeOfService) -> int | dict[str, int]:
        """The inverse of `parse`."""
        return tos.value if tos.mask == 0xFF else {"value": tos.value, "mask": tos.mask}


def _code_points() -> Iterator[tuple[str, int]]:
    for number in range(8):
        yield f"CS{number}", number << 3  # RFC 2474 section 4.2.2
    for assured in range(1, 5):
        for drop in range(1, 4):
            yield f"AF{assured}{drop}", (assured << 3) | (drop << 1)  # RFC 2597 section 6
    yield "EF", 46  # RFC 3246
    yield "VA", 44  # RFC 5865


CODE_POINTS = dict(_code_points())


def parse_code_point(value: Any) -> int:
    """A DSCP's name or number."""
    if isinstance(value, str):
        return CODE_POINTS[value.upper()] if value.upper() in CODE_POINTS else _refuse()
    if not is_integer(value) or not 0 <= value <= 63:
        raise ValueError
    return int(value)


def _refuse() -> int:
    raise ValueError


@dataclass(frozen=True, slots=True)
class PriorityCodePoint:
    """The 802.1p priority of a tagged frame: `value` where `mask` has ones (IEEE 802.1Q)."""

    value: int
    mask: int = 7

    def __post_init__(self) -> None:
        if not (0 <= self.value <= 7 and 0 <= self.mask <= 7) or self.value & ~self.mask:
            raise ValueError("a priority code point has three bits, none of them outside the mask")

    @classmethod
    def parse(cls, value: Any) -> PriorityCodePoint:
        """``5`` (all three bits), or ``{value: 4, mask: 4}``."""
        if isinstance(value, PriorityCodePoint):
            return value
        if is_integer(value):
            return cls(int(value))
        if not isinstance(value, dict) or set(value) != {"value", "mask"}:
            raise ValueError
        if not is_integer(value["value"]) or not is_integer(value["mask"]):
            raise TypeError
        return cls(int(value["value"]), int(value["mask"]))

    @staticmethod
    def write(pcp: PriorityCodePoint) -> int | dict[str, int]:
        """The inverse of `parse`."""
        return pcp.value if pcp.mask == 7 else {"value": pcp.value, "mask": pcp.mask}


Tos = Annotated[
    TypeOfService,
    Text(
        TypeOfService.parse,
        "a ToS octet from 0 to 255, or {value: 0-255, mask: 0-255} with no value bits outside the mask",
        TypeOfService.write,
        masked(255),
    ),
]
CodePoint = Annotated[
    int,
    Text(
        parse_code_point,
        "a DSCP from 0 to 63 or a name such as EF, AF41, CS6",
        int,
        {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 63}, matching(*map(any_case, CODE_POINTS))]},
    ),
]
Pcp = Annotated[
    PriorityCodePoint,
    Text(
        PriorityCodePoint.parse,
        "an 802.1p priority from 0 to 7, or {value: 0-7, mask: 0-7} with no value bits outside the mask",
        PriorityCodePoint.write,
        masked(7),
    ),
]
