"""Which steps can be among those that are looked for: where none of them are, packets needn't be divided."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Final

import numpy as np

from phb.behaviour.deciding import NONE, Decided
from phb.packets.space import Version
from phb.regions.arrays import Arrays, Bools
from phb.regions.effects import Wanted

_MOST: Final = 20_000
"""Combinations of what steps do that are asked for; if there are more, all that is left is looked for."""


def hopeful(arrays: Arrays, wanted: Wanted) -> tuple[Bools, Bools, Bools]:
    """Tell, by effect of input, forwarding and output entries of one behaviour, whether they may be looked for."""
    entries, starts = arrays.entries, arrays.starts
    found = []
    firsts: list[list[int]] = []
    for start, end in pairwise(starts):
        effects, index = np.unique(entries.effect[start:end], return_index=True)
        firsts.append((index + start).tolist())
        found.append(np.zeros(effects[-1] + 1, bool))
    asked = 0
    for entered, forwarded in product(firsts[0], firsts[1]):
        one, two = entries.effect[entered], entries.effect[forwarded]
        for decided, output in _combinations(arrays, entered, forwarded, firsts[2]):
            three = slice(None) if output is None else entries.effect[output]
            if found[0][one] and found[1][two] and found[2][three].all():
                continue
            asked += 1
            if asked > _MOST or any(np.any(wanted((decided,), version)) for version in Version):
                found[0][one] = found[1][two] = found[2][three] = True
    return found[0], found[1], found[2]


def _combinations(
    arrays: Arrays, entered: int, forwarded: int, outputs: list[int]
) -> Iterator[tuple[Decided, list[int] | None]]:
    """Give what is decided with entries of input and forwarding, and by which output entries: None if by none."""
    step = arrays.entries.step
    marks = arrays.colours[0][arrays.treatment[entered]]
    different = list(dict.fromkeys(made for made in marks if made is not None))
    if arrays.port[forwarded] == NONE or not different:
        yield Decided(int(step[entered]), int(step[forwarded]), (NONE, NONE, NONE)), None
        return
    for chosen in product(outputs, repeat=len(different)):
        of = dict(zip(different, chosen, strict=True))
        green, yellow, red = (NONE if made is None else int(step[of[made]]) for made in marks)
        yield Decided(int(step[entered]), int(step[forwarded]), (green, yellow, red)), list(chosen)
