"""``phb search``: all packets that may be treated in a given way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from phb.comparing.checking import Explaining
from phb.model import Conditions
from phb.packets.largest import largest_in_words
from phb.packets.many import Boxes
from phb.packets.words import Words, in_words
from phb.regions.budget import Budget, TimeOver
from phb.searching.asking import Found, ask
from phb.searching.conditions import TreatmentConditions, check_names
from phb.searching.packets import meant
from phb.searching.telling import Region, Regions, Subject, explained


@dataclass(frozen=True)
class Answer:
    """What was found.

    Attributes:
        more: Regions beyond those that were wanted, or could be told in time.
        open: Packets that weren't looked at in the time that was allowed; of very many sets the largest.
        more_open: Sets of packets that `open` doesn't say.
        late: Whether there was no time to tell as many regions as were wanted.
    """

    regions: tuple[Region, ...]
    more: int = 0
    open: tuple[Words, ...] = ()
    more_open: int = 0
    late: bool = False


def search(
    subject: Subject,
    explaining: Explaining,
    match: Sequence[Conditions],
    unless: Sequence[Conditions],
    asked: TreatmentConditions | None,
    *,
    limit: int | None = None,
    budget: Budget,
    progress: Callable[[float], None] | None = None,
) -> Answer:
    """Find all packets of which something may become, or with None whatever does; tell at most `limit` regions of them.

    Each region that is told has been explained.

    Raises:
        InputError: A condition names something that the policy doesn't have.
    """
    if asked is not None:
        check_names(asked, subject.policy)
    within = meant(match, unless, subject.policy, subject.epochs.all).inside
    found: list[Found] = []
    left: list[Boxes] = []
    for each in ask(subject.behaviour, subject.policy, within, asked, budget=budget.part(0.5), progress=progress):
        if isinstance(each, Boxes):
            left.append(each)
        else:
            found.append(each)
    regions = Regions(subject, found)
    told: list[Region] = []
    with suppress(TimeOver), budget.enforced():
        for region in islice(regions.told(), limit):
            told.append(explained(subject, explaining, region))
    words, more = _open(subject, Boxes.joined(left), budget)
    late = len(told) < min(len(regions), limit or len(regions))
    return Answer(tuple(told), len(regions) - len(told), words, more, late)


def _open(subject: Subject, boxes: Boxes, budget: Budget) -> tuple[tuple[Words, ...], int]:
    """Say what is open, or one of its sets where there is no time for more; and how many sets aren't said."""
    few = boxes[:1]
    with suppress(TimeOver), budget.enforced():
        words, more = largest_in_words(boxes, subject.naming, subject.everything)
        return tuple(words), more
    return tuple(in_words(few, subject.naming, subject.everything)), len(boxes) - len(few)
