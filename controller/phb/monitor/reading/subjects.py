"""What a switch's entries count: classes, policies, streams and queues, with the numbers that their cells go by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from phb.device.artifact import Artifact
from phb.device.references import VERSION_TABLE
from phb.model import PolicySet
from phb.monitor.observation import SubjectKind
from phb.monitor.wanted import direction_of, wanted_of
from phb.names import Names
from phb.show.held import HOOKS, HeldTables
from phb.show.queues import CLASS_QUEUE, SCHEDULER, places, scheduled

NO_RULE = ("", "")
"""The policy of traffic that no rule took."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of one class, policy or stream: mostly one. `traffic_class` is that of its traffic, by name."""

    numbers: tuple[int, ...]
    traffic_class: str = ""


class AtPort(NamedTuple):
    """A class at a port, by its number: the first of its slots, and how many there are."""

    port: int
    traffic_class: str
    first: int
    slots: int


@dataclass(frozen=True)
class Subjects:
    """All that is counted.

    Attributes:
        policies: By rule and direction, as `PolicyCount` has them.
        streams: By action; without numbers where it has neither meter nor buffer.
        members: The policies of each stream: what it counts is theirs together.
        queues: The classes of queues, by their first slot.
        ports: Names of ports that the policy files name.
        at_ports: Classes at ports; none where nobody asked for them.
    """

    classes: Mapping[str, Numbers] = field(default_factory=dict)
    policies: Mapping[tuple[str, str], Numbers] = field(default_factory=dict)
    streams: Mapping[str, Numbers] = field(default_factory=dict)
    members: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    queues: Mapping[int, str] = field(default_factory=dict)
    ports: Mapping[int, str] = field(default_factory=dict)
    at_ports: tuple[AtPort, ...] = ()


def tables_of_interest(artifact: Artifact, *, queues: bool = False) -> tuple[list[str], list[str]]:
    """Give the tables whose entries say what is counted, and those whose default entry is needed with them.

    With `queues`, what is counted of classes at ports is among it.

    A router's tables, which change all the time, aren't among them.
    """
    wanted = {f"{control}." for control in HOOKS}
    tables = [
        name
        for name, table in artifact.tables.items()
        if (short := name.partition(".")[2]) == CLASS_QUEUE
        or (queues and short == SCHEDULER)
        or (any(short.startswith(control) for control in wanted) and "set_class" in table.actions)
    ]
    return tables, [name for name in (VERSION_TABLE,) if name in artifact.tables]


def subjects_of(held: HeldTables, names: Names, policy: PolicySet | None) -> Subjects:
    """Give what entries in force count.

    `policy` is what the files say; it tells which rules belong to actions that have objectives.
    """
    classes: dict[str, set[int]] = {names.traffic_class(0): {0}}
    policies: dict[tuple[str, str], tuple[set[int], str]] = {NO_RULE: ({0}, names.traffic_class(0))}
    streams: dict[str, tuple[set[int], str]] = {}
    members: dict[str, set[tuple[str, str]]] = {}
    for control in HOOKS:
        for entry in held.classifying(control):
            if not held.in_force(entry):
                continue
            parameters = entry.parameters
            traffic_class = names.traffic_class(parameters["traffic_class"])
            classes.setdefault(traffic_class, set()).add(parameters["traffic_class"])
            key = _key(names, parameters["policy"])
            policies.setdefault(key, (set(), traffic_class))[0].add(parameters["policy"])
            stream = parameters["stream"]
            if stream:
                action = names.streams.get(stream, f"stream {stream}")
                streams.setdefault(action, (set(), traffic_class))[0].add(stream)
                members.setdefault(action, set()).add(key)
    for about, wanted in ({} if policy is None else wanted_of(policy, names)).items():
        present = policies.keys() & set(wanted.policies)
        if about.kind is SubjectKind.STREAM and present:
            streams.setdefault(about.name, (set(), wanted.traffic_class))
            members.setdefault(about.name, set()).update(present)
    queues = {}
    for entry in held.table(CLASS_QUEUE):
        parameters = entry.parameters
        name = names.traffic_class(parameters["traffic_class"])
        classes.setdefault(name, set()).add(parameters["traffic_class"])
        queues[parameters["slot"] if entry.action == "single" else parameters["base"]] = name
    return Subjects(
        {name: Numbers(tuple(sorted(numbers))) for name, numbers in sorted(classes.items())},
        {key: Numbers(tuple(sorted(numbers)), name) for key, (numbers, name) in sorted(policies.items())},
        {action: Numbers(tuple(sorted(numbers)), name) for action, (numbers, name) in sorted(streams.items())},
        {action: tuple(sorted(keys)) for action, keys in members.items()},
        queues,
        names.ports,
        tuple(
            AtPort(port, names.traffic_class(place.traffic_class), place.first, place.slots)
            for port, entry in scheduled(held)
            for place in places(held, port, entry)
            if place.traffic_class is not None
        ),
    )


def _key(names: Names, number: int) -> tuple[str, str]:
    known = names.policies.get(number)
    return (f"policy {number}", "") if known is None else (known.rule, direction_of(known))
