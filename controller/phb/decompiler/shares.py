"""Weights of the classes of a port as bandwidths that give these weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from math import gcd, lcm

from phb.compiler.queueing.classes import CLASS_CONSTANT, weights_beside_flows
from phb.compiler.queueing.shares import SMALLEST_ROUNDED_WEIGHT, shares, weights
from phb.decompiler.numbers import Bounds, rate, roundest
from phb.errors import InputError
from phb.model import Bandwidth, ClassQueue, Rate, RateBasis

_LARGEST_MODEL_WEIGHT = 1000


def bandwidths(
    queues: Sequence[ClassQueue], numbers: Sequence[int], known: Rate | None, bounds: Bounds | None
) -> tuple[list[ClassQueue], Rate | None]:
    """Give each queue a bandwidth, and the port's rate where they need one.

    The queues have no strict level, and `numbers` are their weights, in inverse proportion to the shares. The port's
    rate is `known` or within `bounds`, if something else says so. Of the ways to say the same shares the shortest is
    taken that compiles to the same weights; where they were rounded, to others of the same ratio.

    Raises:
        ValueError: No bandwidths give these weights.
    """
    whole = lcm(*numbers)
    parts = [whole // number for number in numbers]
    common = gcd(*parts)
    parts = [part // common for part in parts]
    best: tuple[list[ClassQueue], Rate | None] | None = None
    for said, speed in _ways(queues, parts, known, bounds):
        try:
            compiled = weights(said, shares(said, speed))
        except InputError:
            continue
        if compiled == list(numbers):
            return said, speed
        if best is None and _same_ratio(compiled, numbers):
            best = said, speed
    if best is None:
        raise ValueError(f"no bandwidths of {known} give the weights {list(numbers)}")
    return best


def _same_ratio(some: Sequence[int], others: Sequence[int]) -> bool:
    return all(one * others[0] == other * some[0] for one, other in zip(some, others, strict=True))


def _ways(
    queues: Sequence[ClassQueue], parts: Sequence[int], known: Rate | None, bounds: Bounds | None
) -> Iterator[tuple[list[ClassQueue], Rate | None]]:
    total = sum(parts)
    yield [*queues], known
    percents = [Fraction(100 * part, total) for part in parts]
    said = [
        _with(queue, percent=int(percent)) if percent.denominator == 1 else queue
        for queue, percent in zip(queues, percents, strict=True)
    ]
    for place in range(len(queues)):
        # One queue may have what the others leave.
        yield [*said[:place], queues[place], *said[place + 1 :]], known
    yield said, known
    if max(parts) <= _LARGEST_MODEL_WEIGHT:
        yield [_with(queue, weight=part) for queue, part in zip(queues, parts, strict=True)], known
    speed = known or rate(_scaled(total), RateBasis.ETHERNET)
    if bounds is not None:
        # A rate of which all parts are decimals.
        speed = rate(total * roundest(bounds[0] / total, bounds[1] / total), RateBasis.ETHERNET)
    yield [_with_rate(queue, Fraction(part, total), speed) for queue, part in zip(queues, parts, strict=True)], speed
    yield _nearly(queues, parts, speed), speed
    # Parts of the known rate that decimals can't say share what the others leave.
    endless = [_endless(Fraction(part, total) * Fraction(speed.bits_per_second)) for part in parts]
    common = gcd(*(part for part, weighed in zip(parts, endless, strict=True) if weighed)) or 1
    if (
        max(part if weighed else 0 for part, weighed in zip(parts, endless, strict=True))
        <= _LARGEST_MODEL_WEIGHT * common
    ):
        yield (
            [
                _with(queue, weight=part // common) if weighed else _with_rate(queue, Fraction(part, total), speed)
                for queue, part, weighed in zip(queues, parts, endless, strict=True)
            ],
            speed,
        )


def _nearly(queues: Sequence[ClassQueue], parts: Sequence[int], speed: Rate) -> list[ClassQueue]:
    """Give rates that lead to rounded weights; the largest part is what the others leave."""
    total, bits, largest = sum(parts), Fraction(speed.bits_per_second), parts.index(max(parts))
    near = Fraction(1, 4 * SMALLEST_ROUNDED_WEIGHT)
    said = []
    for place, (queue, part) in enumerate(zip(queues, parts, strict=True)):
        weight = SMALLEST_ROUNDED_WEIGHT * Fraction(max(parts), part)
        exact, off = bits * Fraction(part, total), near * SMALLEST_ROUNDED_WEIGHT / weight
        value = Fraction(roundest(exact * (1 - off), exact * (1 + off)))
        said.append(queue if place == largest else _with_rate(queue, value / bits, speed))
    return said


def _endless(number: Fraction) -> bool:
    rest = number.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest != 1


def _scaled(total: int) -> int:
    """Give a port's rate of which the parts are whole bits: not so slow that a shaper or a meter would refuse it."""
    factor = 1
    while total * factor < 1000:
        factor *= 10
    return total * factor


