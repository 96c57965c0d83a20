"""Output policies as input policies: what they ask of port and group becomes another dimension.

The engines ask for both only where packets come from an input policy. Here any packet may leave by any port with any
marks and group: the control plane may send it (p4src/phb.p4), and what an input policy does isn't the compiler's
question about an output policy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import TypeVar

from phb.behaviour.behaviour import Step
from phb.packets.boxes import ValueBox
from phb.packets.space import PORTS, Subset, every, every_packet
from phb.values import LAST_QOS_GROUP

Does = TypeVar("Does")
_OCTETS = every(256)
_GROUPS = every(LAST_QOS_GROUP + 1)


class Exits:
    """Ports and groups that no output step tells apart, as values of dimension EPOCH."""

    def __init__(self, *lists: Sequence[Step[Does]]) -> None:
        boxes = [box for steps in lists for step in steps for box in (*step.boxes, *step.unless)]
        ports = _atoms(PORTS, {box.subsets[Subset.EGRESS] for box in boxes})
        groups = _atoms(_GROUPS, {box.subsets[Subset.GROUP] for box in boxes})
        self._exits = list(product(ports, groups))
        self._known: dict[tuple[int, int], int] = {}

    @property
    def within(self) -> tuple[ValueBox, ...]:
        """All packets, with any marks."""
        found = []
        for box in every_packet(every(len(self._exits))):
            subsets = list(box.subsets)
            subsets[Subset.TOS] = _OCTETS
            found.append(ValueBox(box.intervals, tuple(subsets)))
        return tuple(found)

    def steps(self, steps: Iterable[Step[Does]]) -> tuple[Step[Does], ...]:
        """Give steps as those of an input policy."""
        return tuple(
            replace(
                step,
                boxes=tuple(map(self._box, step.boxes)),
                unless=tuple(map(self._box, step.unless)),
            )
            for step in steps
        )

    def ports(self, box: ValueBox) -> Iterator[int]:
        """Give a port of each exit that a box of `within` has."""
        for number, (ports, _) in enumerate(self._exits):
            if box.subsets[Subset.EPOCH] >> number & 1:
                yield (ports & -ports).bit_length() - 1

    def _box(self, box: ValueBox) -> ValueBox:
        key = box.subsets[Subset.EGRESS], box.subsets[Subset.GROUP]
        if key not in self._known:
            self._known[key] = sum(
                1 << number for number, each in enumerate(self._exits) if each[0] & key[0] and each[1] & key[1]
            )
        subsets = list(box.subsets)
        subsets[Subset.EPOCH] = self._known[key]
        subsets[Subset.EGRESS] = subsets[Subset.GROUP] = 1
        return ValueBox(box.intervals, tuple(subsets))


def _atoms(whole: int, subsets: Iterable[int]) -> list[int]:
    atoms = [whole]
    for bits in subsets:
        atoms = [part for atom in atoms for part in (atom & bits, atom & ~bits) if part]
    return atoms
