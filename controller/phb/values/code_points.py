"""Marks of packets: the ToS octet, DSCP names, 802.1p priorities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

from phb.values.text import Text, any_case, is_integer, masked, matching


@dataclass(frozen=True, slots=True)
class Masked:
    """Bits of a field: `value` where `mask` has ones; a `mask` left out is all of them."""

    value: int
    mask: int = -1

    WIDTH: ClassVar[int]

    def __post_init__(self) -> None:
        every = (1 << self.WIDTH) - 1
        if self.mask == -1:
            object.__setattr__(self, "mask", every)
        if not (0 <= self.value <= every and 0 <= self.mask <= every):
            raise ValueError(f"the field has {self.WIDTH} bits")
        if self.value & ~self.mask:
            raise ValueError("the value has ones where the mask has zeros")

    @classmethod
    def parse(cls, value: Any) -> Self:
        """``5`` (all bits), or ``{value: 4, mask: 4}``."""
        if isinstance(value, cls):
            return value
        if is_integer(value):
            return cls(int(value))
        if not isinstance(value, dict) or set(value) != {"value", "mask"}:
            raise ValueError
        if not is_integer(value["value"]) or not is_integer(value["mask"]):
            raise TypeError
        # A mask that is written is never the one left out.
        if value["mask"] < 0:
            raise ValueError
        return cls(int(value["value"]), int(value["mask"]))

    @staticmethod
    def write(bits: Masked) -> int | dict[str, int]:
        """The inverse of `parse`."""
        every = (1 << bits.WIDTH) - 1
        return bits.value if bits.mask == every else {"value": bits.value, "mask": bits.mask}


class TypeOfService(Masked):
    """Bits of the IPv4 ToS octet or the IPv6 traffic class.

    RFC 791 puts precedence into the upper three bits, RFC 2474 the DSCP into the upper six.
    """

    __slots__ = ()
    WIDTH = 8


class PriorityCodePoint(Masked):
    """The 802.1p priority of a tagged frame (IEEE 802.1Q)."""

    __slots__ = ()
    WIDTH = 3


def _code_points() -> Iterator[tuple[str, int]]:
    for number in range(8):
        yield f"CS{number}", number << 3  # RFC 2474 section 4.2.2
    for assured in range(1, 5):
        for drop in range(1, 4):
            yield f"AF{assured}{drop}", (assured << 3) | (drop << 1)  # RFC 2597 section 6
    yield "EF", 46  # RFC 3246
    yield "VOICE-ADMIT", 44  # RFC 5865
    yield "VA", 44  # its name in configurations
    yield "LE", 1  # RFC 8622


CODE_POINTS = dict(_code_points())


def parse_code_point(value: Any) -> int:
    """Read a DSCP by name or number."""
    if isinstance(value, str):
        return CODE_POINTS[value.upper()] if value.upper() in CODE_POINTS else _refuse()
    if not is_integer(value) or not 0 <= value <= 63:
        raise ValueError
    return int(value)


def _refuse() -> int:
    raise ValueError


UNTAGGED = "untagged"
"""In place of a VLAN's number: a frame without a tag."""
LAST_QOS_GROUP = 127


def parse_vlan(value: Any) -> int | str:
    """Read a VLAN's number, or ``untagged``."""
    if value == UNTAGGED:
        return UNTAGGED
    if not is_integer(value) or not 0 <= value <= 4095:
        raise ValueError
    return int(value)


def _as_it_is(vlan: int | str) -> int | str:
    return vlan


Vlan = Annotated[
    int | str,
    Text(
        parse_vlan,
        "a VLAN number from 0 to 4095, or 'untagged'",
        _as_it_is,
        {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 4095}, {"const": "untagged"}]},
    ),
]
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
