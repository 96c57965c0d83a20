"""A fresh compilation in the numbers that a switch holds already.

The compiler is stateless: it numbers policies, streams, classes, profiles and conversations in order. Written like
that, one rule put in front would change every entry. Only equality of these numbers means anything, and of priorities
only the order. So what a switch holds keeps its numbers: an entry with the same match hands out the same policy as
before, where its label says that it is the same rule. A class is the same where it has the same name.

Everything is learnt from the switch's own entries; nothing needs to be remembered.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from phb.device.labels import said
from phb.device.references import OWNERS, SPACES, References
from phb.entries import MatchField, TableRow
from phb.errors import PhbError
from phb.intent import NodeIntent
from phb.pushing.priorities import kept_priorities
from phb.pushing.slots import with_slots

Numbers = dict[int, int]


class NumbersUsedUpError(PhbError):
    """Old and new policy together need more numbers of a kind than the program has."""

    def __init__(self, space: str, limit: int) -> None:
        super().__init__(
            f"old and new policy together need more than the {limit} {space.replace('_', ' ')} numbers of the program, "
            "and the switch can't write both at once; push in smaller parts"
        )


@dataclass(frozen=True)
class Renumbered:
    """A compilation in a switch's numbers; rows are in the order given.

    `numbers` has, by kind, the new number for each of the compiler's; `slots` has where the slots of a queue begin now,
    by the first one that the compiler gave it.
    """

    rows: tuple[TableRow, ...]
    numbers: Mapping[str, Mapping[int, int]]
    slots: Mapping[int, int]

    def named(self, intent: NodeIntent) -> NodeIntent:
        """Give the intent in the switch's numbers, for what a person reads."""
        policy, profile, stream = (self.numbers[space] for space in ("policy", "profile", "stream"))
        classes = self.numbers["traffic_class"]
        return replace(
            intent,
            policies=tuple(replace(each, number=policy.get(each.number, each.number)) for each in intent.policies),
            profiles=tuple(replace(each, number=profile.get(each.number, each.number)) for each in intent.profiles),
            streams=tuple(replace(each, number=stream.get(each.number, each.number)) for each in intent.streams),
            classes={name: classes.get(number, number) for name, number in intent.classes.items()},
            queues=tuple(replace(each, first=self.slots.get(each.first, each.first)) for each in intent.queues),
        )


def renumber(
    rows: Sequence[TableRow],
    installed: Collection[TableRow],
    references: References,
    *,
    in_place: bool,
    reserved: Mapping[str, Collection[int]] | None = None,
) -> Renumbered:
    """Give rows of a compilation the numbers and priorities of what a switch holds.

    `installed` are the entries that packets meet, at rest. With `in_place`, rows under a number may change while the
    number stays: old and new are exchanged between two packets. Otherwise a number whose rows change is replaced by one
    that isn't in use. Numbers that are `reserved` have no row, such as policies of rules that don't count now; they get
    numbers that no other has.

    Raises:
        NumbersUsedUpError: There is no number left for something.
    """
    ordered, pairs = _prioritized(rows, installed, references)
    current = list(ordered)
    numbers: dict[str, Numbers] = {}
    chooser = _Chooser(rows, installed, references, in_place=in_place)
    for space in SPACES:
        votes = _votes(space, current, pairs, references)
        if space == "traffic_class":
            votes += _votes_of_names(space, current, installed, references)
            votes += _votes_of_content(votes, current, installed, references)
        numbers[space] = chooser.choose(space, votes, (reserved or {}).get(space, ()))
        current = _remapped(current, space, numbers[space], references)
        if space == "traffic_class":
            pairs = pairs + _pairs_by_key(current, installed, references)
    current, slots = with_slots(current, installed, dict(pairs), references)
    if not in_place:
        for space in reversed(OWNERS):
            moved = chooser.moved(space, _changed(space, current, installed, references))
            current = _remapped(current, space, moved, references)
            numbers[space] = {fresh: moved.get(number, number) for fresh, number in numbers[space].items()}
    return Renumbered(tuple(current), numbers, slots)


# Places in the rows of the compilation, with the installed row that is the same entry.
_Pairs = list[tuple[int, TableRow]]


