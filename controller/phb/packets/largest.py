"""Very many boxes for people: which share of all packets they are, and the largest of them in words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from functools import cache, reduce
from math import prod
from operator import or_
from typing import Final

import numpy as np

from phb.packets.boxes import Interval, ValueBox, intersection
from phb.packets.joining import merge
from phb.packets.many import Boxes, without_vlan
from phb.packets.space import Dimension, Subset, every_packet
from phb.packets.words import Naming, Words, in_words

_AT_ONCE: Final = 150  # boxes that are put into words together: the time grows with the square of their number
_FEW: Final = 100  # boxes that are faster one by one
_MERGED: Final = 2_000  # boxes that are all joined before ...
_LARGEST: Final = 500  # ... and those that are if there are more
_SAID: Final = 20  # boxes that are put into words if there are more: nobody reads hundreds


def share(boxes: Iterable[ValueBox]) -> Fraction:
    """Give the share of all packets: kinds (IP version, protocol, tag or none) count alike, then numbers of packets."""
    if isinstance(boxes, Boxes) and len(boxes) > _FEW:
        return _share_of_many(boxes)
    boxes = list(boxes)
    epochs = 0
    for box in boxes:
        epochs |= box.subsets[Subset.EPOCH]
    kinds = every_packet(epochs or 1)
    found: dict[ValueBox, int] = defaultdict(int)
    for box in boxes:
        for kind in _meeting(epochs, *(box.subsets[each] for each in _TELLING)):
            part = intersection(kind, box)
            if part is not None:
                found[kind] += part.volume
    return sum((Fraction(count, kind.volume) for kind, count in found.items()), Fraction()) / len(kinds)


def _share_of_many(boxes: Boxes) -> Fraction:
    kinds = every_packet(reduce(or_, (subsets[Subset.EPOCH] for _, subsets in boxes.subsets()), 0) or 1)
    return sum((Fraction(boxes.volume(kind), kind.volume) for kind in kinds), Fraction()) / len(kinds)


def about(groups: Sequence[Sequence[Boxes]]) -> list[float]:
    """Give about the shares of many groups of boxes at once."""
    boxes = Boxes.joined([part for group in groups for part in group])
    if not len(boxes):
        return []
    group_of = np.repeat(np.arange(len(groups)), [sum(map(len, group)) for group in groups])
    epochs = [reduce(or_, (kind[Subset.EPOCH] for part in group for _, kind in part.subsets())) for group in groups]
    every_epoch = reduce(or_, epochs)
    kinds = every_packet(every_epoch)
    found = np.zeros(len(groups))
    for kind in kinds:
        for rows, volumes in boxes.volumes(kind):
            found += np.bincount(group_of[rows], (volumes / kind.volume).astype(float), len(groups))
    at_once = [every_epoch.bit_count() / each.bit_count() for each in epochs]
    return [float(size) * times / len(kinds) for size, times in zip(found, at_once, strict=True)]


_TELLING: Final = (Subset.VERSION, Subset.PROTOCOL, Subset.TAG, Subset.FLAGS)


@cache
def _meeting(epochs: int, *subsets: int) -> list[ValueBox]:
    """Give the kinds of packets that may be in a box, by those of its subsets that tell kinds apart."""
    return [
        kind
        for kind in every_packet(epochs)
        if all(bits & kind.subsets[each] for bits, each in zip(subsets, _TELLING, strict=True))
    ]


def largest_in_words(
    boxes: Sequence[ValueBox], naming: Naming, within: Sequence[ValueBox] | None = None
) -> tuple[list[Words], int]:
    """Say disjoint boxes; of very many only the largest, and how many sets of packets aren't said.

    Args:
        boxes: The packets.
        naming: What ports and moments are called.
        within: All packets that there are, as of `in_words`.
    """
    largest = boxes
    if len(boxes) > _MERGED:
        largest = boxes.largest(_LARGEST) if isinstance(boxes, Boxes) else sorted(boxes, key=_size)[:_LARGEST]
    merged = merge(largest)
    left = len(boxes) - len(largest)
    if not left and len(merged) <= _AT_ONCE:
        return in_words(merged, naming, within), 0
    alike: dict[Hashable, list[ValueBox]] = {}
    for box in sorted(merged, key=_size):
        # Tagged and untagged packets of the same addresses and ports are said in one.
        alike.setdefault((box.intervals[: Dimension.VLAN], box.subsets[: Subset.TAG]), []).append(box)
    said = list(alike.values())[:_SAID]
    words = [words for each in said for words in in_words(each, naming, within)]
    return words, len(merged) - sum(map(len, said)) + left


def _size(box: ValueBox) -> tuple[int, tuple[Interval, ...]]:
    """Sort the largest first, then by addresses and ports: as `Boxes.largest` does."""
    return -prod(high - low + 1 for low, high in without_vlan(box.intervals)), box.intervals
