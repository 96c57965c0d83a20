"""Which of the policy's streams, counters of connections and classes are which of the tables' numbers.

The two name them differently, so names prove nothing: packets do. A guess by rules' names and places is good for a
start; what counts is what packets of some step on either side show, and it must be one to one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from phb.behaviour.behaviour import Behaviour, Step, Treatment
from phb.intent import Policy
from phb.origin import Origin


class Kind(StrEnum):
    """What packets share."""

    STREAM = "stream"
    COUNTER = "counter of connections"


@dataclass(frozen=True, slots=True)
class Unpaired:
    """A number of the tables that stands for nothing of the policy, as far as is known."""

    number: Hashable

    def __str__(self) -> str:
        return f"number {self.number}"


@dataclass
class Pairs:
    """A correspondence that is one to one.

    Attributes:
        said: The policy's keys by those of the tables.
        does: The tables' keys by those of the policy.
        shown: Keys of the tables whose pair some packet has shown.
    """

    said: dict[Hashable, Hashable] = field(default_factory=dict)
    does: dict[Hashable, Hashable] = field(default_factory=dict)
    shown: set[Hashable] = field(default_factory=set)

    def guess(self, said: Hashable, does: Hashable) -> None:
        """Take a pair, if neither has one."""
        if said is not None and does is not None and said not in self.does and does not in self.said:
            self.said[does], self.does[said] = said, does

    def show(self, said: Hashable, does: Hashable) -> bool:
        """Take a pair that some packet has, and drop guesses against it; False if it contradicts what is shown."""
        before, other = self.does.get(said), self.said.get(does)
        if before in self.shown or does in self.shown:
            return (before, other) == (does, said)
        if before is not None:
            del self.said[before]
        if other is not None:
            del self.does[other]
        self.said[does], self.does[said] = said, does
        self.shown.add(does)
        return True


class Keys:
    """The correspondence of one policy and one set of entries.

    Attributes:
        classes: The policy's classes by their numbers.
        of: Pairs of streams, and of counters.
    """

    def __init__(self, classes: Mapping[int, Hashable], policies: Sequence[Policy]) -> None:
        self.classes = classes
        self._before: dict[Kind, dict[Hashable, Hashable]] = {}
        self._places = {f"policy {each.number}": (each.rule, each.origin) for each in policies}
        self.of = {kind: Pairs() for kind in Kind}

    def guess(self, said: Behaviour, does: Behaviour) -> None:
        """Pair what rules of one name and place have, in the order in which they stand."""
        places = self._places
        for ours, theirs in ((said.input, does.input), (said.output, does.output)):
            named: dict[tuple[str, Origin], list[Treatment]] = defaultdict(list)
            seen: set[str] = set()
            for step in sorted(theirs, key=_number):
                if step.name in places and step.name not in seen:
                    seen.add(step.name)
                    named[places[step.name]].append(step.does)
            for step in ours:
                found = named.get((step.name, step.origin))
                if found:
                    other = found.pop(0)
                    self.of[Kind.STREAM].guess(step.does.stream, other.stream)
                    self.of[Kind.COUNTER].guess(step.does.counted_as, other.counted_as)

    def renamed(self, does: Behaviour) -> Behaviour:
        """Give the tables' behaviour by the policy's rules and keys; numbers without one stay numbers."""
        known: dict[Treatment, Treatment] = {}
        # Pairs that are shown later change what a key that was given here stands for.
        self._before = {kind: dict(pairs.does) for kind, pairs in self.of.items()}

        def treatment(of: Treatment) -> Treatment:
            if of not in known:
                known[of] = replace(
                    of,
                    traffic_class=self.class_of(of.traffic_class),
                    stream=self.key(Kind.STREAM, of.stream),
                    counted_as=self.key(Kind.COUNTER, of.counted_as),
                )
            return known[of]

        def steps(of: Sequence[Step[Treatment]]) -> tuple[Step[Treatment], ...]:
            made = []
            for step in of:
                rule, origin = self._places.get(step.name, (step.name, step.origin))
                made.append(Step(step.boxes, step.unless, treatment(step.does), rule, origin))
            return tuple(made)

        return replace(
            does,
            input=steps(does.input),
            output=steps(does.output),
            services={
                port: {self.class_of(number): service for number, service in classes.items()}
                for port, classes in does.services.items()
            },
            buffers={(port, self.key(Kind.STREAM, of)): facts for (port, of), facts in does.buffers.items()},
        )

    def class_of(self, number: Hashable) -> Hashable:
        """Give the policy's class of a number."""
        return self.classes.get(number, Unpaired(number)) if isinstance(number, int) else number

    def show(self, kind: Kind, said: Hashable, renamed: Hashable) -> bool:
        """Take what a packet shows: the policy's key, and the renamed one of the tables; False for a contradiction."""
        if said is None or renamed is None:
            return False
        number = renamed.number if isinstance(renamed, Unpaired) else self._before[kind][renamed]
        return self.of[kind].show(said, number)

    def key(self, kind: Kind, number: Hashable) -> Hashable:
        """Give the policy's key of a number."""
        return None if number is None else self.of[kind].said.get(number, Unpaired(number))


def _number(step: Step[Treatment]) -> int:
    word = step.name.rpartition(" ")[2]
    return int(word) if word.isdigit() else 0
