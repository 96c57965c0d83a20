"""Weighted random early detection: thresholds, and how fast an idle queue's average decays."""

from __future__ import annotations

from math import log2

from phb.compiler.queueing.tables import THRESHOLDS
from phb.errors import InputError
from phb.intent import Entry, Exact, MatchValue, Ternary
from phb.model import Colour, DropProfile, EarlyDetection, Rate
from phb.origin import Origin

# Bytes of the packets that would have left an idle queue: Floyd and Jacobson (1993) want the time of a small packet;
# ns-2's RED takes 500 bytes.
SMALL_PACKET = 500

# The units of the pipeline's fractions.
UNIT = 1 << 32

# As the pipeline numbers them (p4src/headers.p4).
COLOURS = {Colour.GREEN: 0, Colour.YELLOW: 1, Colour.RED: 2}


def thresholds(detection: EarlyDetection, profile: int, traffic_class: int, rate: Rate | None) -> list[Entry]:
    """Give the rows of one queue, in order of the file; packets that no row names are only observed.

    Args:
        detection: The queue's statement.
        profile: The port's.
        traffic_class: The queue's; 0 where the port has one queue.
        rate: The port's; without it an idle queue's average doesn't decay before the next packet.

    Raises:
        InputError: Two profiles for the same packets.
    """
    common = {"average_weight": detection.average_weight, "halvings": halvings(detection.average_weight, rate)}
    queue: dict[str, MatchValue] = {"profile": Exact(profile), "traffic_class": Exact(traffic_class)}
    entries: list[Entry] = []
    seen: dict[str, Origin] = {}
    for place, drop in enumerate(detection.profiles):
        name, match = _selector(drop)
        if name in seen:
            raise InputError(drop.origin(), f"a second drop profile for {name} ({seen[name]})", "one")
        seen[name] = drop.origin()
        parameters = {
            **common,
            "minimum": drop.minimum,
            "maximum": drop.maximum,
            "slope": slope(drop.minimum, drop.maximum, drop.denominator),
            "ecn": int(detection.ecn),
        }
        # The first of several matching rows counts; the row for all others comes last.
        priority = 1 + len(detection.profiles) - place if match else 1
        entries.append(Entry(THRESHOLDS, {**queue, **match}, "early", parameters, priority, drop.origin()))
    if all(entry.priority > 1 for entry in entries):
        entries.append(Entry(THRESHOLDS, queue, "observe", common, 1, detection.origin()))
    return entries


def halvings(average_weight: int, rate: Rate | None) -> int:
    """Give the halvings of the average in a microsecond without packets, in units of 2^-32.

    m packets that leave an empty queue make the average (1 - 2^-n)^m of what it was.
    """
    if rate is None:
        return 0
    packets = float(rate.bits_per_second) / (8 * SMALL_PACKET) / 1_000_000
    return min(UNIT - 1, max(1, round(-log2(1 - 2**-average_weight) * packets * UNIT)))


def slope(minimum: int, maximum: int, denominator: int) -> int:
    """Give the slope of the probability from 0 to 1/`denominator`, in units of 2^-32 per packet."""
    span = maximum - minimum
    return min(UNIT - 1, round(UNIT / (denominator * span))) if span else 0


def _selector(drop: DropProfile) -> tuple[str, dict[str, MatchValue]]:
    if drop.dscp is not None:
        return f"DSCP {drop.dscp}", {"tos": Ternary(drop.dscp << 2, 0xFC)}
    if drop.precedence is not None:
        return f"precedence {drop.precedence}", {"tos": Ternary(drop.precedence << 5, 0xE0)}
    if drop.colour is not None:
        return f"colour {drop.colour}", {"colour": Ternary(COLOURS[drop.colour], 3)}
    return "all others", {}