def _with_rate(queue: ClassQueue, part: Fraction, speed: Rate) -> ClassQueue:
    bits = part * Fraction(speed.bits_per_second)
    value = Decimal(bits.numerator) / bits.denominator
    return _with(queue, rate=rate(value, speed.basis))


def _with(queue: ClassQueue, **said: object) -> ClassQueue:
    return queue.model_copy(update={"bandwidth": Bandwidth(**said)})  # type: ignore[arg-type]


def bandwidths_beside_flows(
    queues: Sequence[ClassQueue], numbers: Sequence[int], factor: int, conversations: int, known: Rate | None
) -> tuple[list[ClassQueue], Rate | None]:
    """Do the same beside flows, whose weights were multiplied by `factor` and which have so many `conversations`.

    The queues have no strict level, and ``class-default`` is none of them.
    """
    whole = CLASS_CONSTANT[conversations] * factor
    half = Fraction(49, 100)
    intervals = [(whole / (number + half), whole / (number - half)) for number in numbers]
    if factor > 1:
        # The factor makes the least of the weights as large as it has to be, and no larger.
        most, least = (
            Fraction(whole, SMALLEST_ROUNDED_WEIGHT),
            Fraction(whole - whole // factor, SMALLEST_ROUNDED_WEIGHT),
        )
        intervals = [
            (max(low, least * Fraction(10**6 + 1, 10**6)) if number == min(numbers) else low, min(high, most))
            for (low, high), number in zip(intervals, numbers, strict=True)
        ]
    speed = known or rate(10**9, RateBasis.ETHERNET)
    bits = Fraction(speed.bits_per_second)
    ways = [
        [Fraction(round(Fraction(100 * whole, number)), 100) for number in numbers],
        [Fraction(whole, number) for number in numbers],
        [Fraction(roundest(low * bits, high * bits)) / bits for low, high in intervals],
        [low for low, _ in intervals],
    ]
    for parts in ways:
        if all(parts) and sum(parts) <= 1 and weights_beside_flows(parts, conversations) == (list(numbers), factor):
            break
    if all(part.denominator <= 100 and 100 % part.denominator == 0 for part in parts):
        return [_with(queue, percent=int(100 * part)) for queue, part in zip(queues, parts, strict=True)], None
    endless = [_endless(part * bits) and sum(parts) == 1 for part in parts]
    whole = lcm(*(part.denominator for part in parts))
    common = gcd(*(int(part * whole) for part, weighed in zip(parts, endless, strict=True) if weighed)) or 1
    said = [
        # Shares that decimals can't say are weights in what the others leave.
        _with(queue, weight=int(part * whole) // common) if weighed else _with_rate(queue, part, speed)
        for queue, part, weighed in zip(queues, parts, endless, strict=True)
    ]
    return said, None if known is not None else speed
