"""``phb verify``: whether a policy does what is expected of it, with a packet that shows where it doesn't."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from phb.comparing.checking import Explaining
from phb.errors import InputError, each_of
from phb.packets.boxes import ValueBox
from phb.packets.many import Boxes
from phb.regions.budget import Budget
from phb.searching.asking import Found, Space, ask, is_ipv4
from phb.searching.conditions import NO, YES, check_names
from phb.searching.expectations import Expectation
from phb.searching.packets import meant
from phb.searching.telling import Region, Regions, Subject, explained


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


@dataclass(frozen=True)
class Question:
    """An expectation of a policy: that what would show otherwise isn't there, in these packets."""

    expectation: Expectation
    within: tuple[ValueBox, ...]
    space: Space


def questions(subject: Subject, expectations: Iterable[Expectation]) -> list[Question]:
    """Make questions of expectations.

    Raises:
        InputError: A condition names something that the policy doesn't have, or no packet is meant.
    """
    expected = list(expectations)
    within = each_of(partial(_within, subject, each) for each in expected)
    space = Space(subject.behaviour, [box for boxes in within for box in boxes])
    return [Question(each, boxes, space) for each, boxes in zip(expected, within, strict=True)]


def _within(subject: Subject, expectation: Expectation) -> tuple[ValueBox, ...]:
    check_names(expectation.asked, subject.policy)
    frames = meant(expectation.match, expectation.unless, subject.policy, subject.epochs.all)
    if not frames.inside:
        raise InputError(expectation.origin("match"), "conditions that no packet meets", "some packets")
    return frames.outside if expectation.only else frames.inside


def verdict(
    subject: Subject,
    explaining: Explaining,
    question: Question,
    budget: Budget,
    progress: Callable[[float], None] | None = None,
) -> Verdict:
    """Tell whether an expectation holds; a packet that shows where it doesn't has been explained.

    Raises:
        TimeOver: There was no time to explain that packet.
    """
    expected, within, finding = question.expectation, question.within, budget.finding()
    # What would show that it fails; of `sometimes` what shows that it holds.
    wanted = NO if expected.always else YES
    ask_for = partial(ask, subject.behaviour, subject.policy, asked=expected.asked, wanted=wanted, space=question.space)
    first, left = _first(ask_for(within, budget=finding, progress=progress))
    if first is not None and not is_ipv4(first.subsets):
        # People read IPv4 more easily, where the same happens there.
        ipv4 = [box for box in within if is_ipv4(box.subsets)]
        first = _first(ask_for(ipv4, budget=finding.part(1, most=1)))[0] or first
    if first is None:
        state = State.OPEN if left else State.FAILS if expected.sometimes else State.OK
        return Verdict(expected, state, None, budget.taken)
    if expected.sometimes:
        return Verdict(expected, State.OK, None, budget.taken)
    with budget.enforced():
        few = first._replace(boxes=first.boxes.largest(1))
        shown = explained(subject, explaining, next(Regions(subject, [few]).told()))
    return Verdict(expected, State.FAILS, shown, budget.taken)


def _first(found: Iterator[Found | Boxes]) -> tuple[Found | None, bool]:
    """Give the first packets that are found, and whether some weren't looked at before."""
    left = False
    for each in found:
        if isinstance(each, Found):
            return each, left
        left = True
    return None, left


def reasons(told: Verdict) -> list[str]:
    """Say why an expectation doesn't hold, or isn't known to, a line each; nothing where it holds."""
    origin, shown = told.expectation.origin(), told.counterexample
    if told.state is State.OK:
        return []
    if told.state is State.OPEN:
        return ["not all packets were looked at in time (--timeout)", f"expected at {origin}"]
    if shown is None:
        return ["no packet is treated so: proven", f"expected at {origin}"]
    rules = [str(rule) for rule in shown.rules] or ["no rule takes it"]
    becomes = [str(each) for each in shown.becomes]
    return [f"counterexample: {shown.options}", *rules, *becomes, f"expected at {origin}"]
