"""What classes without a strict level get of a port, beside each other, when all have packets."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, gcd, lcm
from typing import Final

from phb.behaviour.facts import parts_of_whole
from phb.errors import InputError
from phb.model import Bandwidth, ClassQueue, Dialect, Rate

FLOW_WEIGHTS: Final = {
    Dialect.IOS_11_3: tuple(4096 // (precedence + 1) for precedence in range(8)),
    Dialect.IOS_12: tuple(32384 // (precedence + 1) for precedence in range(8)),
    Dialect.IOS_HQF: (1,) * 8,
}
"""By IP precedence: what a byte of a flow costs (`phb.model.Dialect`)."""

_CONSTANTS: Final = {16: 64, 32: 64, 64: 57, 128: 30, 256: 16, 512: 8, 1024: 4, 2048: 2, 4096: 1}
"""By the number of flows' queues: what a byte of a class costs that has all of the port (IOS before HQF)."""

_LARGEST_EXACT: Final = 1 << 20
"""Shares that take larger whole numbers are rounded (docs/inside/scheduling.md)."""

_LEAST_ROUNDED: Final = 1024
"""The least of rounded numbers, that of the largest share."""

_NEVER_NONE: Final = Fraction(1, 100)
"""Of a class to which the others leave nothing."""


def shares(queues: Sequence[ClassQueue], rate: Rate | None) -> list[Fraction]:
    """Give the parts of the port in proportion; `rate` is the port's.

    Raises:
        InputError: A bandwidth is a rate, and the port has none of its basis.
    """
    fixed = [_of_port(queue.bandwidth, rate) for queue in queues]
    remaining = [_of_rest(queue.bandwidth) for queue in queues]
    left = 1 - sum(fixed)
    left_of_that = left * (1 - sum(remaining))
    weights = [
        0 if port or rest else _weight(queue.bandwidth)
        for queue, port, rest in zip(queues, fixed, remaining, strict=True)
    ]
    return [
        port + left * rest + (left_of_that * Fraction(weight, sum(weights) or 1)) or _NEVER_NONE
        for port, rest, weight in zip(fixed, remaining, weights, strict=True)
    ]


def as_served(parts: Sequence[Fraction]) -> list[Fraction]:
    """Give shares as the scheduler's whole numbers keep them: they are 1 in all."""
    costs = [1 / part for part in parts]
    whole = lcm(*(cost.denominator for cost in costs))
    exact = [int(cost * whole) for cost in costs]
    if max(exact) > _LARGEST_EXACT * gcd(*exact):
        exact = [round(_LEAST_ROUNDED * cost / min(costs)) for cost in costs]
    return parts_of_whole([Fraction(1, cost) for cost in exact])


def beside_flows(parts: Sequence[Fraction], conversations: int) -> list[Fraction]:
    """Give how much more classes with these shares get than a flow of precedence 0 beside them, before HQF.

    It is what the scheduler's whole numbers keep: flows' and classes' costs are multiplied alike where that takes it.
    """
    costs = [_CONSTANTS[conversations] / part for part in parts]
    factor = 1 if all(cost.denominator == 1 for cost in costs) else ceil(_LEAST_ROUNDED / min(costs))
    flow = factor * FLOW_WEIGHTS[Dialect.IOS_12][0]
    return [Fraction(flow, round(factor * cost)) for cost in costs]


def _of_port(bandwidth: Bandwidth | None, rate: Rate | None) -> Fraction:
    if bandwidth is None:
        return Fraction(0)
    if bandwidth.rate is not None:
        if rate is None or rate.basis is not bandwidth.rate.basis:
            raise InputError(
                bandwidth.origin("rate"), f"a bandwidth of {bandwidth.rate}", "a port's rate of that basis"
            )
        return Fraction(bandwidth.rate.bits_per_second) / Fraction(rate.bits_per_second)
    return Fraction(bandwidth.percent or 0, 100)


def _of_rest(bandwidth: Bandwidth | None) -> Fraction:
    return Fraction(0 if bandwidth is None else bandwidth.remaining_percent or 0, 100)


def _weight(bandwidth: Bandwidth | None) -> int:
    return 1 if bandwidth is None else bandwidth.weight or 1
