"""The packets of each rule as boxes of `phb.packets.space`, in the order in which the pipeline asks the rules.

Policies may be incomplete: ports without a number, or that nobody lists, get numbers of their own. Packets of the input
policy have no egress port yet; here they have one that no packet leaves by, so that input and output policy never take
each other's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from phb.behaviour.policy.conditions import aggregate_boxes, boxes
from phb.behaviour.policy.references import Node
from phb.model import LAST_PORT, Action, BehaviourAggregate, Direction, PolicySet, PortReference, Rule
from phb.origin import UNKNOWN, Origin
from phb.packets.boxes import Taken, ValueBox, covering
from phb.packets.epochs import Epochs
from phb.packets.space import PORTS, Subset, Version

ARRIVING = 1 << LAST_PORT + 1
"""Of the bits of egress ports: the input policy's, which is asked before a port is chosen."""


@dataclass(frozen=True)
class Region:
    """The packets that one rule or behaviour aggregate asks for.

    Attributes:
        boxes: Its packets and times; none if it can take nothing.
        always: The same packets without regard to time.
        unless: Packets that it leaves to later rules, at any time.
        timed: There are times at which it doesn't count.
    """

    item: Rule | BehaviourAggregate
    boxes: tuple[ValueBox, ...]
    always: tuple[ValueBox, ...]
    unless: tuple[ValueBox, ...]
    timed: bool

    @property
    def name(self) -> str:
        """Its name."""
        return self.item.name

    @property
    def origin(self) -> Origin:
        """The place of its statement."""
        return self.item.origin()

    @property
    def taken(self) -> Iterator[Taken]:
        """What it takes from rules that are asked later."""
        return (Taken(box, self.unless) for box in self.boxes)


class Regions:
    """The regions of a policy: of its rules in their order, then of its behaviour aggregates."""

    def __init__(self, policy: PolicySet, actions: Mapping[str, Action], at: datetime) -> None:
        self._policy = policy
        self._actions = actions
        self._node = _Node(policy)
        self._epochs = Epochs.of([policy], at)
        connected = policy.connected_port
        self._connected = connected.address if connected is not None else None

    @cached_property
    def all(self) -> list[Region]:
        """The regions in the order in which they are asked."""
        return [
            *(self._of_rule(rule) for rule in self._policy.rules),
            *(self._of_aggregate(aggregate) for aggregate in self._policy.behaviour_aggregates),
        ]

    def leaving(self, reference: PortReference) -> int:
        """Give the bit of egress ports for a port's output policy."""
        return 1 << self._node.port(reference, UNKNOWN)

    def _of_rule(self, rule: Rule) -> Region:
        counts = self._epochs.bits(rule.valid, self._policy.time_zone)
        always, unless = self._packets(rule)
        # Of exceptions that concern other packets, none is left; where they take everything, nothing is.
        always = tuple(box for box in always if covering(Taken(box, unless), ()) is None)
        if not self._applies(rule):
            always = ()
        now = tuple(_at(box, counts) for box in always) if counts else ()
        return Region(rule, now, always, unless, counts != self._epochs.all)

    def _packets(self, rule: Rule) -> tuple[tuple[ValueBox, ...], tuple[ValueBox, ...]]:
        """Give what it matches and what it doesn't, without regard to time."""
        found: tuple[list[ValueBox], list[ValueBox]] = ([], [])
        for direction in _DIRECTIONS[rule.direction]:
            entered = None if direction is Direction.ANY else self._node.entered(direction, rule.origin())
            mirrored = direction is Direction.INCOMING and rule.direction is Direction.BOTH
            for kind, asked in zip(found, (rule.match, rule.unless), strict=True):
                for conditions in asked:
                    kind += map(_at_hook, boxes(self._node, conditions, self._epochs.all, entered, mirrored=mirrored))
        match, unless = ([box for box in kind if box.volume] for kind in found)
        return tuple(match), tuple(unless)

    def _of_aggregate(self, aggregate: BehaviourAggregate) -> Region:
        found = tuple(
            _at_hook(box)
            for box in aggregate_boxes(self._node, aggregate, self._epochs.all)
            # Without an IP header the pipeline reads a ToS octet of 0.
            if box.subsets[Subset.TOS] & 1 or box.subsets[Subset.VERSION] != 1 << Version.NONE
        )
        return Region(aggregate, found, found, (), timed=False)

    def _applies(self, rule: Rule) -> bool:
        """Whether one of its actions is for the interface its traffic takes; without actions it always applies."""
        interfaces = {self._actions[name].interface for name in rule.actions if name in self._actions}
        return not interfaces or None in interfaces or self._connected in (None, *interfaces)


_DIRECTIONS = {
    Direction.ANY: (Direction.ANY,),
    Direction.OUTGOING: (Direction.OUTGOING,),
    Direction.INCOMING: (Direction.INCOMING,),
    Direction.BOTH: (Direction.OUTGOING, Direction.INCOMING),
}


class _Node(Node):
    """A policy in which every port has a number, its own or one that is free."""

    def __init__(self, policy: PolicySet) -> None:
        super().__init__(policy)
        used = {port.number for port in policy.ports}
        self._free = iter([number for number in range(LAST_PORT, -1, -1) if number not in used])
        self._given: dict[PortReference | Direction, int] = {}

    def port(self, reference: PortReference, origin: Origin) -> int:
        port = self.policy.find_port(reference)
        if port is not None and port.number is not None:
            return port.number
        return self._number(reference if port is None else port.name)

    def entered(self, direction: Direction, origin: Origin) -> int:
        port = self.host if direction is Direction.OUTGOING else self.connected
        return self._number(direction) if port is None else self.port(port.name, origin)

    def _number(self, of: PortReference | Direction) -> int:
        if of not in self._given:
            self._given[of] = next(self._free, LAST_PORT)
        return self._given[of]


def _at(box: ValueBox, epochs: int) -> ValueBox:
    return ValueBox(box.intervals, (*box.subsets[: Subset.EPOCH], epochs))


def _at_hook(box: ValueBox) -> ValueBox:
    if box.subsets[Subset.EGRESS] != PORTS:
        return box
    subsets = list(box.subsets)
    subsets[Subset.EGRESS] = ARRIVING
    return ValueBox(box.intervals, tuple(subsets))


def effect(item: Rule | BehaviourAggregate) -> tuple[object, ...]:
    """Give the rule's treatment by names: equal for two rules that could be one."""
    return (item.permission if isinstance(item, Rule) else None, *item.actions)


def within(inner: Region, outer: Region, *, anytime: bool = False) -> bool:
    """Whether all packets of one are also the other's: when both count, or at any time."""
    mine, others = (inner.always, outer.always) if anytime else (inner.boxes, outer.boxes)
    takes = [Taken(box, outer.unless) for box in others]
    return bool(mine) and all(covering(Taken(box, inner.unless), takes) is not None for box in mine)
