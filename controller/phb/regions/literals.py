"""What behaviours do, as literals of a formula."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

from phb.behaviour.behaviour import NO_ROUTE, NOTHING, Behaviour, Route, Step, Treatment
from phb.behaviour.deciding import COLOURS, NONE, Decided, route, treatment
from phb.behaviour.marks import UNMARKED, Marks
from phb.packets.boxes import ValueBox
from phb.packets.space import UNTAGGED, Subset, Version, every
from phb.regions.effects import Apart, Effects, effects
from phb.regions.formula import FALSE, TRUE
from phb.regions.symbols import Binary, Chosen, Symbols

Does = TypeVar("Does", Treatment, Route)
Effect: TypeAlias = tuple[int, int, tuple[int | None, int | None, int | None]]
"""Kinds of an input treatment, of a route, and of output treatments by colour: None where a packet isn't asked."""
_COLOURS: Final = range(COLOURS)


class Kinds:
    """Numbers what steps of some behaviours do: equal numbers for equal effects.

    Args:
        behaviours: One or two.
        effect: What a treatment or route comes to; by default `phb.regions.effects`.
        apart: What tells steps apart that do the same.
    """

    def __init__(
        self, behaviours: Sequence[Behaviour], effect: Effects | None = None, apart: Apart | None = None
    ) -> None:
        self._behaviours = behaviours
        self._comes_to = effect or effects(*behaviours)
        self._apart = apart
        self._numbers: dict[Hashable, int] = {}
        self._known: dict[tuple[int, Treatment | Route], int] = {}

    def effect(self, number: int, decided: Decided) -> Effect:
        """Give what the steps of a behaviour, by its number, that take a packet do."""
        behaviour = self._behaviours[number]
        treated, taken = treatment(behaviour.input, decided.input), route(behaviour, decided.forwarding)
        left: list[int | None] = []
        for colour, each in enumerate(decided.output):
            asked = taken.port is not None and leaves(treated, colour)
            left.append(self.of(number, behaviour.output, each, NOTHING) if asked else None)
        return (
            self.of(number, behaviour.input, decided.input, NOTHING),
            self.of(number, behaviour.forwarding, decided.forwarding, NO_ROUTE),
            (left[0], left[1], left[2]),
        )

    def of(self, number: int, steps: Sequence[Step[Does]], taken: int, nothing: Does) -> int:
        """Give the number of what a step of a behaviour, by index in its list, does; `nothing` is done for NONE."""
        does = nothing if taken == NONE else steps[taken].does
        kind = self._known.get((number, does))
        if kind is None:
            kind = self._known[number, does] = self._number(self._comes_to(number, does))
        if self._apart is None or taken == NONE:
            return kind
        return self._number((kind, self._apart(steps[taken])))

    def _number(self, key: Hashable) -> int:
        return self._numbers.setdefault(key, len(self._numbers))


