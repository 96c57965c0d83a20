"""Priorities of ordered entries, kept as a switch holds them wherever the order allows it.

The compiler numbers rules from the top, without knowing a switch. Written like that, one rule put in front would move
all others. Only the order of priorities means anything, so that here all entries whose order hasn't changed keep theirs
(the longest such subsequence), new and moved ones get priorities in the gaps, and where a gap is used up its
neighbourhood is spread anew.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise

# P4Runtime: an int32, and 0 is none.
LARGEST = (1 << 31) - 1
# Between entries that are put at either end: ten rules can be put between any two before neighbours have to move.
SPACING = 1024

# Of the first entry, where nothing is held yet: there is room on both sides.
FIRST = 1 << 30

# The highest and the lowest priority of a group's entries.
_Span = tuple[int, int]


def kept_priorities(entries: Sequence[tuple[int, int | None]]) -> list[int]:
    """Give each entry a priority: entries of different compiled priorities keep their order.

    An entry is the priority that the compiler gave it, and the one that the switch holds it at, None where it holds no
    such entry. Entries of the same compiled priority are of the same rule: their order among themselves means nothing.
    """
    order = sorted({compiled for compiled, _ in entries}, reverse=True)
    place = {compiled: index for index, compiled in enumerate(order)}
    held = sorted(
        {(place[compiled], -priority) for compiled, priority in entries if priority is not None},
    )
    kept: dict[int, set[int]] = {}
    for index, negative in _longest_rising(held):
        kept.setdefault(index, set()).add(-negative)
    if not kept:
        # Priorities without gaps would have to be moved by the first rule that is put between two.
        if any(above - below < SPACING for above, below in pairwise(order)) and len(order) * SPACING < FIRST:
            return [FIRST - SPACING * place[compiled] for compiled, _ in entries]
        return [compiled for compiled, _ in entries]
    spans: list[_Span | None] = [
        (max(kept[index]), min(kept[index])) if index in kept else None for index in range(len(order))
    ]
    placed = _fill(spans)
    result = []
    for compiled, priority in entries:
        index = place[compiled]
        highest, lowest = placed[index]
        stays = priority is not None and spans[index] is not None and priority in kept.get(index, ())
        result.append(priority if stays and priority is not None else lowest if spans[index] is not None else highest)
    return result


def _longest_rising(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Find the longest subsequence whose second parts rise strictly (patience sorting)."""
    tails: list[int] = []
    ends: list[int] = []
    before: list[int] = []
    for index, (_, value) in enumerate(pairs):
        length = bisect_left(tails, value)
        before.append(ends[length - 1] if length else -1)
        if length == len(tails):
            tails.append(value)
            ends.append(index)
        else:
            tails[length] = value
            ends[length] = index
    chosen = []
    index = ends[-1] if ends else -1
    while index >= 0:
        chosen.append(pairs[index])
        index = before[index]
    return chosen[::-1]


def _fill(spans: list[_Span | None]) -> list[_Span]:
    """Place the groups without a span; a span that had to give way is None afterwards."""
    placed: list[_Span] = [(0, 0) if span is None else span for span in spans]
    settled = [span is not None for span in spans]
    start = 0
    while start < len(spans):
        if settled[start]:
            start += 1
            continue
        first, last = _open_run(settled, start, start + 1)
        widen = 0
        while not _place(spans, placed, first, last, spread=widen > 0):
            widen = 2 * widen or 1
            first, last = max(0, first - widen), min(len(spans), last + widen)
            for index in range(first, last):
                spans[index] = None
                settled[index] = False
            first, last = _open_run(settled, first, last)
        for index in range(first, last):
            settled[index] = True
        start = last
    return placed


def _open_run(settled: Sequence[bool], first: int, last: int) -> tuple[int, int]:
    """Widen a range by the unsettled places on either side."""
    while first > 0 and not settled[first - 1]:
        first -= 1
    while last < len(settled) and not settled[last]:
        last += 1
    return first, last


def _place(spans: Sequence[_Span | None], placed: list[_Span], first: int, last: int, *, spread: bool) -> bool:
    """Give the groups from `first` to `last` priorities between their neighbours'; False where there is no room."""
    count = last - first
    above = placed[first - 1][1] if first > 0 else None
    below = placed[last][0] if last < len(spans) else None
    wanted = SPACING * (count + 1)
    if above is None and below is None:
        below, above = 0, min(LARGEST + 1, wanted)
    elif above is None:
        assert below is not None
        above = min(LARGEST + 1, below + wanted)
    elif below is None:
        below = max(0, above - wanted)
    # A neighbourhood that is spread anew gets some air, so that the next rule there doesn't move it again.
    room = above - below - 1
    everything = first == 0 and last == len(spans)
    if room < count or (spread and room < 2 * count and not everything):
        return False
    for index in range(first, last):
        priority = above - (above - below) * (index - first + 1) // (count + 1)
        placed[index] = (priority, priority)
    return True
