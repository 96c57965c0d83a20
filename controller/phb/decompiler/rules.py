"""Stages classify and output: policy numbers as rules and behaviour aggregates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import pairwise

from phb.compiler.matching import Box
from phb.decompiler.actions import Actions, Done
from phb.decompiler.boxes import box, code_points, conditions, marks, whole_ranges
from phb.decompiler.exceptions import Parts, parts_of
from phb.decompiler.ports import Ports
from phb.decompiler.rows import STAGE, NotAPolicyError, Rows, exact
from phb.intent import Entry, Hook
from phb.model import BehaviourAggregate, Direction, Permission, Rule
from phb.names import Names


@dataclass(frozen=True)
class _Policy:
    """A policy number and what it takes, by IP version."""

    number: int
    direction: Direction
    match: dict[int, list[Box]]
    unless: dict[int, list[Box]]
    done: Done


def announce(rows: Rows, names: Names, ports: Ports, actions: Actions) -> None:
    """Note what is done under every policy number, and where the host is, before actions are named."""
    for hook in Hook:
        for policy in _policies(rows, hook, names, actions):
            _find_host(policy, ports)
            actions.announce(policy.done, policy.direction)
        for entry in rows.table(f"{STAGE[hook]}.behaviour_aggregate"):
            actions.announce(actions.done(entry.parameters["policy"], hook, [entry]), Direction.ANY)


def decompile_rules(rows: Rows, names: Names, ports: Ports, actions: Actions) -> tuple[Rule, ...]:
    """Give the rules in an order in which the first one counts: the input policy's, then those of output policies."""
    found = {hook: [*_policies(rows, hook, names, actions)] for hook in Hook}
    for one, other in pairwise(found[Hook.INPUT]):
        if other.done.stream and _answers(one, other, names):
            actions.join(other.done.stream, one.done.stream)
    taken: set[str] = set()
    rules = []
    for hook, policies in found.items():
        waiting = list(policies)
        while waiting:
            policy = waiting.pop(0)
            back = waiting[0] if waiting and _answers(policy, waiting[0], names) else None
            if back is not None:
                waiting.pop(0)
            elif policy.done.counted_as not in (0, policy.number):
                raise NotAPolicyError(policy.done.entry, "connections are counted with those of another policy")
            rules.append(_rule(policy, hook, names, ports, actions, taken, both=back is not None))
    return tuple(rules)


def _policies(rows: Rows, hook: Hook, names: Names, actions: Actions) -> Iterator[_Policy]:
    parts: dict[int, Parts] = {}
    entries: dict[int, list[Entry]] = {}
    for version in (4, 6):
        table = rows.table(f"{STAGE[hook]}.multi_field_ipv{version}")
        parts[version] = parts_of(table)
        for entry in table:
            if entry.action == "set_class":
                entries.setdefault(entry.parameters["policy"], []).append(entry)
    for number in _in_order([list(each) for each in parts.values()], entries):
        match: dict[int, list[Box]] = {}
        unless: dict[int, list[Box]] = {}
        for version in (4, 6):
            part = parts[version].get(number)
            match[version] = [] if part is None else _whole(part.taken, version)
            unless[version] = [] if part is None else _whole(part.excepted, version)
        known = names.policies.get(number)
        direction = Direction(known.direction) if known is not None else Direction.ANY
        yield _Policy(number, direction, match, unless, actions.done(number, hook, entries[number]))


def _whole(entries: tuple[Entry, ...], version: int) -> list[Box]:
    boxes = [box(entry) for entry in entries]
    return whole_ranges(boxes) if version == 6 else boxes


def _in_order(chains: list[list[int]], entries: dict[int, list[Entry]]) -> list[int]:
    """Order the policies as either IP version has them; where both leave it open, by number."""
    after: dict[int, set[int]] = {number: set() for chain in chains for number in chain}
    before = dict.fromkeys(after, 0)
    for chain in chains:
        for one, other in pairwise(chain):
            if other not in after[one]:
                after[one].add(other)
                before[other] += 1
    ready: list[int] = []
    for number, count in before.items():
        if not count:
            heappush(ready, number)
    found = []
    while ready:
        number = heappop(ready)
        found.append(number)
        for other in after[number]:
            before[other] -= 1
            if not before[other]:
                heappush(ready, other)
    if len(found) < len(after):
        number = min(set(after) - set(found))
        raise NotAPolicyError(entries[number][0], "the rules of IPv4 and of IPv6 are in different orders")
    return found


