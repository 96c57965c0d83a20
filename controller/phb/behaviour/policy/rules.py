"""Rules and behaviour aggregates as steps, at both hooks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from phb.behaviour.behaviour import Step, Treatment
from phb.behaviour.policy.conditions import aggregate_boxes, boxes
from phb.behaviour.policy.references import Node
from phb.behaviour.policy.treatments import Treatments
from phb.model import Direction, Permission, Rule, Validity
from phb.packets.boxes import ValueBox
from phb.packets.epochs import Epochs

_BLOCKED = Treatment(blocked=True)


def steps(node: Node, treatments: Treatments, epochs: Epochs) -> tuple[list[Step[Treatment]], list[Step[Treatment]]]:
    """Give the steps of the input policy, and of the output policies: rules, then aggregates."""
    found: tuple[list[Step[Treatment]], list[Step[Treatment]]] = ([], [])
    counting = _Counting(node, epochs)
    for number, rule in enumerate(node.policy.rules):
        output = rule.match[0].egress_port is not None
        found[output].extend(_rule(node, treatments, rule, number, counting.epochs(rule.valid), epochs.all))
    for number, aggregate in enumerate(node.policy.behaviour_aggregates):
        action = node.action(aggregate)
        if action is None and aggregate.actions:
            continue
        output = aggregate.egress_port is not None
        does = treatments.of(action, output=output, counted_as=("aggregate", number))
        taken = aggregate_boxes(node, aggregate, epochs.all)
        found[output].append(Step(taken, (), does, aggregate.name, aggregate.origin()))
    return found


class _Counting:
    """When rules count: most say the same of it."""

    def __init__(self, node: Node, epochs: Epochs) -> None:
        self._bits = partial(epochs.bits, zone=node.policy.time_zone)
        self._known: dict[tuple[object, ...], int] = {}

    def epochs(self, valid: Validity) -> int:
        key = (valid.days, valid.time, valid.months, valid.days_of_month, valid.between, valid.time_zone)
        if key not in self._known:
            self._known[key] = self._bits(valid)
        return self._known[key]


def _rule(
    node: Node, treatments: Treatments, rule: Rule, number: int, counts: int, always: int
) -> Iterator[Step[Treatment]]:
    action = node.action(rule)
    if not counts or (action is None and rule.actions):
        return
    output = rule.match[0].egress_port is not None
    for direction, entered in _ways(node, rule):
        incoming = direction is Direction.INCOMING
        mirrored = incoming and rule.direction is Direction.BOTH
        # The host's node meters and marks what the host sends. The rates of a rule for both ways are of what it sends.
        does = treatments.of(
            action, output=output, counted_as=("rule", number), conditioned=not incoming, clamped=not mirrored
        )
        if rule.permission is Permission.BLOCKED:
            does = _BLOCKED
        taken: list[ValueBox] = []
        excepted: list[ValueBox] = []
        for each in rule.match:
            taken += boxes(node, each, counts, entered, mirrored=mirrored)
        for each in rule.unless:
            excepted += boxes(node, each, always, entered, mirrored=mirrored)
        yield Step(tuple(taken), tuple(excepted), does, rule.name, rule.origin())


def _ways(node: Node, rule: Rule) -> Iterator[tuple[Direction, int | None]]:
    """Give the directions in which a rule takes packets, and where they enter."""
    if rule.direction is Direction.ANY:
        yield Direction.ANY, None
        return
    for direction in (Direction.OUTGOING, Direction.INCOMING):
        if rule.direction in (direction, Direction.BOTH):
            yield direction, node.entered(direction, rule.origin("direction"))
