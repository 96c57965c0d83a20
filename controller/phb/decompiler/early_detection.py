"""Stage wred: thresholds as drop profiles, and how fast a port is by how an idle queue's average decays."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor, log2

from phb.compiler.matching import Box
from phb.compiler.queueing.early_detection import COLOURS, SMALL_PACKET, UNIT, slope
from phb.decompiler.boxes import code_points
from phb.decompiler.numbers import Bounds, roundest
from phb.decompiler.rows import NotAPolicyError, exact
from phb.intent import Entry, Ternary
from phb.model import Colour, DropProfile, EarlyDetection

_COLOURS: dict[int, Colour] = {number: colour for colour, number in COLOURS.items()}

# Of the model's drop profiles.
LARGEST_DENOMINATOR = 65536

# Port rates that are looked for, in bit/s.
_SLOWEST, _FASTEST = Fraction(1), Fraction(10**12)


def early_detection(entries: Sequence[Entry]) -> EarlyDetection | None:
    """Read early detection from the rows of one queue, in the order in which they are asked; None where it has none."""
    if not entries:
        return None
    said = [entry for entry in entries if entry.action == "early"]
    if not said:
        raise NotAPolicyError(entries[0], "early detection without a drop profile")
    profiles = [_profile(entry) for entry in said]
    if not _selects(said[-1]):
        # It is asked last, wherever it stands: a gap in the priorities of the others shows its place.
        places = {1 + len(said) - entry.priority for entry in said[:-1]}
        place = next((place for place in range(len(said)) if place not in places), len(said))
        profiles.insert(place, profiles.pop())
    ecn = any(entry.parameters.get("ecn") for entry in entries)
    return EarlyDetection(average_weight=entries[0].parameters["average_weight"], ecn=ecn, profiles=tuple(profiles))


def _selects(entry: Entry) -> bool:
    return "tos" in entry.match or "colour" in entry.match


def _profile(entry: Entry) -> DropProfile:
    values = entry.parameters
    minimum, maximum = values["minimum"], values["maximum"]
    fields: dict[str, object] = {}
    tos, colour = entry.match.get("tos"), entry.match.get("colour")
    if isinstance(tos, Ternary):
        fields = code_points(Box(tos=(tos.value, tos.mask)))
    elif isinstance(colour, Ternary):
        fields["colour"] = _COLOURS[colour.value]
    if maximum > minimum:
        fields["denominator"] = _denominator(entry, minimum, maximum)
    return DropProfile(minimum=minimum, maximum=maximum, **fields)  # type: ignore[arg-type]


def _denominator(entry: Entry, minimum: int, maximum: int) -> int:
    """Find the roundest number that gives the slope."""
    wanted = entry.parameters["slope"]
    half, span = Fraction(1, 2), maximum - minimum
    # The steepest slope stands for all that the field has no room for.
    low = 1 if wanted == UNIT - 1 else max(1, ceil(UNIT / ((wanted + half) * span)))
    high = max(low, min(LARGEST_DENOMINATOR, floor(UNIT / ((max(wanted, 1) - half) * span))))
    for denominator in (int(roundest(Fraction(low), Fraction(high))), low, high):
        if slope(minimum, maximum, denominator) == wanted:
            return denominator
    raise NotAPolicyError(entry, "no probability rises so")


def port_rate(entries: Sequence[Entry]) -> Bounds | None:
    """Give the bounds of a port's rate in bit/s, from all of its rows; None where early detection doesn't know it."""
    low, high, known = _SLOWEST, _FASTEST, False
    for entry in entries:
        halvings, weight = entry.parameters["halvings"], entry.parameters["average_weight"]
        if not halvings:
            continue
        known = True
        each = Fraction(-log2(1 - 2**-weight) * UNIT / (8 * SMALL_PACKET * 1_000_000))
        half = Fraction(49, 100)
        if halvings > 1:
            low = max(low, (halvings - half) / each)
        if halvings < UNIT - 1:
            high = min(high, (halvings + half) / each)
    if not known:
        return None
    if low > high:
        raise NotAPolicyError(entries[0], f"queues of port profile {exact(entries[0].match['profile'])} decay unlike")
    return low, high
