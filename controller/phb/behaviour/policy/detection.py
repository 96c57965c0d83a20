"""Early detection of a queue, by colour and ToS octet."""

from __future__ import annotations

from fractions import Fraction
from math import log2
from typing import Final, TypeAlias

from phb.behaviour.behaviour import Fact
from phb.behaviour.facts import UNIT, early
from phb.model import Colour, DropProfile, EarlyDetection, Rate

Detection: TypeAlias = tuple[tuple[tuple[Fact, ...] | None, ...], ...]
"""As of `phb.behaviour.behaviour.Service.early`."""

_COLOURS: Final = (Colour.GREEN, Colour.YELLOW, Colour.RED)
_SMALL_PACKET: Final = 500
"""Bytes of the packets that are taken to have left an idle queue (docs/inside/scheduling.md)."""


def detection(said: EarlyDetection | None, rate: Rate | None) -> Detection:
    """Give the facts of each packet; `rate` is the port's, by which the average of an idle queue falls."""
    if said is None:
        return ()
    found: list[list[tuple[Fact, ...] | None]] = [[None] * 256 for _ in _COLOURS]
    # The first profile that selects a packet counts, that of all others last: so the last one is written first.
    profiles = sorted(said.profiles, key=_is_of_all_others)
    for profile in reversed(profiles):
        facts = _facts(profile, said, rate)
        octets = _octets(profile)
        for colour, row in zip(_COLOURS, found, strict=True):
            if profile.colour in (None, colour):
                for tos in octets:
                    row[tos] = facts
    return tuple(tuple(row) for row in found)


def _is_of_all_others(profile: DropProfile) -> bool:
    return profile.dscp is None and profile.precedence is None and profile.colour is None


def _octets(profile: DropProfile) -> range:
    if profile.dscp is not None:
        return range(profile.dscp << 2, profile.dscp + 1 << 2)
    if profile.precedence is not None:
        return range(profile.precedence << 5, profile.precedence + 1 << 5)
    return range(256)


def _facts(profile: DropProfile, said: EarlyDetection, rate: Rate | None) -> tuple[Fact, ...]:
    span = profile.maximum - profile.minimum
    # Of a probability that rises from 0 to 1 in `denominator`, in the units in which it is kept.
    slope = min(UNIT - 1, round(Fraction(UNIT, profile.denominator * span))) if span else 0
    weight = said.average_weight
    return early(profile.minimum, profile.maximum, slope, weight, _halvings(weight, rate), ecn=said.ecn)


def _halvings(average_weight: int, rate: Rate | None) -> int:
    """Give how often the average of an idle queue halves in a microsecond, in units of 2^-32; never without a rate.

    Each small packet that could have left takes a 2^n-th of the average away.
    """
    if rate is None:
        return 0
    in_a_microsecond = float(rate.bits_per_second) / (8 * _SMALL_PACKET) / 1_000_000
    return min(UNIT - 1, max(1, round(-log2(1 - 2**-average_weight) * in_a_microsecond * UNIT)))
