"""Rates, bursts and numbers of queues in several statements."""

from __future__ import annotations

from phb.formats.ios.configuration import Configuration, Shape
from phb.formats.ios.language.lines import Words

# Bounds of "bandwidth (policy-map class)" and "shape (policy-map class)" in the Cisco IOS Quality of Service Solutions
# Command Reference; rates up to those of the fastest interfaces since.
KILOBITS = (1, 400_000_000)
SHAPED = (8000, 400_000_000_000)
BURST_BITS = (256, 10_000_000_000)


def take_bursts(words: Words) -> tuple[int | None, int | None]:
    """Take a shaper's Bc and Be in bits, as far as they follow."""
    committed = words.maybe_number(*BURST_BITS, "a burst in bits")
    excess = words.maybe_number(0, BURST_BITS[1], "a burst in bits") if committed is not None else None
    return committed, excess


def take_conversations(words: Words, what: str) -> int | None:
    """Take a number of dynamic queues, if one follows."""
    number = words.maybe_number(16, 4096, what)
    if number is not None and number & (number - 1):
        words.line.fail(f"'{number}'", "a power of two from 16 to 4096")
    return number


def note_bursts(configuration: Configuration, shape: Shape) -> None:
    """Note a Be that is configured, or the default beside a configured Bc: after a pause only Bc passes at once."""
    if shape.committed_burst is not None and shape.excess_burst != 0 and not shape.peak:
        whose = "Be" if shape.excess_burst is not None else "Be, which is Bc unless configured,"
        configuration.note(shape.origin, f"{whose} has no effect: after a pause phb sends a burst of Bc")
