"""Bandwidth of the classes of a port, and the scheduler's weights that give it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

from phb.errors import InputError
from phb.model import Bandwidth, ClassQueue, Rate

# Up to this size weights give the shares exactly; larger ones are rounded.
LARGEST_EXACT_WEIGHT = 1 << 20

# Rounded weights are at least this large, so that no share is off by more than 1/2048 of itself.
SMALLEST_ROUNDED_WEIGHT = 1024

# The width of the parameter `weight`.
LARGEST_WEIGHT = (1 << 32) - 1

# The share of a class to which reservations leave nothing: no class starves.
LEAST_SHARE = Fraction(1, 100)


def shares(queues: Sequence[ClassQueue], rate: Rate | None) -> list[Fraction]:
    """Give the part of the port that each queue gets when all are busy.

    Rates and percentages are taken first; percentages of the remaining bandwidth are of what they leave; what those
    leave is divided by weight; a queue without a statement has weight 1. `queues` have no strict level.

    Raises:
        InputError: They want more than there is, or a rate can't be compared with the port's.
    """
    reserved = [_reserved(queue, rate) for queue in queues]
    _check_total(queues, reserved, "bandwidth", "of the port")
    left = 1 - sum(reserved, Fraction(0))
    remaining = [_remaining(queue) for queue in queues]
    _check_total(queues, remaining, "bandwidth", "of what remains")
    rest = left * (1 - sum(remaining, Fraction(0)))
    weights = [
        _weight(queue.bandwidth) if reserve + part == 0 else 0
        for queue, reserve, part in zip(queues, reserved, remaining, strict=True)
    ]
    total = sum(weights) or 1
    parts = zip(reserved, remaining, weights, strict=True)
    return [reserve + left * part + rest * weight / total or LEAST_SHARE for reserve, part, weight in parts]


def weights(queues: Sequence[ClassQueue], parts: Sequence[Fraction]) -> list[int]:
    """Give whole numbers in inverse proportion to the shares: exactly, or within 1/2048 where that takes large numbers.

    Raises:
        InputError: A share is too small beside the largest one.
    """
    inverse = [1 / part for part in parts]
    whole = lcm(*(number.denominator for number in inverse))
    exact = [int(number * whole) for number in inverse]
    common = gcd(*exact)
    if max(exact) // common <= LARGEST_EXACT_WEIGHT:
        return [number // common for number in exact]
    factor = SMALLEST_ROUNDED_WEIGHT / min(inverse)
    rounded = [round(number * factor) for number in inverse]
    check_weights(queues, parts, rounded)
    return rounded


def check_weights(queues: Sequence[ClassQueue], parts: Sequence[Fraction], numbers: Sequence[int]) -> None:
    """Refuse weights that are too large for the pipeline."""
    for queue, part, number in zip(queues, parts, numbers, strict=True):
        if number > LARGEST_WEIGHT:
            raise InputError(
                queue.origin("bandwidth"),
                f"{float(part):.3g} of the port for class '{queue.traffic_class}'",
                f"at least 1/{LARGEST_WEIGHT // SMALLEST_ROUNDED_WEIGHT} of the largest share",
            )


def _reserved(queue: ClassQueue, rate: Rate | None) -> Fraction:
    bandwidth = queue.bandwidth
    if bandwidth is None:
        return Fraction(0)
    if bandwidth.percent is not None:
        return Fraction(bandwidth.percent, 100)
    if bandwidth.rate is None:
        return Fraction(0)
    origin = bandwidth.origin("rate")
    if rate is None:
        raise InputError(
            origin, f"a bandwidth of {bandwidth.rate} at a port without a rate", "the port's 'rate' or a 'shaper'"
        )
    if rate.basis is not bandwidth.rate.basis:
        raise InputError(origin, f"a bandwidth of {bandwidth.rate} at a port of {rate}", "one basis")
    return Fraction(bandwidth.rate.bits_per_second) / Fraction(rate.bits_per_second)


def _remaining(queue: ClassQueue) -> Fraction:
    bandwidth = queue.bandwidth
    percent = bandwidth.remaining_percent if bandwidth is not None else None
    return Fraction(percent or 0, 100)


def _weight(bandwidth: Bandwidth | None) -> int:
    return 1 if bandwidth is None or bandwidth.weight is None else bandwidth.weight


def _check_total(queues: Sequence[ClassQueue], parts: Sequence[Fraction], what: str, of: str) -> None:
    total = Fraction(0)
    for queue, part in zip(queues, parts, strict=True):
        total += part
        if total > 1:
            raise InputError(
                queue.origin("bandwidth"), f"{what} of {float(100 * total):.4g} % {of} in all", "at most 100 %"
            )