def _prioritized(
    rows: Sequence[TableRow], installed: Collection[TableRow], references: References
) -> tuple[list[TableRow], _Pairs]:
    """Choose priorities in tables that have an order; entries of the same match are the same entry, in their order."""
    places: dict[int, list[int]] = defaultdict(list)
    for place, row in enumerate(rows):
        if row.table in references.referring:
            places[row.table].append(place)
    partner_of = _partners(rows, installed, references)
    result = list(rows)
    pairs: _Pairs = []
    for of_table in places.values():
        of_table.sort(key=lambda place: -rows[place].priority)
        partners = [partner_of.get(place) for place in of_table]
        pairs += [(place, partner) for place, partner in zip(of_table, partners, strict=True) if partner is not None]
        if not rows[of_table[0]].priority:
            continue
        entries = [
            (rows[place].priority, None if partner is None else partner.priority)
            for place, partner in zip(of_table, partners, strict=True)
        ]
        for place, priority in zip(of_table, kept_priorities(entries), strict=True):
            if priority != rows[place].priority:
                result[place] = rows[place]._replace(priority=priority)
    return result, pairs


def _partners(rows: Sequence[TableRow], installed: Collection[TableRow], references: References) -> dict[int, TableRow]:
    """Find, by place, the installed entry of the same match: of several the same rule's, else in their order."""
    held: dict[tuple[int, tuple[MatchField, ...]], list[TableRow]] = defaultdict(list)
    for row in sorted(installed, key=lambda row: -row.priority):
        if row.table in references.referring:
            held[row.table, row.match].append(row)
    found: dict[int, TableRow] = {}
    ordered = sorted(range(len(rows)), key=lambda place: -rows[place].priority)
    for of_same_rule in (True, False):
        for place in ordered:
            row = rows[place]
            waiting = held.get((row.table, row.match))
            if waiting and place not in found:
                rule = said(row.label).get("policy")
                same = (other for other in waiting if not of_same_rule or said(other.label).get("policy") == rule)
                partner = next(same, None)
                if partner is not None:
                    waiting.remove(partner)
                    found[place] = partner
    return found


# (number of the compilation, number of the switch) for everything that says the two are the same.
_Votes = list[tuple[int, int]]


class _Chooser:
    """Gives every number of a compilation one of the switch's, or one that isn't in use."""

    def __init__(
        self, rows: Sequence[TableRow], installed: Collection[TableRow], references: References, *, in_place: bool
    ) -> None:
        self._limits = references.limits
        self._in_place = in_place
        self._fresh = _all_numbers(rows, references)
        self._held = _all_numbers(installed, references)
        self._named = {space: set(_names(space, installed, references).values()) for space in SPACES}
        self._taken: dict[str, set[int]] = {}

    def choose(self, space: str, votes: _Votes, reserved: Iterable[int]) -> Numbers:
        """Choose a number for each of the compilation's, no two the same; 0 stays 0."""
        chosen: Numbers = {0: 0}
        taken = {0}
        for (fresh, number), _ in Counter(votes).most_common():
            if fresh not in chosen and number not in taken:
                chosen[fresh] = number
                taken.add(number)
        self._taken[space] = taken
        rest = dict.fromkeys([*self._fresh[space], *reserved])
        # No entry may say which class a number of the switch stands for; then it is most likely the compiler's own.
        held = self._named[space] if space == "traffic_class" else self._held[space]
        for fresh in rest:
            # The compiler's own number, where nobody has it or had it: a first push changes no number.
            if fresh not in chosen and fresh not in taken and fresh not in held:
                chosen[fresh] = fresh
                taken.add(fresh)
        free = self._free(space)
        for fresh in rest:
            if fresh not in chosen:
                chosen[fresh] = next(free)
        return chosen

    def moved(self, space: str, numbers: Iterable[int]) -> Numbers:
        """Give each of these another number, one that the switch doesn't hold."""
        free = self._free(space)
        return {number: next(free) for number in numbers}

    def _free(self, space: str) -> Iterator[int]:
        """Give numbers not in use, first those that the switch doesn't hold: their counters haven't counted others."""
        taken, held = self._taken[space], self._held[space]
        limit = self._limits.get(space, 0)
        for number in range(1, limit + 1):
            if number not in taken and number not in held:
                taken.add(number)
                yield number
        if self._in_place:
            for number in range(1, limit + 1):
                if number not in taken:
                    taken.add(number)
                    yield number
        raise NumbersUsedUpError(space, limit)


def _all_numbers(rows: Iterable[TableRow], references: References) -> dict[str, dict[int, None]]:
    """Find every number in the rows, by kind, in the order in which they appear."""
    found: dict[str, dict[int, None]] = {space: {} for space in SPACES}
    for row in rows:
        for position, space in references.handed[row.action]:
            found[space][row.parameters[position]] = None
        fields = references.keys.get(row.table)
        if fields:
            for number, value, _ in row.match:
                if number in fields:
                    found[fields[number]][value] = None
    return found


