"""Where boxes are cut, and what each half has."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from phb.behaviour.deciding import NONE
from phb.packets.many import Ints
from phb.regions.arrays import DIMENSIONS, INTERVALS, OF_CELLS, Arrays, Bools, Words
from phb.regions.batch import Batch, Numbers, together

_SAMPLE: Final = 64
"""Pairs of a node that are looked at to choose a cut."""
_LARGE: Final = 24
"""From this number of pairs on, sides of an entry in the midst of a list are tried, too, to halve it."""


def cut(arrays: Arrays, batch: Batch, heads: Ints) -> Batch:
    """Cut each node in two, along a side of an entry.

    Args:
        arrays: Of the entries.
        batch: Nodes that aren't settled.
        heads: The first pair of each node and of each slot that must be settled, NONE where there is none.
    """
    return _Cut(arrays, batch, heads).halves()


class _Cut:
    def __init__(self, arrays: Arrays, batch: Batch, heads: Ints) -> None:
        self.entries, self.words, self.batch = arrays.entries, arrays.words, batch
        self.size = arrays.size
        # The best cut of each node so far.
        self.cost = np.full(batch.nodes, np.inf)
        self.dimension = np.full(batch.nodes, NONE, np.int8)
        self.at = np.zeros(batch.nodes, np.int32)
        self.of = np.zeros(batch.nodes, np.int32)
        self._choose(heads)

    def _choose(self, heads: Ints) -> None:
        batch = self.batch
        starts = np.searchsorted(batch.node, np.arange(batch.nodes))
        counts = np.diff(starts, append=len(batch.node))
        every = -(-counts // _SAMPLE)
        place = np.arange(len(batch.node)) - starts[batch.node]
        sample = np.flatnonzero(place % every[batch.node] == 0)
        self.sample_node = batch.node[sample]
        self.sample_starts = np.searchsorted(self.sample_node, np.arange(batch.nodes))
        entry = batch.entry[sample]
        self.low, self.high, self.bits = (
            each[entry] for each in (self.entries.low, self.entries.high, self.entries.bits)
        )
        open_heads = np.where(heads == NONE, 0, batch.mask[heads])
        first = heads[np.arange(batch.nodes), np.argmax(open_heads != 0, axis=1)]
        last = heads[np.arange(batch.nodes), heads.shape[1] - 1 - np.argmax(open_heads[:, ::-1] != 0, axis=1)]
        targets = [first]
        if (last != first).any():
            targets.append(last)
        large = counts > _LARGE
        if large.any():
            # Any numbers will do that aren't the same at every depth.
            scattered = (starts + counts + batch.low.sum(axis=1)) * 2654435761 >> 7
            targets += [np.where(large, starts + (scattered >> shift) % counts, NONE) for shift in (0, 5)]
        if len(batch.suspects):
            targets += self._of_suspects()
        for target in targets:
            self._try(target)

    def _of_suspects(self) -> list[Numbers]:
        """Give pairs of each node that may be treated differently: one suspect of each list."""
        batch = self.batch
        node, suspects = batch.suspect_node, batch.suspects
        chosen = np.full(batch.nodes, NONE, np.int64)
        chosen[node[::-1]] = np.arange(len(node))[::-1]
        present = batch.node.astype(np.int64) * (self.size + 1) + np.minimum(batch.entry, self.size)
        found = []
        for side in range(2):
            key = np.arange(batch.nodes) * np.int64(self.size + 1) + suspects[chosen, side]
            at = np.minimum(np.searchsorted(present, key), len(present) - 1)
            found.append(np.where((chosen != NONE) & (present[at] == key), at, NONE))
        return found

    def _try(self, target: NDArray[np.signedinteger]) -> None:
        """See whether a cut along a side of a pair's entry is better."""
        batch = self.batch
        mask = np.where(target == NONE, 0, batch.mask[target] & OF_CELLS)
        of = batch.entry[target]
        for dimension in range(DIMENSIONS):
            beyond = mask >> dimension & 1 != 0
            if not beyond.any():
                continue
            if dimension < INTERVALS:
                low, high = batch.low[:, dimension], batch.high[:, dimension]
                for at in (self.entries.low[of, dimension], self.entries.high[of, dimension]):
                    inside = beyond & (at > low) & (at < high)
                    if inside.any():
                        here = at[self.sample_node]
                        self._compare(
                            inside, self.low[:, dimension] < here, self.high[:, dimension] > here, dimension, at, of
                        )
            else:
                words = self.words[dimension]
                whole, side = batch.bits[:, words], self.entries.bits[of, words]
                left = (self.bits[:, words] & (whole & side)[self.sample_node]).any(axis=1)
                right = (self.bits[:, words] & (whole & ~side)[self.sample_node]).any(axis=1)
                self._compare(beyond, left, right, dimension, self.at, of)

    def _compare(self, which: Bools, left: Any, right: Any, dimension: int, at: Ints, of: Ints) -> None:
        """Take a cut where both halves have less to do than with the best so far."""
        cost = np.zeros(len(which))
        for half in (left, right):
            cost += np.add.reduceat(half.astype(np.int32), self.sample_starts).astype(np.float64) ** 2
        better = which & (cost < self.cost)
        self.cost = np.where(better, cost, self.cost)
        self.dimension[better] = dimension
        self.at = np.where(better, at, self.at)
        self.of = np.where(better, of, self.of)

    def halves(self) -> Batch:
        """Give both halves of each node."""
        batch, entries = self.batch, self.entries
        low, high = (np.concatenate((each, each)) for each in (batch.low, batch.high))
        bits = np.concatenate((batch.bits, batch.bits))
        count = batch.nodes
        goes = np.zeros((2, len(batch.node)), bool)
        outside = np.zeros((2, len(batch.node)), bool)
        dimension_of_pair = self.dimension[batch.node]
        for dimension in np.unique(self.dimension).tolist():
            nodes = np.flatnonzero(self.dimension == dimension)
            pairs = np.flatnonzero(dimension_of_pair == dimension)
            node, entry = batch.node[pairs], batch.entry[pairs]
            if dimension < INTERVALS:
                at = self.at[nodes]
                high[nodes, dimension], low[nodes + count, dimension] = at, at
                first, end = entries.low[entry, dimension], entries.high[entry, dimension]
                for half in range(2):
                    begins, ends = low[node + half * count, dimension], high[node + half * count, dimension]
                    goes[half, pairs] = (first < ends) & (end > begins)
                    outside[half, pairs] = (first > begins) | (end < ends)
            else:
                words = self.words[dimension]
                side = entries.bits[self.of[nodes], words]
                bits[nodes, words] &= side
                bits[nodes + count, words] &= ~side
                subset = entries.bits[entry, words]
                for half in range(2):
                    of_cell: Words = bits[node + half * count, words]
                    goes[half, pairs] = (subset & of_cell).any(axis=1)
                    outside[half, pairs] = (of_cell & ~subset).any(axis=1)
        parts = []
        bit = np.uint16(1) << dimension_of_pair.astype(np.uint16)
        for half in range(2):
            pairs = np.flatnonzero(goes[half])
            mask = batch.mask[pairs] & ~bit[pairs] | np.where(outside[half, pairs], bit[pairs], 0).astype(np.uint16)
            parts.append((batch.node[pairs] + np.int32(half * count), batch.slot[pairs], batch.entry[pairs], mask))
        node, slot, entry, mask = together(parts)
        root, attached = np.concatenate((batch.root, batch.root)), np.concatenate((batch.attached, batch.attached))
        share = np.concatenate((batch.share, batch.share)) / 2
        suspect_node = np.concatenate((batch.suspect_node, batch.suspect_node + np.int32(count)))
        suspects = np.concatenate((batch.suspects, batch.suspects))
        return Batch(low, high, bits, root, share, attached, node, slot, entry, mask, suspect_node, suspects)
