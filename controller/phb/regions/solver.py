"""Finds packets that behaviours treat as asked, or proves that there are none, with z3.

The question becomes a formula (`literals`, `symbols`), one for each IP version, which z3 gets as clauses. What counts
as asked is told by the caller for the steps that take a packet: whenever z3 has found a packet that isn't asked for
after all, all packets of its effects are left out, and it goes on. Each packet that is given has been decided by the
plain reading of the behaviours; that there are none, z3 says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phb.behaviour.behaviour import Behaviour
from phb.behaviour.deciding import Decided, decide
from phb.packets.boxes import ValueBox
from phb.packets.space import UNTAGGED, Packet, Subset, Version
from phb.regions.budget import Budget, TimeOver
from phb.regions.effects import Apart, Effects, Wanted
from phb.regions.formula import FALSE, TRUE, Formula, clauses
from phb.regions.literals import Effect, Kinds, Literals
from phb.regions.symbols import Symbols

MEMORY: Final = 1500
"""Megabytes that z3 may take."""
WHOLE_S: Final = 5.0
"""Seconds for a whole question; then it is asked step by step."""
_NO_TIMEOUT: Final = (1 << 32) - 1
_FEW: Final = 50
"""Clauses that are told one by one."""
_NO_TIME: Final = "the time was over"
_NO_MEMORY: Final = "the solver had no memory left"


class Unanswered(Exception):  # noqa: N818 - a limit that was reached, not a mistake
    """The question couldn't be answered in the time or memory that was allowed; the text says which."""


class Found(NamedTuple):
    """A packet, and the steps of each behaviour that take it."""

    packet: Packet
    decided: tuple[Decided, ...]


class Solver:
    """Asks one question about one behaviour, or two.

    Args:
        behaviours: One or two.
        within: Packets, each box of one IP version.
        wanted: Which packets are asked for. Of two behaviours, packets of equal effects never are; None is all others,
            of one behaviour none.
        effect: What treatments and routes come to; by default `phb.regions.effects`.
        apart: What tells steps apart for `wanted` that do the same.
        budget: Limits time.

    Raises:
        ImportError: z3 is not installed.
    """

    def __init__(
        self,
        behaviours: Sequence[Behaviour],
        within: Iterable[ValueBox],
        *,
        wanted: Wanted | None = None,
        effect: Effects | None = None,
        apart: Apart | None = None,
        budget: Budget | None = None,
    ) -> None:
        import z3  # noqa: F401 - it takes 0.3 s, and is optional

        self._behaviours = tuple(behaviours)
        self._kinds = Kinds(behaviours, effect, apart)
        self._wanted = wanted
        self._budget = budget or Budget()
        self._left: dict[Version, list[ValueBox]] = {}
        for box in within:
            self._left.setdefault(Version(box.subsets[Subset.VERSION].bit_length() - 1), []).append(box)
        self._excluded: list[ValueBox] = []
        self._part: _Part | None = None

    def find(self) -> Found | None:
        """Give a packet that is asked for and in no excluded box; None where it is proven that there is none.

        Raises:
            Unanswered: As it says.
            KeyboardInterrupt: While z3 was running, too.
        """
        while self._left:
            version, boxes = next(iter(self._left.items()))
            if self._part is None:
                try:
                    # z3's own objects must not be interrupted while they are made.
                    with self._budget.enforced():
                        part = _Part(version, boxes, self._behaviours, self._kinds, self._wanted, self._budget)
                except TimeOver:
                    raise Unanswered(_NO_TIME) from None
                for box in self._excluded:
                    part.exclude(box)
                self._part = part
            found = self._part.find()
            if found is not None:
                return found
            self._part = None
            del self._left[version]
        return None

    def exclude(self, box: ValueBox) -> None:
        """Leave packets out of the question."""
        self._excluded.append(box)
        if self._part is not None:
            self._part.exclude(box)


