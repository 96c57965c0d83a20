"""Many boxes of packets with the entries that concern each, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phb.packets.many import Ints
from phb.regions.arrays import Bools, Words

Numbers = NDArray[np.int64]


@dataclass
class Batch:
    """Nodes of the search: boxes, each with its entries, which are sorted by node, list and order.

    Attributes:
        low, high, bits: The box of each node, in coordinates of the arrays.
        root: Which box of `within` each node is a part of.
        share: The share of the whole work that each node stands for.
        attached: By node and behaviour, whether the output lists by colour are there.
        node, slot, entry: Of each pair of a node and an entry; a slot is a list, or an output list by colour.
        mask: Of each pair: the dimensions in which the entry doesn't hold the whole box, as bits.
        suspect_node, suspects: Pairs of entries that may treat packets differently, and the node of each.
    """

    low: Ints
    high: Ints
    bits: Words
    root: Ints
    share: NDArray[np.float64]
    attached: Bools
    node: Ints
    slot: NDArray[np.int16]
    entry: Ints
    mask: NDArray[np.uint16]
    suspect_node: Ints
    suspects: Ints

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.root)

    @property
    def weight(self) -> int:
        """What it takes to work on it, in pairs."""
        return len(self.entry) + len(self.suspect_node)

    def keep_pairs(self, which: Any) -> None:
        """Drop the other pairs."""
        self.node, self.slot = self.node[which], self.slot[which]
        self.entry, self.mask = self.entry[which], self.mask[which]

    def some(self, which: Bools) -> Batch:
        """Give some nodes, chosen by a mask."""
        number = np.cumsum(which, dtype=np.int32) - 1
        pairs, suspects = which[self.node], which[self.suspect_node]
        return Batch(
            self.low[which],
            self.high[which],
            self.bits[which],
            self.root[which],
            self.share[which],
            self.attached[which],
            number[self.node[pairs]],
            self.slot[pairs],
            self.entry[pairs],
            self.mask[pairs],
            number[self.suspect_node[suspects]],
            self.suspects[suspects],
        )


def joined(batches: Sequence[Batch]) -> Batch:
    """Give the nodes of all batches."""
    if len(batches) == 1:
        return batches[0]
    offsets = np.cumsum([0, *(each.nodes for each in batches[:-1])], dtype=np.int32)
    for each, offset in zip(batches, offsets, strict=True):
        each.node += offset
        each.suspect_node += offset
    names = [each.name for each in fields(Batch)]
    return Batch(*(np.concatenate([getattr(each, name) for each in batches]) for name in names))


def together(parts: Sequence[tuple[NDArray[Any], ...]]) -> tuple[Any, ...]:
    """Give the arrays of all parts, one behind another."""
    return tuple(np.concatenate(arrays) for arrays in zip(*parts, strict=True))
