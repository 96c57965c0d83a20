"""Numbers as a person would have written them."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from fractions import Fraction
from typing import TypeAlias

from phb.model import Rate, RateBasis, RateUnit

Bounds: TypeAlias = tuple[Fraction, Fraction]


def roundest(low: Fraction, high: Fraction) -> Decimal:
    """Find the number with the fewest digits from `low` to `high`, both above 0."""
    if low > high:
        raise ValueError("an empty interval")
    for exponent in range(15, -30, -1):
        unit = Fraction(10) ** exponent
        multiple = -(-low // unit)
        if multiple and multiple * unit <= high:
            return Decimal(multiple).scaleb(exponent)
    return (Decimal(low.numerator) / low.denominator).quantize(Decimal("1e-12"), ROUND_CEILING)


def rate(bits_per_second: Decimal | int, basis: RateBasis) -> Rate:
    """Give a rate in the largest unit that makes it a whole number, else in bit/s."""
    bits = Decimal(bits_per_second)
    for unit in (RateUnit.MBIT, RateUnit.KBIT):
        if bits % unit.factor == 0:
            return Rate(value=Decimal(int(bits / unit.factor)), unit=unit, basis=basis)
    if bits > 10**12:
        return Rate(value=bits / 1000, unit=RateUnit.KBIT, basis=basis)
    return Rate(value=bits, unit=RateUnit.BIT, basis=basis)