class Literals:
    """One behaviour, for packets of one version.

    Attributes:
        first: Of each input step, its kind and the literal that it is the first to take a packet.
        entered: By kind of input treatment: the literal that a packet gets it.
        routed: By kind of route.
        left: By colour: by kind of output treatment; the colour's packets are not asked where none is true.
    """

    def __init__(self, symbols: Symbols, version: Version, behaviour: Behaviour, number: int, kinds: Kinds) -> None:
        self._symbols, self._formula = symbols, symbols.formula
        self._version = version
        self._behaviour, self._number, self._kinds = behaviour, number, kinds
        entered = self._first(behaviour.input, {})
        treatments: dict[int, Treatment] = {}
        self.entered = self._by_kind(behaviour.input, entered, NOTHING, treatments)
        self.first = [(kinds.of(number, behaviour.input, each, NOTHING), literal) for each, literal in entered.items()]
        routes: dict[int, Route] = {}
        self.routed = self._by_kind(behaviour.forwarding, self._first(behaviour.forwarding, {}), NO_ROUTE, routes)
        ports: dict[int, list[int]] = {}
        for kind, each in routes.items():
            if each.port is not None:
                ports.setdefault(each.port, []).append(self.routed[kind])
        self._egress = Chosen(self._formula, {port: self._formula.any(parts) for port, parts in ports.items()})
        self._sent = self._formula.any(part for parts in ports.values() for part in parts)
        self._lists: dict[tuple[tuple[Marks, int], ...], dict[int, int]] = {}
        self.left = tuple(self._output(treatments, colour) for colour in _COLOURS)

    def literals(self, effect: Effect) -> Iterator[int]:
        """Give literals that are all true where a packet has an effect."""
        entered, routed, left = effect
        yield self.entered[entered]
        yield self.routed[routed]
        for kinds, kind in zip(self.left, left, strict=True):
            if kind is not None:
                yield kinds[kind]

    def _first(self, steps: Sequence[Step[Does]], instead: Mapping[Subset, Binary | Chosen]) -> dict[int, int]:
        """Give the literals of being the first step that takes the packet, by index; NONE for none."""
        formula, left = self._formula, TRUE
        found: dict[int, int] = {}
        for number, step in enumerate(steps):
            takes = self._inside(step.boxes, instead)
            if takes == FALSE:
                continue
            if step.unless:
                takes = formula.both(takes, -self._inside(step.unless, instead))
            literal = formula.both(left, takes)
            if literal != FALSE:
                found[number] = literal
            left = formula.both(left, -takes)
            if left == FALSE:
                return found
        found[NONE] = left
        return found

    def _inside(self, boxes: Sequence[ValueBox], instead: Mapping[Subset, Binary | Chosen]) -> int:
        return self._formula.any(
            self._symbols.inside(box, instead) for box in boxes if box.subsets[Subset.VERSION] >> self._version & 1
        )

    def _by_kind(
        self, steps: Sequence[Step[Does]], first: Mapping[int, int], nothing: Does, examples: dict[int, Does]
    ) -> dict[int, int]:
        literals: dict[int, list[int]] = {}
        for number, literal in first.items():
            does = nothing if number == NONE else steps[number].does
            kind = self._kinds.of(self._number, steps, number, nothing)
            literals.setdefault(kind, []).append(literal)
            examples.setdefault(kind, does)
        return {kind: self._formula.any(parts) for kind, parts in literals.items()}

    def _output(self, treatments: Mapping[int, Treatment], colour: int) -> dict[int, int]:
        by_marks: dict[Marks, list[int]] = {}
        for kind, treated in treatments.items():
            marks = treated.colours[colour]
            if marks is not None and leaves(treated, colour):
                by_marks.setdefault(marks, []).append(self.entered[kind])
        formula = self._formula
        active = {marks: formula.any(parts) for marks, parts in by_marks.items()}
        asked = formula.both(self._sent, formula.any(active.values()))
        if asked == FALSE:
            return {}
        key = tuple(active.items())
        # Packets of most treatments are marked alike whatever their colour.
        if key not in self._lists:
            first = self._first(self._behaviour.output, self._marked(active))
            self._lists[key] = {number: formula.both(asked, literal) for number, literal in first.items()}
        return self._by_kind(self._behaviour.output, self._lists[key], NOTHING, {})

    def _marked(self, active: Mapping[Marks, int]) -> dict[Subset, Binary | Chosen]:
        """Give the values of packets with new marks, by the literal that they get them."""
        symbols = self._symbols
        tos, tag, group = (symbols.binary[each] for each in (Subset.TOS, Subset.TAG, Subset.GROUP))
        made: dict[Subset, Binary | Chosen] = {Subset.EGRESS: self._egress}
        if any(marks != UNMARKED for marks in active):
            bits = {marks: self._bits(marks, tos, tag) for marks in active}
            columns = [
                self._chosen([(literal, bits[marks][number]) for marks, literal in active.items()])
                for number in range(12)
            ]
            made[Subset.TOS] = Binary(self._formula, columns[:8], every(256))
            made[Subset.TAG] = Binary(self._formula, columns[8:], every(UNTAGGED + 1))
            groups: dict[int | None, list[int]] = {}
            for marks, literal in active.items():
                groups.setdefault(marks.group, []).append(literal)
            if set(groups) != {None}:
                kept = self._formula.any(groups.pop(None, []))
                by_group = {value: self._formula.any(parts) for value, parts in groups.items() if value is not None}
                for value in _values(group.values):
                    was = self._formula.both(kept, group.among(1 << value))
                    by_group[value] = self._formula.any((was, by_group.get(value, FALSE)))
                made[Subset.GROUP] = Chosen(self._formula, by_group)
        return made

    def _bits(self, marks: Marks, tos: Binary, tag: Binary) -> list[int]:
        """Give the bits of the ToS octet and of the TAG that marks make."""
        old_tos = [*tos.bits, *[FALSE] * (8 - len(tos.bits))]
        old_tag = [*tag.bits, *[FALSE] * (4 - len(tag.bits))]
        tagged = -old_tag[3]
        octet = []
        for number, bit in enumerate(old_tos):
            # The bits of an untagged frame's TAG are 0, and so is its priority.
            bit = (
                old_tag[number - 5]
                if marks.from_pcp >> number & 1 and number >= 5
                else (FALSE if marks.from_pcp >> number & 1 else bit)
            )
            octet.append(_masked(bit, number, marks.value, marks.mask))
        priority = []
        for number in range(3):
            bit = old_tos[number + 5] if marks.from_precedence >> number & 1 else old_tag[number]
            priority.append(self._formula.both(tagged, _masked(bit, number, marks.pcp_value, marks.pcp_mask)))
        return [*octet, *priority, old_tag[3]]

    def _chosen(self, alternatives: Sequence[tuple[int, int]]) -> int:
        """Give the literal that equals that of the alternative whose condition is true."""
        if len({literal for _, literal in alternatives}) == 1:
            return alternatives[0][1]
        made = self._formula.new()
        for condition, literal in alternatives:
            self._formula.add(-condition, -literal, made)
            self._formula.add(-condition, literal, -made)
        return made


def leaves(treated: Treatment, colour: int) -> bool:
    """Whether an input treatment lets packets of a colour pass, and packets can have it."""
    return not treated.blocked and treated.colours[colour] is not None and (colour == 0 or treated.meter is not None)


def _masked(bit: int, number: int, value: int, mask: int) -> int:
    if mask >> number & 1:
        return TRUE if value >> number & 1 else FALSE
    return bit


def _values(bits: int) -> Iterator[int]:
    return (number for number in range(bits.bit_length()) if bits >> number & 1)
