"""``phb search``: all packets that may be treated in a given way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from phb.model import Conditions
from phb.packets.words import Words, in_words
from phb.regions.budget import Budget
from phb.regions.cell import Open
from phb.searching.asking import Found, ask
from phb.searching.conditions import TreatmentConditions, check_names
from phb.searching.packets import meant
from phb.searching.telling import Region, Regions, Subject


@dataclass(frozen=True)
class Answer:
    """What was found.

    Attributes:
        more: Regions beyond those that were wanted.
        open: Packets that weren't looked at in the time that was allowed.
    """

    regions: tuple[Region, ...]
    more: int = 0
    open: tuple[Words, ...] = ()


def search(
    subject: Subject,
    match: Sequence[Conditions],
    unless: Sequence[Conditions],
    asked: TreatmentConditions | None,
    *,
    limit: int | None = None,
    budget: Budget | None = None,
    progress: Callable[[float], None] | None = None,
) -> Answer:
    """Find all packets of which something may become, or with None whatever does; tell at most `limit` regions of them.

    Raises:
        InputError: A condition names something that the policy doesn't have.
    """
    if asked is not None:
        check_names(asked, subject.policy)
    within = meant(match, unless, subject.policy, subject.epochs.all).inside
    found: list[Found] = []
    left = []
    for each in ask(subject.behaviour, subject.policy, within, asked, budget=budget, progress=progress):
        if isinstance(each, Open):
            left.append(each.box)
        else:
            found.append(each)
    regions = Regions(subject, found)
    told = tuple(islice(regions.told(), limit))
    return Answer(told, len(regions) - len(told), tuple(in_words(left, subject.naming, subject.everything)))
