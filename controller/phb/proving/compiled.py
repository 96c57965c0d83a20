"""Whether compiled entries do what a policy says, for every packet: two readings that share nothing, compared.

One behaviour is read from the policy's model (`phb.behaviour.policy`), the other from the entries as the program reads
them (`phb.proving.tables`). What the engine can't decide in the time that is allowed is told as open.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from phb import targets
from phb.behaviour.behaviour import Behaviour, Route, Step, Treatment
from phb.behaviour.policy import behaviour_of_policy
from phb.compiler import compile_policy
from phb.device.artifact import Artifact
from phb.intent import NodeIntent
from phb.model import PolicySet
from phb.origin import UNKNOWN, Origin
from phb.packets.boxes import ValueBox, intersection
from phb.packets.epochs import Epochs
from phb.packets.example import example
from phb.packets.space import Subset, every_packet
from phb.packets.words import Naming
from phb.proving.agreement import Differs, differences, entering, forwarded, leaving, marks_of, shown
from phb.proving.keys import Keys
from phb.proving.leaving import Exits
from phb.proving.serving import Served, served_differently
from phb.proving.tables import TableFaultError, behaviour_of_entries
from phb.proving.tables.rows import described
from phb.regions.answer import divide
from phb.regions.budget import Budget, TimeOver
from phb.regions.cell import Open
from phb.targets import DEFAULT_TARGET, Capability

MOST_WRONG: Final = 20
"""Counterexamples after which no more are looked for."""


@dataclass(frozen=True)
class Wrong:
    """Something that the tables do otherwise than the policy says.

    Attributes:
        moment: When; of its rules, those count then.
        what: What differs, such as ``input meter``.
        says: What the policy says.
        does: What the tables do.
        said_at: Where the policy says it.
        done_at: Where the statement stands that the entry was compiled from.
        packet: One for which it is so, as ``phb explain --packet`` takes it; None where it is so of a port, or of the
            tables.
    """

    moment: datetime
    what: str
    says: str
    does: str
    said_at: Origin = UNKNOWN
    done_at: Origin = UNKNOWN
    packet: str | None = None


@dataclass(frozen=True)
class Proof:
    """What is known of a compiled policy.

    Attributes:
        rules: Rules and behaviour aggregates of the policy.
        entries: Compiled, of the moment that has most.
        moments: Classes of moments that were looked at.
        seconds: What it took.
        wrong: The first things that are wrong; nothing where it is proven.
        open: What couldn't be decided in time, in words.
    """

    rules: int
    entries: int
    moments: int
    seconds: float
    wrong: tuple[Wrong, ...] = ()
    open: tuple[str, ...] = ()

    @property
    def proven(self) -> bool:
        """Whether the tables surely do what the policy says."""
        return not self.wrong and not self.open


Compile = Callable[..., NodeIntent]


def prove(
    policy: PolicySet,
    artifact: Artifact,
    moments: Sequence[datetime],
    *,
    target: str = DEFAULT_TARGET,
    budget: Budget | None = None,
    compiler: Compile | None = None,
) -> Proof:
    """Compare what a policy says at some moments with what it is compiled to.

    Args:
        policy: It compiles.
        artifact: The program.
        moments: One of each class of moments.
        target: The kind of switch.
        budget: How long all of it may take, and when that began; None is no limit.
        compiler: Used instead of `phb.compiler`.

    Raises:
        InputError: The policy doesn't compile.
    """
    budget, compiler = budget or Budget(), compiler or compile_policy
    wrong: list[Wrong] = []
    left: list[str] = []
    entries = 0
    for moment in moments:
        at = f"{moment:%A %Y-%m-%d %H:%M}"
        try:
            with budget.enforced():
                intent = compiler(policy, artifact, at=moment, target=target)
                entries = max(entries, len(intent.entries))
                for entry in intent.entries:
                    artifact.encode(entry)
                does = behaviour_of_entries(
                    intent.entries, artifact, intent.shapers, track_connections=intent.track_connections
                )
                said = behaviour_of_policy(policy, Epochs.at(moment))
                naming = Naming.of([policy], Epochs.at(moment))
        except TableFaultError as fault:
            wrong.append(_faulty(fault, moment))
            continue
        except TimeOver:
            left.append(f"all packets at {at}")
            continue
        found, undecided = _Moment(moment, said, does, intent, naming).compare(budget, MOST_WRONG - len(wrong))
        wrong += found
        if undecided:
            left.append(f"{undecided} parts of the packets at {at}")
        if len(wrong) >= MOST_WRONG:
            break
    rules = len(policy.rules) + len(policy.behaviour_aggregates)
    return Proof(rules, entries, len(moments), budget.taken, tuple(wrong), tuple(left))


def _faulty(fault: TableFaultError, moment: datetime) -> Wrong:
    entries = "; ".join(map(described, fault.entries))
    places = [entry.origin for entry in fault.entries] or [UNKNOWN]
    return Wrong(moment, "tables", "entries that say one thing", f"{fault.fault}: {entries}", places[0], places[-1])


class _Moment:
    """The comparison at one moment."""

    def __init__(self, moment: datetime, said: Behaviour, does: Behaviour, intent: NodeIntent, naming: Naming) -> None:
        self._moment, self._said, self._does, self._naming = moment, said, does, naming
        self._most = targets.load(intent.target).support[Capability.QUEUE_LIMITS].most
        names = {name: key for key, name in said.class_names.items()}
        self._keys = Keys(
            {number: names.get(name, name) for name, number in intent.classes.items()} | {0: None}, intent.policies
        )
        self._keys.guess(said, does)

    def compare(self, budget: Budget, most: int) -> tuple[list[Wrong], int]:
        """Give at most so many things that are wrong, and how many parts of the packets are open."""
        while True:
            renamed = self._keys.renamed(self._does)
            wrong: dict[Hashable, Wrong] = {}
            undecided, learned = 0, False
            for differs, box in self._differences(renamed, budget):
                if differs is None:
                    undecided += 1
                elif differs.kind is not None and self._keys.show(differs.kind, differs.says, differs.does):
                    learned = True
                else:
                    key = differs.what, str(differs.says), str(differs.does)
                    wrong.setdefault(key, self._wrong(differs, box))
                if len(wrong) >= most:
                    break
            if not learned:
                break
        served = served_differently(self._said, renamed, _ports(self._said, renamed), self._most)
        return [*wrong.values(), *(self._served(each) for each in served)][:most], undecided

    def _differences(self, renamed: Behaviour, budget: Budget) -> Iterator[tuple[Differs | None, ValueBox | None]]:
        """Give what is different for some packets; None where that is open.

        Each stage is compared by itself, since the compiler keeps them apart: output policies for all packets that
        there could be, whatever the input policy makes of them.
        """
        said = self._said
        exits = Exits(said.output, renamed.output)
        for ours, theirs, within, compare in (
            (said.input, renamed.input, every_packet(1), entering),
            (_as_input(said.forwarding), _as_input(renamed.forwarding), every_packet(1), forwarded),
            (exits.steps(said.output), exits.steps(renamed.output), exits.within, leaving),
        ):
            lists = Behaviour(input=ours), Behaviour(input=theirs)
            for cell in divide(lists, within, same=True, effect=_as_said, apart=_rule, budget=budget):
                if isinstance(cell, Open):
                    yield None, cell.box
                    continue
                numbers = cell.decided[0].input, cell.decided[1].input
                found = list(compare((ours, theirs), numbers, marks_of(cell.box)))
                if compare is leaving and any(differs.kind is None for differs in found):
                    yield from self._behind_input(renamed, cell.box, budget) or (
                        (differs._replace(what=f"{differs.what} at port {min(exits.ports(cell.box))}"), None)
                        for differs in found
                    )
                else:
                    yield from ((differs, None if compare is leaving else cell.box) for differs in found)

    def _behind_input(self, renamed: Behaviour, box: ValueBox, budget: Budget) -> list[tuple[Differs, ValueBox]]:
        """Give what is different for some packets that the input policy makes those of a box."""
        for whole in every_packet(1):
            marks = {each: whole.subsets[each] for each in (Subset.TOS, Subset.TAG, Subset.GROUP, Subset.EGRESS)}
            marks[Subset.EPOCH] = 1
            subsets = tuple(marks.get(Subset(number), bits) for number, bits in enumerate(box.subsets))
            within = intersection(whole, ValueBox(box.intervals, subsets))
            for cell in divide((self._said, renamed), [within] if within else [], budget=budget):
                if not isinstance(cell, Open):
                    found = [(each, cell.box) for each in differences(self._said, renamed, cell.decided, cell.box)]
                    if found:
                        return found
        return []

    def _wrong(self, differs: Differs, box: ValueBox | None) -> Wrong:
        says, does = shown(differs.says), shown(differs.does)
        packet = None if box is None else example(box, self._naming).text
        return Wrong(self._moment, differs.what, says, does, differs.said_at, differs.done_at, packet)

    def _served(self, served: Served) -> Wrong:
        return Wrong(self._moment, served.what, served.says, served.does, served.said_at, served.done_at)


def _as_input(steps: Iterable[Step[Route]]) -> tuple[Step[Treatment], ...]:
    """Give routes as steps of an input policy, which the engine divides packets by alone; they count for no rule."""
    return tuple(Step(step.boxes, step.unless, Treatment(traffic_class=step.does)) for step in steps)


def _rule(step: Step[Treatment]) -> Hashable:
    """Tell steps apart that do the same: packets are counted by rules."""
    return step.name, step.origin


def _as_said(_: int, does: Treatment | Route) -> Hashable:
    """Take treatments as they are: the services of classes are compared by themselves."""
    return does


def _ports(*behaviours: Behaviour) -> list[int]:
    """Give the ports by which packets leave, and those that are set up."""
    found = {step.does.port for behaviour in behaviours for step in behaviour.forwarding if step.does.port is not None}
    return sorted(found.union(*(behaviour.services for behaviour in behaviours)))
