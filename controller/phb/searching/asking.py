"""Which packets have an outcome of which a condition holds, or doesn't."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phb.behaviour.behaviour import Behaviour, Step
from phb.behaviour.deciding import Decided
from phb.model import PolicySet
from phb.packets.boxes import ValueBox
from phb.packets.many import Boxes, Subsets, alike
from phb.packets.space import UNTAGGED, Subset, Version
from phb.regions import answer
from phb.regions.arrays import Arrays
from phb.regions.budget import Budget
from phb.regions.cell import decided as decided_of
from phb.regions.effects import Apart, effects
from phb.searching.conditions import YES, TreatmentConditions, Truth, holds, inner
from phb.searching.outcomes import Outcome, outcomes


class Space:
    """Boxes of packets about which there are many questions, with a behaviour's steps, as arrays."""

    def __init__(self, behaviour: Behaviour, boxes: Sequence[ValueBox]) -> None:
        self._behaviours = [behaviour]
        self._numbers = {box: number for number, box in enumerate(dict.fromkeys(boxes))}
        self._arrays = Arrays(self._behaviours, list(self._numbers), effects(behaviour))

    def part(self, boxes: Iterable[ValueBox], apart: Apart | None) -> Arrays:
        """Give some of the boxes, with what tells steps apart."""
        return self._arrays.part([self._numbers[box] for box in boxes], self._behaviours, apart)


class Found(NamedTuple):
    """Packets that the same steps take, of the same subsets, with all those outcomes that were looked for."""

    boxes: Boxes
    subsets: Subsets
    decided: Decided
    outcomes: tuple[Outcome, ...]


def ask(
    behaviour: Behaviour,
    policy: PolicySet,
    within: Iterable[ValueBox],
    asked: TreatmentConditions | None,
    wanted: int = YES,
    *,
    budget: Budget | None = None,
    space: Space | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Found | Boxes]:
    """Find all packets that may have an outcome for which the condition is YES or NO, whichever is wanted.

    Args:
        behaviour: That of the policy.
        policy: Has the numbers of ports.
        within: Disjoint boxes.
        asked: Its names are checked before (`check_names`). None is whatever becomes of the packets.
        wanted: YES or NO.
        budget: When it is spent, packets that weren't looked at are given as boxes.
        space: That of many questions, which has these boxes.
        progress: Is told the share of the work that is done.
    """
    known: dict[tuple[Decided, bool], tuple[tuple[Outcome, ...], NDArray[np.int32] | int]] = {}

    def outcomes_of(decided: Decided, *, is_ip: bool) -> tuple[tuple[Outcome, ...], NDArray[np.int32] | int]:
        if (decided, is_ip) not in known:
            each = tuple(outcomes(behaviour, decided, is_ip=is_ip))
            truths = [(one, wanted if asked is None else holds(asked, one, behaviour, policy)) for one in each]
            known[decided, is_ip] = each, _which(truths, wanted)
        return known[decided, is_ip]

    def is_wanted(decided: tuple[Decided, ...], version: Version) -> NDArray[np.bool_] | bool:
        which = outcomes_of(decided[0], is_ip=version is not Version.NONE)[1]
        return bool(which) if isinstance(which, int) else which != 0

    @cache
    def chosen(decided: Decided, bits: int, *, is_ip: bool) -> tuple[Outcome, ...]:
        return tuple(one for number, one in enumerate(outcomes_of(decided, is_ip=is_ip)[0]) if bits >> number & 1)

    rules = set() if asked is None else {each.rule for each in inner(asked)}

    def named(step: Step[Any]) -> str | None:
        return step.name if step.name in rules else None

    within = list(within)
    divided = answer.divide_many(
        [behaviour],
        within,
        arrays=None if space is None or not within else space.part(within, named if rules else None),
        wanted=None if asked is None else is_wanted,
        apart=named,
        budget=budget,
        progress=progress,
    )
    for many in divided:
        if isinstance(many, Boxes):
            yield many
            continue
        order, starts = alike([many.boxes.kind, *many.decided[:, 0].T])
        kinds = list(many.boxes.kinds)
        for rows in np.split(order, starts[1:]):
            subsets, decided = kinds[many.boxes.kind[rows[0]]], decided_of(many.decided[rows[0], 0])
            boxes, ip = many.boxes.chosen(rows), is_ip(subsets)
            for part, bits in _parts(subsets, outcomes_of(decided, is_ip=ip)[1]):
                yield Found(boxes.with_subsets(part), part, decided, chosen(decided, bits, is_ip=ip))


def is_ip(subsets: Subsets) -> bool:
    """Whether these are subsets of IP packets."""
    return not subsets[Subset.VERSION] >> Version.NONE & 1


def is_ipv4(subsets: Subsets) -> bool:
    """Whether these are subsets of IPv4 packets."""
    return subsets[Subset.VERSION] == 1 << Version.IPV4


def _which(truths: list[tuple[Outcome, Truth]], wanted: int) -> NDArray[np.int32] | int:
    """Tell which outcomes are wanted, as bits: of all packets, or by the marks with which they come."""
    which: NDArray[np.int32] | int = 0
    for number, (outcome, truth) in enumerate(truths):
        hit: NDArray[np.bool_] | bool = truth == wanted
        if outcome.possible is not None:
            hit = hit & outcome.possible
        which = which | (
            np.left_shift(np.asarray(hit, np.int32), number) if isinstance(hit, np.ndarray) else hit << number
        )
    if isinstance(which, int) or which.min() != which.max():
        return which
    return int(which.flat[0])


def _parts(whole: Subsets, which: NDArray[np.int32] | int) -> Iterator[tuple[Subsets, int]]:
    if isinstance(which, int):
        if which:
            yield whole, which
        return
    groups: dict[tuple[int, int], int] = {}
    for tag in range(UNTAGGED + 1):
        if not whole[Subset.TAG] >> tag & 1:
            continue
        column = which[:, tag]
        for bits in np.unique(column):
            octets = sum(1 << int(octet) for octet in np.flatnonzero(column == bits)) & whole[Subset.TOS]
            if bits and octets:
                groups[int(bits), octets] = groups.get((int(bits), octets), 0) | 1 << tag
    for (bits, octets), tags in groups.items():
        yield (*whole[: Subset.TOS], octets, tags, *whole[Subset.TAG + 1 :]), bits