def _find_host(policy: _Policy, ports: Ports) -> None:
    if policy.direction is Direction.ANY:
        return
    ingress = policy.match[4][0].ingress_port if policy.match[4] else policy.match[6][0].ingress_port
    host = ingress if policy.direction is Direction.OUTGOING else ports.wires.get(ingress or 0)
    if host is None or ports.host not in (None, host):
        raise NotAPolicyError(policy.done.entry, "a rule with a direction needs one port where the host is")
    ports.host = host


def _answers(policy: _Policy, other: _Policy, names: Names) -> bool:
    """Whether the two are the two directions of one rule."""
    if (policy.direction, other.direction) != (Direction.OUTGOING, Direction.INCOMING):
        return False
    if names.policies[policy.number].rule != names.policies[other.number].rule:
        return False
    one, back = policy.done, other.done
    # What comes to the host isn't metered: it has no stream, or one of its own for the action's buffer.
    streams = names.streams.get(one.stream), names.streams.get(back.stream)
    if back.stream not in (0, one.stream) and (streams[0] != streams[1] or None in streams):
        return False
    if (one.traffic_class, one.blocked) != (back.traffic_class, back.blocked):
        return False
    if one.connections and back.counted_as != one.counted_as:
        return False
    return all(
        {_mirrored(each) for each in mine[version]} == {each._replace(ingress_port=None) for each in theirs[version]}
        for mine, theirs in ((policy.match, other.match), (policy.unless, other.unless))
        for version in (4, 6)
    )


def _mirrored(each: Box) -> Box:
    return each._replace(
        ingress_port=None,
        source=each.destination,
        destination=each.source,
        source_ports=each.destination_ports,
        destination_ports=each.source_ports,
    )


def _rule(
    policy: _Policy, hook: Hook, names: Names, ports: Ports, actions: Actions, taken: set[str], *, both: bool
) -> Rule:
    direction = Direction.BOTH if both else policy.direction
    known = names.policies.get(policy.number)
    name = f"policy-{policy.number}" if known is None else known.rule
    if name in taken:
        name = f"{name[:48]}-{policy.number}"
    taken.add(name)
    match, unless = (
        {version: [_without_ingress(box, direction) for box in boxes] for version, boxes in each.items()}
        for each in (policy.match, policy.unless)
    )
    return Rule(
        name=name,
        direction=direction,
        permission=Permission.BLOCKED if policy.done.blocked else Permission.ALLOWED,
        match=conditions(match, ports),
        unless=conditions(unless, ports),
        actions=actions.name(policy.done, hook),
    )


def _without_ingress(each: Box, direction: Direction) -> Box:
    return each if direction is Direction.ANY else each._replace(ingress_port=None)


def behaviour_aggregates(rows: Rows, names: Names, ports: Ports, actions: Actions) -> tuple[BehaviourAggregate, ...]:
    """Read behaviour aggregates: by code point, for packets that no rule took."""
    found = []
    for hook in Hook:
        for entry in rows.table(f"{STAGE[hook]}.behaviour_aggregate"):
            number = entry.parameters["policy"]
            done = actions.done(number, hook, [entry])
            known = names.policies.get(number)
            match = entry.match
            fields = {name: ports.name(exact(match[name])) for name in ("ingress_port", "egress_port") if name in match}
            aggregate = BehaviourAggregate(
                name=f"policy-{number}" if known is None else known.rule,
                actions=actions.name(done, hook),
                **fields,  # type: ignore[arg-type]
                **code_points(marks(entry)),  # type: ignore[arg-type]
            )
            found.append(aggregate)
    return tuple(found)