def _votes(space: str, current: Sequence[TableRow], pairs: _Pairs, references: References) -> _Votes:
    """Vote by entries that are the same: which of their numbers are the same."""
    votes: _Votes = []
    for place, partner in pairs:
        before = said(partner.label).get(space)
        if before is not None and before != said(current[place].label).get(space):
            continue
        fresh = [number for name, number in references.given([current[place]]) if name == space and number]
        held = [number for name, number in references.given([partner]) if name == space and number]
        votes += zip(fresh, held, strict=False)
    return votes


def _names(space: str, rows: Iterable[TableRow], references: References) -> dict[str, int]:
    """Find the numbers of a kind by name, as far as labels say names."""
    found: dict[str, int] = {}
    for row in rows:
        name = said(row.label).get(space)
        if name is not None:
            found.update((name, row.parameters[at]) for at, other in references.handed[row.action] if other == space)
    return found


def _votes_of_names(
    space: str, current: Sequence[TableRow], installed: Collection[TableRow], references: References
) -> _Votes:
    """Vote by name, for kinds in which every number has a name of its own."""
    held = _names(space, installed, references)
    return [(number, held[name]) for name, number in _names(space, current, references).items() if name in held]


def _votes_of_content(
    votes: _Votes, current: Sequence[TableRow], installed: Collection[TableRow], references: References
) -> _Votes:
    """Vote for classes that no rule and no label names, by what ports do with them."""

    def by_content(rows: Iterable[TableRow], known: set[int]) -> dict[frozenset[TableRow], list[int]]:
        of_class: dict[int, set[TableRow]] = defaultdict(set)
        for row in rows:
            for place, (field, value, _) in enumerate(row.match):
                if references.keys.get(row.table, {}).get(field) == "traffic_class" and value and value not in known:
                    match = (*row.match[:place], *row.match[place + 1 :])
                    hidden = {position for position, _ in references.handed[row.action]}
                    hidden |= set(references.slots.get(row.action, ())[:1])
                    parameters = (0 if at in hidden else value for at, value in enumerate(row.parameters))
                    of_class[value].add(row._replace(match=match, parameters=tuple(parameters), label=b""))
        found: dict[frozenset[TableRow], list[int]] = defaultdict(list)
        for number in sorted(of_class):
            found[frozenset(of_class[number])].append(number)
        return found

    named = set(_names("traffic_class", installed, references).values())
    fresh = by_content(current, {number for number, _ in votes})
    held = by_content(installed, {number for _, number in votes} | named)
    return [pair for content, numbers in fresh.items() for pair in zip(numbers, held.get(content, ()), strict=False)]


def _pairs_by_key(current: Sequence[TableRow], installed: Collection[TableRow], references: References) -> _Pairs:
    """Pair rows under numbers that are chosen already: the same key is the same entry."""
    held = {row.key: row for row in installed if row.table in references.keys}
    return [(place, held[row.key]) for place, row in enumerate(current) if row.key in held]


def _changed(
    space: str, current: Sequence[TableRow], installed: Collection[TableRow], references: References
) -> list[int]:
    """Find the numbers of a kind that the switch holds with other rows."""

    def by_number(rows: Iterable[TableRow]) -> dict[int, set[TableRow]]:
        found: dict[int, set[TableRow]] = defaultdict(set)
        for row in rows:
            owner = references.owner(row)
            if owner is not None and owner[0] == space:
                found[owner[1]].add(row)
        return found

    handed_out = {number for name, number in references.given(installed) if name == space and number}
    wanted, held = by_number(current), by_number(installed)
    used = {number for name, number in references.given(current) if name == space}
    return sorted(number for number in handed_out & used if wanted.get(number, set()) != held.get(number, set()))


def _remapped(current: list[TableRow], space: str, numbers: Numbers, references: References) -> list[TableRow]:
    """Give the rows other numbers of one kind."""
    if all(fresh == number for fresh, number in numbers.items()):
        return current
    result = []
    for row in current:
        parameters = row.parameters
        for position, name in references.handed[row.action]:
            if name == space:
                number = parameters[position]
                other = numbers.get(number, number)
                parameters = (*parameters[:position], other, *parameters[position + 1 :])
        match = row.match
        fields = references.keys.get(row.table)
        if fields and space in fields.values():
            match = tuple(
                (part[0], numbers.get(part[1], part[1]), part[2]) if fields.get(part[0]) == space else part
                for part in match
            )
        if match is not row.match or parameters is not row.parameters:
            row = row._replace(match=match, parameters=parameters)
        result.append(row)
    return result
