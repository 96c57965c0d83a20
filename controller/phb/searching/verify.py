"""``phb verify``: whether a policy does what is expected of it, with a packet that shows where it doesn't."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from phb.errors import InputError
from phb.regions.budget import Budget
from phb.regions.cell import Open
from phb.searching.asking import Found, ask
from phb.searching.conditions import NO, YES, check_names
from phb.searching.expectations import Expectation
from phb.searching.packets import meant
from phb.searching.telling import Region, Subject, regions


class State(StrEnum):
    """How it is with an expectation."""

    OK = "ok"
    FAILS = "fails"
    OPEN = "open"


@dataclass(frozen=True)
class Verdict:
    """Whether one expectation holds.

    Attributes:
        counterexample: Packets that are treated otherwise; None where none is, or none is known.
        seconds: How long it took.
    """

    expectation: Expectation
    state: State
    counterexample: Region | None
    seconds: float


def verify(subject: Subject, expectations: tuple[Expectation, ...], timeout_s: float | None) -> Iterator[Verdict]:
    """Tell of each expectation whether it holds; `timeout_s` is for each.

    Raises:
        InputError: A condition names something that the policy doesn't have, or no packet is meant.
    """
    questions = []
    for each in expectations:
        check_names(each.asked, subject.policy)
        frames = meant(each.match, each.unless, subject.policy, subject.epochs.all)
        if not frames.inside:
            raise InputError(each.origin("match"), "conditions that no packet meets", "some packets")
        questions.append((each, frames.outside if each.only else frames.inside))
    for each, within in questions:
        began = time.monotonic()
        # What would show that it fails; of `sometimes` what shows that it holds.
        wanted = NO if each.always else YES
        budget = Budget(seconds=timeout_s)
        first: Found | None = None
        left = False
        for found in ask(subject.behaviour, subject.policy, within, each.asked, wanted, budget=budget):
            if isinstance(found, Found):
                first = found
                break
            left = left or isinstance(found, Open)
        if first is not None:
            state = State.OK if each.sometimes else State.FAILS
        elif left:
            state = State.OPEN
        else:
            state = State.FAILS if each.sometimes else State.OK
        shown = regions(subject, [first]) if first is not None and state is State.FAILS else [None]
        yield Verdict(each, state, shown[0], time.monotonic() - began)


def reasons(verdict: Verdict) -> list[str]:
    """Say why an expectation doesn't hold, or isn't known to, a line each; nothing where it holds."""
    origin, shown = verdict.expectation.origin(), verdict.counterexample
    if verdict.state is State.OK:
        return []
    if verdict.state is State.OPEN:
        return ["not all packets were looked at in time (--timeout)", f"expected at {origin}"]
    if shown is None:
        return ["no packet is treated so: proven", f"expected at {origin}"]
    rules = [f"rule '{rule.name}' at {rule.origin}" for rule in shown.rules] or ["no rule takes it"]
    becomes = [str(each) for each in shown.becomes]
    return [f"counterexample: {shown.options}", *rules, *becomes, f"expected at {origin}"]