class _Part:
    """The question for packets of one version."""

    def __init__(
        self,
        version: Version,
        within: Sequence[ValueBox],
        behaviours: Sequence[Behaviour],
        kinds: Kinds,
        wanted: Wanted | None,
        budget: Budget,
    ) -> None:
        self._behaviours, self._kinds, self._wanted, self._budget = behaviours, kinds, wanted, budget
        self._version = version
        self._formula = Formula()
        self._symbols = Symbols(self._formula, within, _boxes(behaviours, version))
        self._sides = [
            Literals(self._symbols, version, behaviour, number, kinds) for number, behaviour in enumerate(behaviours)
        ]
        self._parts: list[int] | None = None
        self._differing = list(self._differences(*self._sides)) if len(behaviours) == 2 else [TRUE]
        self._formula.add(self._formula.any(self._differing))
        self._sat: _Sat | None = None
        self._known: dict[tuple[Effect, ...], NDArray[np.bool_] | bool] = {}

    def find(self) -> Found | None:
        if self._sat is None:
            self._sat = _Sat(self._formula, self._budget)
        while self._satisfiable(self._sat):
            packet = self._symbols.packet(self._sat.holds)
            decided = tuple(decide(behaviour, packet) for behaviour in self._behaviours)
            effects = tuple(self._kinds.effect(number, each) for number, each in enumerate(decided))
            known = effects in self._known
            if not known:
                self._known[effects] = (
                    effects[0] != effects[-1] if self._wanted is None else self._wanted(decided, self._version)
                )
                self._exclude_unwanted(effects, self._known[effects])
            asked = self._known[effects]
            if asked if isinstance(asked, bool) else asked[packet.subsets[Subset.TOS], packet.subsets[Subset.TAG]]:
                return Found(packet, decided)
            if known:
                raise RuntimeError(f"the solver gave {packet}, which had been left out")
            self._sat.grow()
        return None

    def exclude(self, box: ValueBox) -> None:
        self._formula.add(-self._symbols.inside(box))
        if self._sat is not None:
            self._sat.grow()

    def _exclude_unwanted(self, effects: Sequence[Effect], asked: NDArray[np.bool_] | bool) -> None:
        formula = self._formula
        if isinstance(asked, bool):
            if asked:
                return
            pairs = FALSE
        elif asked.all():
            return
        else:
            by_octets: dict[int, int] = {}
            for tag in range(UNTAGGED + 1):
                octets = sum(1 << int(tos) for tos in np.flatnonzero(asked[:, tag]))
                by_octets[octets] = by_octets.get(octets, 0) | 1 << tag
            tos, tag_value = self._symbols.binary[Subset.TOS], self._symbols.binary[Subset.TAG]
            pairs = formula.any(
                formula.both(tos.among(octets), tag_value.among(tags)) for octets, tags in by_octets.items()
            )
        had = (literal for side, effect in zip(self._sides, effects, strict=True) for literal in side.literals(effect))
        formula.add(*(-literal for literal in had if literal != TRUE), pairs)

    def _satisfiable(self, sat: _Sat) -> bool:
        if self._parts is None:
            try:
                return sat.satisfiable(TRUE, WHOLE_S)
            except Unanswered:
                if self._budget.spent:
                    raise
                self._parts = [part for part in self._differing if part != FALSE]
        # Each step by itself is an easy question, and there are many.
        while self._parts:
            if sat.satisfiable(self._parts[-1]):
                return True
            self._parts.pop()
        return False

    def _differences(self, one: Literals, other: Literals) -> Iterator[int]:
        # Where a packet has a kind on one side, and not on the other; of what is asked for on neither, none.
        for kind, literal in one.first:
            yield self._formula.both(literal, -other.entered.get(kind, FALSE))
        for left, right in ((one.routed, other.routed), *zip(one.left, other.left, strict=True)):
            for kind, literal in left.items():
                yield self._formula.both(literal, -right.get(kind, FALSE))


def _boxes(behaviours: Sequence[Behaviour], version: Version) -> Iterator[ValueBox]:
    for behaviour in behaviours:
        lists: tuple[Sequence[Any], ...] = (behaviour.input, behaviour.forwarding, behaviour.output)
        for steps in lists:
            for step in steps:
                for box in (*step.boxes, *step.unless):
                    if box.subsets[Subset.VERSION] >> version & 1:
                        yield box


class _Sat:
    """A formula in z3."""

    def __init__(self, formula: Formula, budget: Budget) -> None:
        import z3

        self._z3 = z3
        self._formula, self._budget = formula, budget
        # A context that can't be made for lack of memory ends the process.
        z3.main_ctx()
        z3.set_param("memory_max_size", MEMORY)
        self._solver = z3.SolverFor("QF_FD")
        # Variables that were put aside would have to be found again for each packet.
        self._solver.set("elim_vars", False)
        self._variables: dict[int, Any] = {}
        self._told = 0
        self._model: Any = None
        self.grow()

    def grow(self) -> None:
        """Tell z3 what the formula has got since."""
        new = self._formula.literals[self._told :]
        with self._limited():
            # Text makes all variables anew.
            if self._told and new.count(0) < _FEW:
                for clause in clauses(new):
                    self._solver.add(self._z3.Or([self._literal(each) for each in clause]))
            else:
                for text in self._formula.dimacs(self._told):
                    if self._budget.spent:
                        raise Unanswered(_NO_TIME)
                    self._solver.from_string(text)
        self._told = len(self._formula.literals)

    def satisfiable(self, assumed: int, most_s: float | None = None) -> bool:
        """Whether there is a solution in which a literal is true, found in so many seconds.

        Raises:
            Unanswered: As it says.
        """
        if assumed == FALSE:
            return False
        left = min((each for each in (self._budget.left, most_s) if each is not None), default=None)
        if left is not None and left <= 0:
            raise Unanswered(_NO_TIME)
        self._solver.set("timeout", _NO_TIMEOUT if left is None else max(1, int(left * 1000)))
        with self._limited():
            answer = self._solver.check(*([] if assumed == TRUE else [self._literal(assumed)]))
            if answer == self._z3.sat:
                self._model = self._solver.model()
                return True
        if answer == self._z3.unsat:
            return False
        reason = self._solver.reason_unknown()
        if "interrupt" in reason:
            raise KeyboardInterrupt
        if "memory" in reason:
            raise Unanswered(_NO_MEMORY)
        raise Unanswered(_NO_TIME if "timeout" in reason or "canceled" in reason else reason)

    @contextmanager
    def _limited(self) -> Iterator[None]:
        try:
            yield
        except self._z3.Z3Exception as error:
            reason = error.args[0] if error.args else ""
            reason = reason.decode() if isinstance(reason, bytes) else str(reason)
            if "out of memory" not in reason:
                raise
            raise Unanswered(_NO_MEMORY) from error

    def holds(self, literal: int) -> bool:
        """Whether a literal is true in the last solution."""
        if literal in (TRUE, FALSE):
            return literal == TRUE
        value = self._z3.is_true(self._model[self._variable(abs(literal))])
        return bool(value) == (literal > 0)

    def _literal(self, literal: int) -> Any:
        made = self._variable(abs(literal))
        return made if literal > 0 else self._z3.Not(made)

    def _variable(self, number: int) -> Any:
        found = self._variables.get(number)
        if found is None:
            found = self._variables[number] = self._z3.Bool(number)
        return found
