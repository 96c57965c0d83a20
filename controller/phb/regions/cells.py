"""Divides packets of large policies, many steps at once.

A box is cut, along the sides of a step's box, until one step takes all its packets in each list. Each part keeps, for
each list, the entries that concern it, up to the first that takes all of it; so lists become short fast. Many boxes are
worked on together, since numpy is slow for few numbers.

Once input and forwarding of a box are settled, the marks and the port are known, and an output list by colour joins it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phb.behaviour.behaviour import Behaviour
from phb.behaviour.deciding import COLOURS, NONE
from phb.packets.boxes import ValueBox
from phb.packets.many import Boxes, Ints
from phb.regions.arrays import DIMENSIONS, INTERVALS, LATER, MARK, Arrays, Bools
from phb.regions.batch import Batch, Numbers, joined, together
from phb.regions.budget import Budget, TimeOver
from phb.regions.cell import Cell, Cells, Open, one_by_one
from phb.regions.cutting import cut
from phb.regions.effects import Apart, Effects, Wanted, effects
from phb.regions.suspects import Suspects, suspects
from phb.regions.wanted import hopeful

_BATCH = 200_000
"""Pairs that are worked on together: more take more memory, less take longer."""


class Rest(NamedTuple):
    """What may be known of the packets that are left after some time.

    Attributes:
        after: When it is spent, the question is asked, once.
        is_empty: Tells whether there is surely nothing to be found in disjoint boxes; if not, the work goes on.
    """

    after: Budget
    is_empty: Callable[[Sequence[ValueBox]], bool]


def divide_many(
    behaviours: Sequence[Behaviour],
    within: Iterable[ValueBox],
    *,
    same: bool = False,
    wanted: Wanted | None = None,
    effect: Effects | None = None,
    apart: Apart | None = None,
    budget: Budget | None = None,
    rest: Rest | None = None,
    arrays: Arrays | None = None,
    progress: Callable[[float], None] | None = None,
) -> Iterator[Cells | Boxes]:
    """Give disjoint cells that cover all packets of `within` (disjoint boxes), as `plain.divide`: many at once.

    Args:
        behaviours: Those that every cell decides; two if `same`.
        within: Packets, before an output policy: GROUP is 0.
        same: Leaves out packets that are surely treated alike by both behaviours. Not all of them, unless what is
            given is looked at.
        wanted: Leaves out packets whose steps surely aren't wanted, of one behaviour. It is asked of combinations of
            steps, one for each that do the same; so it may depend on nothing but what they do.
        effect: What a treatment or route comes to, for `same`; by default `effects`: equal keys of streams, counters
            and queues are the same.
        apart: What tells steps apart beside what they come to: None for packets that no step takes.
        budget: When it is spent, what is left is given as boxes.
        rest: Ends the work, if somebody else knows of nothing in what is left.
        arrays: Of all that, with the default of `effect`, where the caller has it.
        progress: Is told the share of the work that is done, 0 to 1, now and then.
    """
    if same and len(behaviours) != 2:
        raise ValueError(f"two behaviours are compared, not {len(behaviours)}")
    if wanted is not None and len(behaviours) != 1:
        raise ValueError(f"packets are looked for in one behaviour, not in {len(behaviours)}")
    whole = [box for box in within if box.volume]
    if not whole:
        return
    limit = budget or Budget()
    if limit.spent:
        yield Boxes.of(whole)
        return
    if rest is not None and rest.after.spent:
        if rest.is_empty(whole):
            return
        rest = None
    try:
        with limit.enforced():
            if arrays is None:
                arrays = Arrays(behaviours, whole, effect or effects(*behaviours), apart)
            division = _Division(arrays, suspects(arrays) if same else None, limit, rest, progress)
            if wanted is not None:
                division.hopeful = hopeful(arrays, wanted)
    except TimeOver:
        yield Boxes.of(whole)
        return
    yield from division.cells()


def divide(behaviours: Sequence[Behaviour], within: Iterable[ValueBox], **asked: Any) -> Iterator[Cell | Open]:
    """Give cells as `divide_many` does, one by one."""
    return one_by_one(divide_many(behaviours, within, **asked))


class _Division:
    """The work of one call."""

    def __init__(
        self,
        arrays: Arrays,
        suspected: Suspects | None,
        budget: Budget,
        rest: Rest | None,
        progress: Callable[[float], None] | None,
    ) -> None:
        self.arrays, self.suspected, self.budget, self.progress = arrays, suspected, budget, progress
        self.rest = rest
        self.hopeful: tuple[Bools, ...] = ()
        self.count = arrays.count
        self.slots = (3 + COLOURS) * self.count
        self.asked_by_port = arrays.egress()
        self.has_unless = bool(arrays.entries.without.any())
        # Output lists without steps take no packet: nothing is to find out.
        starts = arrays.starts[2 * self.count :]
        self.has_output = [end - start > 1 for start, end in pairwise(starts)]
        self.needed = [slot for slot in range(self.slots) if not 2 * self.count <= slot < 3 * self.count]
        self.plans = [self._plans(number) for number in range(self.count)]

    def _plans(self, behaviour: int) -> Ints:
        """Give, by treatment and colour, the colour whose output list counts for it; NONE where none does."""
        return np.array(
            [
                [NONE if made is None else colours.index(made) for made in colours]
                for colours in self.arrays.colours[behaviour]
            ],
            np.int32,
        )

    def cells(self) -> Iterator[Cells | Boxes]:
        """Give the cells; as boxes what is left when the budget is spent."""
        stack = [self._root()]
        done = 0.0
        while stack:
            if self.budget.spent:
                yield self._open(stack)
                return
            if self._is_done(stack):
                return
            batch = _next(stack)
            before = float(batch.share.sum())
            self._settle(batch)
            batch = self._doubtful(batch)
            if self._attach(batch):
                self._settle(batch)
                batch = self._doubtful(batch)
            unsettled = self._unsettled(batch)
            left = batch.some(unsettled)
            done += before - float(left.share.sum())
            if left.nodes:
                stack.append(cut(self.arrays, left, self._heads(left)[:, self.needed]))
            finished = batch.some(~unsettled)
            finished = finished.some(self._different(finished))
            if self.budget.cells is not None and self.budget.given + finished.nodes > self.budget.cells:
                beyond = np.arange(finished.nodes) >= self.budget.cells - self.budget.given
                stack.append(finished.some(beyond))
                finished = finished.some(~beyond)
            self.budget.given += finished.nodes
            if finished.nodes:
                boxes, node = self._boxes(finished)
                yield Cells(boxes, self._decided(finished)[node])
            if self.progress is not None:
                self.progress(min(done, 1.0))
        if self.progress is not None:
            self.progress(1.0)

    def _is_done(self, stack: Iterable[Batch]) -> bool:
        """Ask once, when it is time, whether anything is in what is left."""
        rest = self.rest
        if rest is None or not rest.after.spent:
            return False
        self.rest = None
        return rest.is_empty(self._open(stack))

    def _boxes(self, batch: Batch) -> tuple[Boxes, NDArray[np.intp]]:
        return self.arrays.boxes(batch.root, batch.low, batch.high, batch.bits)

    def _open(self, stack: Iterable[Batch]) -> Boxes:
        return Boxes.joined([self._boxes(batch)[0] for batch in stack])

    def _root(self) -> Batch:
        """Give the boxes of `within` with all entries that concern each."""
        low, high, bits = self.arrays.cells
        entries, words = self.arrays.entries, self.arrays.words
        slots = np.repeat(np.arange(3 * self.count, dtype=np.int16), np.diff(self.arrays.starts))
        count = len(low)
        parts = []
        for node in range(count):
            meets = ((entries.low < high[node]) & (entries.high > low[node])).all(axis=1)
            shared = entries.bits & bits[node]
            for dimension in range(INTERVALS, DIMENSIONS):
                meets &= shared[:, words[dimension]].any(axis=1)
            found = np.flatnonzero(meets)
            beyond = (entries.low[found] > low[node]) | (entries.high[found] < high[node])
            mask = entries.later[found].copy()
            missing = bits[node] & ~entries.bits[found]
            for dimension in range(DIMENSIONS):
                outside = beyond[:, dimension] if dimension < INTERVALS else missing[:, words[dimension]].any(axis=1)
                mask |= outside.astype(np.uint16) << dimension
            parts.append((np.full(len(found), node, np.int32), slots[found], found.astype(np.int32), mask))
        suspected = np.zeros((0, 2), np.int32) if self.suspected is None else self.suspected.pairs
        nodes = np.arange(count, dtype=np.int32)
        attached = np.zeros((count, self.count), bool)
        node, slot, entry, mask = together(parts)
        suspect_node, pairs = np.repeat(nodes, len(suspected)), np.tile(suspected, (count, 1))
        return Batch(
            low, high, bits, nodes, np.full(count, 1 / count), attached, node, slot, entry, mask, suspect_node, pairs
        )

    def _settle(self, batch: Batch) -> None:
        """Drop entries behind one that takes the whole box, and those of steps that take nothing of it."""
        entries = self.arrays.entries
        takes = batch.mask == 0
        if self.has_unless and (without := entries.without[batch.entry]).any():
            step = self._segments(batch) * len(entries) + entries.group[batch.entry]
            keep = ~np.isin(step, step[without & takes])
            keep &= ~without | np.isin(step, step[~without])
            batch.keep_pairs(keep)
            step, without, takes = step[keep], without[keep], takes[keep]
            takes &= ~np.isin(step, step[without])
        count = np.cumsum(takes, dtype=np.int32)
        count -= takes
        segments = self._segments(batch)
        starts = _starts(segments)
        before = np.repeat(count[starts], np.diff(starts, append=len(segments)))
        batch.keep_pairs(count == before)

    def _segments(self, batch: Batch) -> Numbers:
        return batch.node.astype(np.int64) * self.slots + batch.slot

    def _heads(self, batch: Batch) -> Ints:
        """Give the first pair of each node and slot, NONE where there is none."""
        segments = self._segments(batch)
        starts = _starts(segments)
        heads = np.full(batch.nodes * self.slots, NONE, np.int32)
        heads[segments[starts]] = starts
        return heads.reshape(batch.nodes, self.slots)

    def _takes(self, batch: Batch, heads: Ints) -> Bools:
        """Tell which first pairs take the whole box: those that aren't there count as such."""
        if not len(batch.entry):
            return np.ones(heads.shape, bool)
        takes: Bools = (batch.mask[heads] == 0) & ~self.arrays.entries.without[batch.entry[heads]]
        takes |= heads == NONE
        return takes

    def _unsettled(self, batch: Batch) -> Bools:
        takes = self._takes(batch, self._heads(batch)[:, self.needed])
        return np.asarray(~takes.all(axis=1))

    def _doubtful(self, batch: Batch) -> Batch:
        """Give the nodes that may have packets that are asked for: treated differently, or by steps that are wanted."""
        if self.hopeful and batch.nodes:
            hope = self._hope(batch)
            return batch if hope.all() else batch.some(hope)
        if self.suspected is None or not batch.nodes:
            return batch
        entries = self.arrays.entries
        kind = np.minimum(batch.slot // self.count, 3)
        segments = batch.node.astype(np.int64) * 4 + kind
        starts = _starts(segments)
        effect = entries.effect[batch.entry]
        differ = np.zeros((batch.nodes, 4), bool)
        least, most = np.minimum.reduceat(effect, starts), np.maximum.reduceat(effect, starts)
        differ.reshape(-1)[segments[starts]] = least != most
        if all(self.has_output):
            # Where the output lists by colour are there and do one thing, what else is in the lists doesn't matter.
            whole = batch.attached.all(axis=1)
            differ[whole, 2] &= differ[whole, 3]
        doubt = differ[:, :3] & self._suspicious(batch)
        first = self._heads(batch)
        blocked = self.arrays.blocked[batch.entry[first[:, 0]]] & ~differ[:, 0]
        nowhere = (self.arrays.port[batch.entry[first[:, self.count]]] == NONE) & ~differ[:, 1]
        doubt[:, 2] &= ~nowhere
        doubtful = doubt.any(axis=1) & ~blocked
        return batch if doubtful.all() else batch.some(doubtful)

    def _hope(self, batch: Batch) -> Bools:
        """Tell which nodes have entries that may be wanted in each list."""
        effect = self.arrays.entries.effect[batch.entry]
        hope = np.ones(batch.nodes, bool)
        for kind in range(4):
            # Output lists by colour are of one behaviour here, and take the place of the list that they come from.
            pairs = batch.slot == kind if kind < 3 else batch.slot >= 3
            node = batch.node[pairs]
            here = np.ones(batch.nodes, bool)
            here[node] = False
            here[node[self.hopeful[min(kind, 2)][effect[pairs]]]] = True
            hope &= here
        return hope

    def _suspicious(self, batch: Batch) -> Bools:
        """Tell, by node and kind of list, whether entries of both lists may treat a packet differently."""
        assert self.suspected is not None
        found = np.zeros((batch.nodes, 3), bool)
        size = self.arrays.size
        if len(batch.suspects):
            base = batch.slot < 3 * self.count
            present = batch.node[base].astype(np.int64) * size + batch.entry[base]
            alive = np.ones(len(batch.suspects), bool)
            for side in range(2):
                key = batch.suspect_node.astype(np.int64) * size + batch.suspects[:, side]
                at = np.minimum(np.searchsorted(present, key), len(present) - 1)
                alive &= present[at] == key
            batch.suspect_node, batch.suspects = batch.suspect_node[alive], batch.suspects[alive]
            found[batch.suspect_node, self.suspected.kind[batch.suspects[:, 0]]] = True
        for kind in self.suspected.many:
            sides = []
            for slot in (2 * kind, 2 * kind + 1):
                pairs = batch.slot == slot
                here = np.zeros(batch.nodes, bool)
                here[batch.node[pairs][self.suspected.flags[batch.entry[pairs]]]] = True
                sides.append(here)
            found[:, kind] = sides[0] & sides[1]
        return found

    def _attach(self, batch: Batch) -> bool:
        """Add output lists by colour to nodes whose input and forwarding are settled; tell whether there were any."""
        arrays = self.arrays
        settled = self._takes(batch, heads := self._heads(batch))
        added: list[tuple[NDArray[Any], ...]] = []
        for number in range(self.count):
            ready = settled[:, number] & settled[:, self.count + number] & ~batch.attached[:, number]
            batch.attached[ready, number] = True
            if not self.has_output[number] or not ready.any():
                continue
            entered, forwarded = (batch.entry[heads[:, slot]] for slot in (number, self.count + number))
            # Heads of unsettled nodes may be of no meaning, but are never used.
            treatment = np.where(ready, arrays.treatment[entered], 0)
            port = np.where(ready, arrays.port[forwarded], NONE)
            pairs = np.flatnonzero((batch.slot == 2 * self.count + number) & (ready & (port != NONE))[batch.node])
            start, first = arrays.starts[2 * self.count + number], arrays.starts[2 * self.count]
            asked = arrays.raw[batch.entry[pairs] - first]
            pairs = pairs[self.asked_by_port[port[batch.node[pairs]], asked]]
            node = batch.node[pairs]
            marks_words = arrays.words[MARK]
            for colour in range(COLOURS):
                starts = np.full(len(self.plans[number]), NONE, np.int32)
                for each in np.unique(treatment[ready]):
                    made = arrays.colours[number][each][colour]
                    if made is not None and self.plans[number][each, colour] == colour:
                        starts[each] = arrays.marked(number, made)
                begin = starts[treatment[node]]
                chosen = begin != NONE
                entry = batch.entry[pairs][chosen] - start + begin[chosen]
                marks, of_cell = arrays.entries.bits[entry, marks_words], batch.bits[node[chosen], marks_words]
                meets = (marks & of_cell).any(axis=1)
                outside = (of_cell & ~marks).any(axis=1)
                mask = batch.mask[pairs][chosen] & ~np.uint16(LATER) | outside.astype(np.uint16) << MARK
                slot = np.full(len(entry), 3 * self.count + COLOURS * number + colour, np.int16)
                added.append((node[chosen][meets], slot[meets], entry[meets], mask[meets]))
        if not added:
            return False
        batch.node, batch.slot, batch.entry, batch.mask = together(
            [(batch.node, batch.slot, batch.entry, batch.mask), *added]
        )
        if self.suspected is None:
            batch.keep_pairs(~batch.attached[batch.node, batch.slot % self.count] | (batch.slot // self.count != 2))
        batch.keep_pairs(np.argsort(self._segments(batch), kind="stable"))
        return True

    def _results(self, batch: Batch) -> Ints:
        """Give the entries that take nodes that are settled, by behaviour: of input, forwarding, output by colour.

        Where packets don't come so far, NONE; where there is no output list, the entry of packets that no step takes.
        """
        arrays, heads = self.arrays, self._heads(batch)
        found = np.full((batch.nodes, self.count, 2 + COLOURS), NONE, np.int32)
        for number in range(self.count):
            found[:, number, 0] = batch.entry[heads[:, number]]
            found[:, number, 1] = batch.entry[heads[:, self.count + number]]
            colours = self.plans[number][arrays.treatment[found[:, number, 0]]]
            colours[arrays.port[found[:, number, 1]] == NONE] = NONE
            for colour in range(COLOURS):
                comes = colours[:, colour] != NONE
                if self.has_output[number]:
                    slot = 3 * self.count + COLOURS * number + colours[comes, colour]
                    found[comes, number, 2 + colour] = batch.entry[heads[comes, slot]]
                else:
                    found[comes, number, 2 + colour] = arrays.starts[2 * self.count + number + 1] - 1
        return found

    def _different(self, batch: Batch) -> Bools:
        """Tell which nodes that are settled aren't surely treated alike; all if that isn't asked for."""
        if self.suspected is None or not batch.nodes:
            return np.ones(batch.nodes, bool)
        found = self._results(batch)
        does = np.where(found == NONE, NONE, self.arrays.entries.effect[found])
        equal = does[:, 0] == does[:, 1]
        blocked = self.arrays.blocked[found[:, 0, 0]]
        return np.asarray(~(equal[:, 0] & (blocked | equal.all(axis=1))))

    def _decided(self, batch: Batch) -> Ints:
        """Give the steps of nodes that are settled."""
        found = self._results(batch)
        return np.where(found == NONE, NONE, self.arrays.entries.step[found])


def _starts(segments: Numbers) -> Numbers:
    """Give where each segment begins."""
    return np.flatnonzero(np.diff(segments, prepend=-1))


def _next(stack: list[Batch]) -> Batch:
    """Take nodes from the end of a stack: many enough, few enough."""
    taken = [stack.pop()]
    weight = taken[0].weight
    while stack and weight + stack[-1].weight <= _BATCH:
        taken.append(stack.pop())
        weight += taken[-1].weight
    batch = joined(taken)
    if weight > _BATCH and batch.nodes > 1:
        later = np.arange(batch.nodes) >= max(1, batch.nodes * _BATCH // weight)
        stack.append(batch.some(later))
        batch = batch.some(~later)
    return batch
