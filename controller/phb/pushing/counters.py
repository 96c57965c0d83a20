"""Counters of policies and streams: what a number counted for another rule must not be read as the new rule's."""

from __future__ import annotations

from collections.abc import Collection

from phb.device.session import Session
from phb.pipeline_names import COLOURS_PER_POLICY, REASONS_PER_POLICY
from phb.pushing.difference import Row
from phb.pushing.references import References

# Every packet is counted in the first one of a space's counters, so that the others need no look where it is zero.
# Cells of a number: that many from the number times as many.
_BY_NUMBER = {
    "policy": (("policy_traffic", COLOURS_PER_POLICY), ("policy_drops", REASONS_PER_POLICY)),
    "stream": (("stream_traffic", COLOURS_PER_POLICY),),
}


async def clear_counters(
    session: Session, visible: Collection[Row] | None, wanted: Collection[Row], references: References
) -> None:
    """Set the counters of numbers to zero that are about to stand for something else.

    Args:
        session: Primary.
        visible: What packets meet now; None where the program has just been loaded, and every counter is zero.
        wanted: What they will meet.
        references: The program's.

    """
    if visible is None:
        return
    new = references.given(wanted) - references.given(visible)
    for space, counters in _BY_NUMBER.items():
        numbers = sorted(number for name, number in new if name == space and number)
        for name, width in counters:
            if name in session.artifact.counters and numbers:
                cells = [number * width + cell for number in numbers for cell in range(width)]
                counted = await session.counter(name, cells)
                await session.clear_counter(name, counted)
                numbers = sorted({cell // width for cell in counted})
