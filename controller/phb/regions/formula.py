"""Formulas of propositional logic, as clauses: lists of literals, one of which is true."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Final

TRUE: Final = 1
"""The literal that is true. A literal is the number of a variable, or less than 0 the opposite of one."""
FALSE: Final = -1
_TEXT: Final = 400_000
"""Literals of one text: while a solver reads one, it can't be interrupted, and for each it makes all variables."""


class Formula:
    """Grows a formula; equal parts are made once.

    Attributes:
        variables: How many there are; they count from 1.
        literals: Those of all clauses in their order, each clause closed by a 0.
    """

    def __init__(self) -> None:
        self.variables = 1
        self.literals = array("i")
        self._conjunctions: dict[tuple[int, ...], int] = {}
        self.add(TRUE)

    def new(self) -> int:
        """Give a new variable."""
        self.variables += 1
        return self.variables

    def add(self, *clause: int) -> None:
        """Say that one of some literals is true."""
        self.literals.extend(clause)
        self.literals.append(0)

    def both(self, one: int, other: int) -> int:
        """Give a literal that is true where two are."""
        if one == FALSE or other == FALSE or one == -other:
            return FALSE
        if one in (TRUE, other):
            return other
        if other == TRUE:
            return one
        return self._conjunction((one, other) if one < other else (other, one))

    def all(self, literals: Iterable[int]) -> int:
        """Give a literal that is true where all of some are."""
        distinct = {each for each in literals if each != TRUE}
        if FALSE in distinct or any(-each in distinct for each in distinct):
            return FALSE
        if len(distinct) < 2:
            return distinct.pop() if distinct else TRUE
        return self._conjunction(tuple(sorted(distinct)))

    def any(self, literals: Iterable[int]) -> int:
        """Give a literal that is true where one of some is."""
        return -self.all(-each for each in literals)

    def choice(self, condition: int, then: int, otherwise: int) -> int:
        """Give a literal that equals `then` where `condition` is true, `otherwise` elsewhere."""
        if then == otherwise:
            return then
        return self.any((self.both(condition, then), self.both(-condition, otherwise)))

    def dimacs(self, first: int = 0) -> Iterator[str]:
        """Give the clauses whose literals stand at `first` or later, in the format of SAT solvers: in several texts."""
        while first < len(self.literals):
            end = min(first + _TEXT, len(self.literals))
            while self.literals[end - 1]:
                end += 1
            literals = self.literals[first:end]
            text = " ".join(map(str, literals)).replace(" 0 ", " 0\n")
            yield f"p cnf {self.variables} {literals.count(0)}\n{text}\n"
            first = end

    def _conjunction(self, parts: tuple[int, ...]) -> int:
        found = self._conjunctions.get(parts)
        if found is None:
            found = self._conjunctions[parts] = self.new()
            for part in parts:
                self.add(-found, part)
            self.add(found, *(-part for part in parts))
        return found


def clauses(literals: Iterable[int]) -> list[list[int]]:
    """Take literals apart, each clause of which is closed by a 0."""
    made: list[list[int]] = [[]]
    for literal in literals:
        if literal:
            made[-1].append(literal)
        else:
            made.append([])
    return made[:-1]
