"""Packets of one IP version as variables of a formula, and boxes as its literals.

An interval dimension has a variable for each value at which some box begins or has ended: whether the packet's value
reaches it. So an interval is two literals, whatever its bounds, and packets that no box tells apart are one. The
values of a subset dimension are numbers in binary, since marks are made bit by bit and rules ask for some bits.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence

from phb.packets.boxes import Interval, ValueBox
from phb.packets.space import Dimension, Packet, Subset
from phb.regions.formula import FALSE, TRUE, Formula


class Ordered:
    """The value of an interval dimension.

    Args:
        formula: Is told how the variables belong together.
        bounds: Values at which intervals begin, or the one after their last; in order, the lowest is what no value is
            below.
    """

    def __init__(self, formula: Formula, bounds: Sequence[int]) -> None:
        self._formula = formula
        self.bounds = list(bounds)
        self.reached = [TRUE, *(formula.new() for _ in bounds[1:])]
        for lower, higher in zip(self.reached[1:], self.reached[2:], strict=False):
            formula.add(-higher, lower)

    def reaches(self, value: int) -> int:
        """Give the literal that the value is at least this one."""
        at = bisect_left(self.bounds, value)
        if at == 0:
            return TRUE
        if at == len(self.bounds) or self.bounds[at] != value:
            literal = self._formula.new()
            self._formula.add(-literal, self.reached[at - 1])
            if at < len(self.bounds):
                self._formula.add(-self.reached[at], literal)
            self.bounds.insert(at, value)
            self.reached.insert(at, literal)
        return self.reached[at]

    def value(self, holds: Callable[[int], bool]) -> int:
        """Give the lowest value for which the same literals hold."""
        low, high = 0, len(self.reached)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if holds(self.reached[middle]) else (low, middle)
        return self.bounds[low]


class Binary:
    """The value of a subset dimension, or of what becomes of it.

    Args:
        formula: Is told the literals of subsets.
        bits: Literals of the value's bits, the lowest first.
        values: The subset of all values that there are.
    """

    def __init__(self, formula: Formula, bits: Sequence[int], values: int) -> None:
        self._formula = formula
        self.bits = list(bits)
        self.values = values
        self._known: dict[tuple[int, int], int] = {}

    @classmethod
    def new(cls, formula: Formula, values: int) -> Binary:
        """Give a new value that is any of a subset."""
        made = cls(formula, [formula.new() for _ in range((values.bit_length() - 1).bit_length())], values)
        formula.add(made._among(len(made.bits), values))
        return made

    def among(self, values: int) -> int:
        """Give the literal that the value is in a subset."""
        values &= self.values
        if values == self.values:
            return TRUE
        key = (-1, values)
        found = self._known.get(key)
        if found is None:
            rest = self.values & ~values
            # Of many values it is shorter to say which it is not.
            found = self._cube(values)
            if found is None:
                without = self._cube(rest)
                found = self._among(len(self.bits), values) if without is None else -without
            self._known[key] = found
        return found

    def value(self, holds: Callable[[int], bool]) -> int:
        """Give the value."""
        return sum(holds(bit) << number for number, bit in enumerate(self.bits))

    def _cube(self, values: int) -> int | None:
        """Give the literal of a subset that some bits tell: None of others."""
        if not values:
            return FALSE
        count = values.bit_count()
        if count & (count - 1):
            return None
        first = (values & -values).bit_length() - 1
        alike, left = ~0, values
        while left:
            low = left & -left
            alike &= ~(low.bit_length() - 1 ^ first)
            left ^= low
        asked = [number for number in range(len(self.bits)) if alike >> number & 1]
        if count != 1 << (len(self.bits) - len(asked)):
            return None
        return self._formula.all(self.bits[number] if first >> number & 1 else -self.bits[number] for number in asked)

    def _among(self, level: int, values: int) -> int:
        """Give the literal that the lowest bits, `level` of them, are in a subset."""
        if not values:
            return FALSE
        if values == (1 << (1 << level)) - 1:
            return TRUE
        found = self._known.get((level, values))
        if found is None:
            half = 1 << (level - 1)
            low, high = values & ((1 << half) - 1), values >> half
            found = self._formula.choice(
                self.bits[level - 1], self._among(level - 1, high), self._among(level - 1, low)
            )
            self._known[level, values] = found
        return found


class Chosen:
    """A value of which each alternative has a literal; exactly one is true where it counts.

    Args:
        formula: Is told the literals of subsets.
        literals: By value.
    """

    def __init__(self, formula: Formula, literals: Mapping[int, int]) -> None:
        self._formula = formula
        self._literals = dict(literals)
        self._known: dict[int, int] = {}

    def among(self, values: int) -> int:
        """Give the literal that the value is in a subset."""
        found = self._known.get(values)
        if found is None:
            inside = {value: literal for value, literal in self._literals.items() if values >> value & 1}
            whole = len(inside) == len(self._literals)
            found = self._known[values] = TRUE if whole else self._formula.any(inside.values())
        return found


class Symbols:
    """A packet of some boxes.

    Args:
        formula: Is told what packets there are.
        within: Boxes of packets of one IP version.
        asked: Boxes that it will be asked for: their bounds are known from the beginning.
    """

    def __init__(self, formula: Formula, within: Sequence[ValueBox], asked: Iterable[ValueBox]) -> None:
        self.formula = formula
        first = [min(box.intervals[each][0] for box in within) for each in Dimension]
        last = [max(box.intervals[each][1] for box in within) for each in Dimension]
        bounds: list[set[int]] = [set() for _ in Dimension]
        for box in (*within, *asked):
            for known, (low, high) in zip(bounds, box.intervals, strict=True):
                known.add(low)
                known.add(high + 1)
        self.ordered = []
        for known, lowest, highest in zip(bounds, first, last, strict=True):
            self.ordered.append(Ordered(formula, sorted(each for each in known if lowest <= each <= highest)))
        self._last = last
        self.binary = []
        for subset in Subset:
            values = 0
            for box in within:
                values |= box.subsets[subset]
            self.binary.append(Binary.new(formula, values))
        self._intervals: dict[tuple[int, Interval], int] = {}
        formula.add(*(self.inside(box) for box in within))

    def inside(self, box: ValueBox, instead: Mapping[Subset, Binary | Chosen] | None = None) -> int:
        """Give the literal that the packet is in a box; `instead` says in which dimensions it has other values."""
        parts = self._bounds(box.intervals)
        for number, values in enumerate(box.subsets):
            if parts is None:
                return FALSE
            value: Binary | Chosen = self.binary[number]
            if instead:
                value = instead.get(Subset(number), value)
            literal = value.among(values)
            if literal == FALSE:
                return FALSE
            if literal != TRUE:
                parts.append(literal)
        return FALSE if parts is None else self.formula.all(parts)

    def packet(self, holds: Callable[[int], bool]) -> Packet:
        """Give a packet for which some literals hold."""
        return Packet(
            tuple(each.value(holds) for each in self.ordered), tuple(each.value(holds) for each in self.binary)
        )

    def _bounds(self, intervals: Sequence[Interval]) -> list[int] | None:
        parts: list[int] = []
        for number, (low, high) in enumerate(intervals):
            order = self.ordered[number]
            if low > self._last[number] or high < order.bounds[0]:
                return None
            if low > order.bounds[0]:
                parts.append(order.reaches(low))
            if high < self._last[number]:
                parts.append(-order.reaches(high + 1))
        return parts
