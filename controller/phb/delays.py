"""Delays by class as the pipeline counts them: buckets an eighth of an octave wide, and what they say.

Delays below 8 us have a bucket each; above, each power of two is cut into eight equal parts. A delay that is taken for
the middle of its bucket is wrong by at most a sixteenth of it (`ERROR`), 6.25 percent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

PARTS: Final = 8
"""Equal parts of each power of two, as p4src/egress.p4 cuts them."""

BUCKETS: Final = 240
"""Those that a delay of 32 bits can fall into; a class has cells for 256."""

ERROR: Final = 1 / 16
"""The most by which the middle of a bucket differs from a delay in it, as a part of the delay."""

_BITS = PARTS.bit_length() - 1


def bucket_of(delay_us: int) -> int:
    """Give the bucket of a delay in microseconds, up to 2^32 - 1."""
    if delay_us < PARTS:
        return delay_us
    octave = delay_us.bit_length() - 1 - _BITS
    return octave * PARTS + (delay_us >> octave)


def least_us(bucket: int) -> int:
    """Give the shortest delay of a bucket."""
    if bucket < PARTS:
        return bucket
    octave = bucket // PARTS - 1
    return (bucket % PARTS + PARTS) << octave


def below_us(bucket: int) -> int:
    """Give what all delays of a bucket are below: the shortest of the next one."""
    return least_us(bucket + 1)


def middle_us(bucket: int) -> float:
    """Give what a bucket's delays are taken for."""
    return (least_us(bucket) + below_us(bucket) - 1) / 2


_MIDDLES: Final = tuple(middle_us(bucket) for bucket in range(256))


def mean_us(frames: Mapping[int, int]) -> float | None:
    """Give the mean delay of frames by bucket; None without frames."""
    total = sum(frames.values())
    return sum(_MIDDLES[bucket] * count for bucket, count in frames.items()) / total if total else None


def percentiles_us(frames: Mapping[int, int], percents: Sequence[float]) -> list[float]:
    """Give what `percentile_us` does for several ascending percents, in one pass over at least one frame."""
    total = sum(frames.values())
    found: list[float] = []
    passed = 0
    for bucket in sorted(frames):
        passed += frames[bucket]
        while len(found) < len(percents) and passed * 100 >= total * percents[len(found)] and passed:
            found.append(_MIDDLES[bucket])
    return found


def percentile_us(frames: Mapping[int, int], percent: float) -> float | None:
    """Give the delay that so many percent of the frames don't exceed (nearest rank); None without frames."""
    total = sum(frames.values())
    passed = 0
    for bucket in sorted(frames):
        passed += frames[bucket]
        if passed * 100 >= total * percent and passed:
            return middle_us(bucket)
    return None


def time_in_words(microseconds: float) -> str:
    """Write a time with three digits."""
    for unit, factor in (("s", 1_000_000), ("ms", 1000)):
        # What would be rounded to 1000 has the next unit.
        if microseconds >= factor * 0.9995:
            return f"{microseconds / factor:.3g} {unit}"
    return f"{microseconds:.0f} us"
