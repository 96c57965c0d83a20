"""A list of rules, the first of which counts, as ordered boxes for a table with priorities.

A packet that meets a rule's exception goes on to the rules after it, as if the rule weren't there. A table can't go on
after a match; so the exception's box, decided by the later rules, stands before the rule.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from phb.compiler.matching import Box, intersection

Result = TypeVar("Result")


@dataclass(frozen=True)
class Decision(Generic[Result]):
    """A rule: it takes packets in any of `boxes` and in none of `exceptions`."""

    boxes: tuple[Box, ...]
    exceptions: tuple[Box, ...]
    result: Result


@dataclass(frozen=True)
class PriorityStep(Generic[Result]):
    """Boxes of one priority; `result` is None where no rule takes them, `reason` the result of the step's rule."""

    boxes: tuple[Box, ...]
    result: Result | None
    reason: Result


def steps(decisions: Sequence[Decision[Result]]) -> Iterator[PriorityStep[Result]]:
    """Order the boxes so that the first one that takes a packet has the packet's result.

    Gives one step for each rule, empty where it has no box, and more before those with exceptions.
    """
    for position, decision in enumerate(decisions):
        yield from _exceptions(decisions, position, decision.boxes)
        yield PriorityStep(decision.boxes, decision.result, decision.result)


def _exceptions(
    decisions: Sequence[Decision[Result]], position: int, boxes: tuple[Box, ...]
) -> Iterator[PriorityStep[Result]]:
    for exception in decisions[position].exceptions:
        for region in _within(exception, boxes):
            yield from _rest(decisions, position + 1, region, decisions[position].result)


def _rest(
    decisions: Sequence[Decision[Result]], first: int, region: Box, reason: Result
) -> Iterator[PriorityStep[Result]]:
    """Decide one region completely by the rules from `first` on."""
    for position in range(first, len(decisions)):
        decision = decisions[position]
        boxes = tuple(_within(region, decision.boxes))
        if boxes:
            if decision.exceptions:
                yield from _exceptions(decisions, position, boxes)
            yield PriorityStep(boxes, decision.result, decision.result)
            if region in boxes:
                return
    yield PriorityStep((region,), None, reason)


def _within(region: Box, boxes: tuple[Box, ...]) -> Iterator[Box]:
    for box in boxes:
        common = intersection(region, box)
        if common is not None:
            yield common
