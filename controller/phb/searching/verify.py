"""``phb verify``: whether a policy does what is expected of it, with a packet that shows where it doesn't."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from phb.errors import InputError
from phb.regions.budget import Budget
from phb.regions.cell import Open
from phb.searching.asking import Found, ask, is_ipv4
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
        ask_for = partial(ask, subject.behaviour, subject.policy, asked=each.asked, wanted=wanted)
        first, left = _first(ask_for(within, budget=Budget(seconds=timeout_s)))
        if first is not None and not is_ipv4(first.box):
            # People read IPv4 more easily, where the same happens there.
            first = _first(ask_for(filter(is_ipv4, within), budget=Budget(seconds=1)))[0] or first
        if first is not None:
            state = State.OK if each.sometimes else State.FAILS
        elif left:
            state = State.OPEN
        else:
            state = State.FAILS if each.sometimes else State.OK
        shown = regions(subject, [first]) if first is not None and state is State.FAILS else [None]
        yield Verdict(each, state, shown[0], time.monotonic() - began)


def _first(found: Iterator[Found | Open]) -> tuple[Found | None, bool]:
    """Give the first packets that are found, and whether some weren't looked at before."""
    left = False
    for each in found:
        if isinstance(each, Found):
            return each, left
        left = True
    return None, left


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
