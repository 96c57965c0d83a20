"""OpenConfig's QoS model into the policy model.

    tree (nodes with lines) > classifiers, schedulers > naming > this

A queue is a class, whoever serves it. A term of a classifier at an interface is a rule, a policer at an interface the
meter of the rules whose queue it takes, a scheduler policy at an interface the queues of its port.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

from phb.errors import InputError
from phb.formats.format import READING, ReadOptions
from phb.formats.openconfig.classifiers import Classifier, Term, read_classifiers
from phb.formats.openconfig.naming import matched_name, policed_name
from phb.formats.openconfig.schedulers import (
    QUEUE_PACKETS,
    Policy,
    Profile,
    Scheduler,
    read_policies,
    read_profiles,
    shares,
)
from phb.formats.openconfig.tree import Node, load
from phb.model import (
    Action,
    ClassBased,
    ClassQueue,
    Conditions,
    Fifo,
    PolicySet,
    Port,
    Queueing,
    Rate,
    RateBasis,
    RateUnit,
    Rule,
    TrafficClass,
)
from phb.notice import Notice
from phb.origin import Origin

_Profiles: TypeAlias = Mapping[str, tuple[Profile, Node]]

_SPEED = re.compile(r"SPEED_([0-9]+)(MB|GB)")
_MBIT = {"MB": 1, "GB": 1000}
_LEVELS = 7


def read(text: str, file: str, options: ReadOptions = READING) -> PolicySet:
    """Read a document of /qos and /interfaces, for which no option counts.

    One that a switch gave says so by its ``controller``; such a switch does the shapers of ports itself.
    """
    root = load(text, file)
    members = root.members()
    if "qos" not in members and "interfaces" not in members:
        raise root.wrong("'openconfig-qos:qos', 'openconfig-interfaces:interfaces', or both", "a document without them")
    reader = _Reader(shapes_itself="controller" in members)
    for name, node in members.items():
        if name not in ("qos", "interfaces", "controller"):
            reader.notices.append(Notice(node.origin, f"'{name}' has no effect: it isn't about QoS", aside=True))
    policy = reader.read(members.get("qos"), members.get("interfaces"))
    return policy.at(Origin(file, 1)).noting(reader.notices)


@dataclass
class _Reader:
    shapes_itself: bool
    notices: list[Notice] = field(default_factory=list)
    queues: dict[str, TrafficClass] = field(default_factory=dict)
    groups: dict[str, Node | None] = field(default_factory=dict)
    classifiers: Mapping[str, Classifier] = field(default_factory=dict)
    policies: Mapping[str, Policy] = field(default_factory=dict)
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    ports: dict[str, Port] = field(default_factory=dict)
    actions: list[Action] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)
    queueing: list[Queueing] = field(default_factory=list)

    def read(self, qos: Node | None, interfaces: Node | None) -> PolicySet:
        for name, node in () if interfaces is None else interfaces.list_of("interface", "name"):
            self.ports[name] = _port(name, node)
        known = ("classifiers", "forwarding-groups", "queues", "queue-management-profiles", "scheduler-policies")
        members = {} if qos is None else qos.container(*known, "interfaces", "*config")
        if "queues" in members:
            for name, node in members["queues"].list_of("queue", "name"):
                node.container("name", "config")
                self.queues[name] = TrafficClass(name=name).at(node.origin)
        if "forwarding-groups" in members:
            for name, node in members["forwarding-groups"].list_of("forwarding-group", "name"):
                self.groups[name] = self._output_queue(node)
        self.classifiers = read_classifiers(members.get("classifiers"))
        self.profiles = read_profiles(members.get("queue-management-profiles"), self.notices)
        self.policies = read_policies(members.get("scheduler-policies"))
        listed = members["interfaces"].list_of("interface", "interface-id") if "interfaces" in members else ()
        for name, node in listed:
            self._interface(name, node)
        return PolicySet(
            ports=tuple(self.ports.values()),
            classes=tuple(self.queues.values()),
            queueing=tuple(self.queueing),
            actions=tuple(self.actions),
            rules=tuple(self.rules),
        )

    def _output_queue(self, group: Node) -> Node | None:
        members = group.container("name", "config")
        leaves = members["config"].container("name", "output-queue") if "config" in members else {}
        queue = leaves.get("output-queue")
        if queue is not None:
            self._queue(queue)
        return queue

    def _queue(self, node: Node) -> str:
        """Give the class of the queue that a leaf names."""
        name = node.text()
        if name not in self.queues:
            raise node.wrong(f"one of {', '.join(self.queues) or 'the queues; there is none'}", f"queue '{name}'")
        return name

    def _interface(self, name: str, node: Node) -> None:
        members = node.container("interface-id", "config", "interface-ref", "input", "output")
        if name not in self.ports:
            number = int(name) if name.isascii() and name.isdecimal() else None
            self.ports[name] = Port(name=name, number=number).at(node.origin)
        if "input" in members:
            self._input(name, members["input"])
        if "output" in members:
            self._output(name, members["output"])

    # -- input ----------------------------------------------------------------

    def _input(self, port: str, node: Node) -> None:
        members = node.container("classifiers", "scheduler-policy", "*queues", "*config")
        policers = self._policers(members.get("scheduler-policy"))
        terms: list[tuple[Classifier, Term]] = []
        listed = members["classifiers"].list_of("classifier", "type") if "classifiers" in members else ()
        for kind, each in listed:
            classifier = self._classifier(kind, each)
            if classifier is not None:
                terms += [(classifier, term) for term in classifier.terms]
        if not terms:
            self._police_all(port, policers)
            return
        metered: dict[int, Action] = {}
        for classifier, term in terms:
            queue = self._queue_of(term)
            policer = next((each for each in policers if _takes(each, queue)), None)
            action = self._action(port, classifier, term, queue, policer, metered)
            match = tuple(each.model_copy(update={"ingress_port": port}).at(term.origin) for each in term.conditions)
            name = matched_name(port, classifier.version, term.name)
            actions = () if action is None else (action.name,)
            self.rules.append(Rule(name=name, match=match, actions=actions).at(term.origin))

    def _classifier(self, kind: str, node: Node) -> Classifier | None:
        members = node.container("type", "config", "*terms")
        leaves = members["config"].container("type", "name") if "config" in members else {}
        if "name" not in leaves:
            return None
        name = leaves["name"].text()
        if name not in self.classifiers:
            known = ", ".join(self.classifiers) or "the classifiers; there is none"
            raise leaves["name"].wrong(f"one of {known}", f"classifier '{name}'")
        classifier = self.classifiers[name]
        if classifier.version != kind:
            raise leaves["name"].wrong(f"one of type {kind}", f"classifier '{name}' of type {classifier.version}")
        return classifier

    def _queue_of(self, term: Term) -> str | None:
        if term.group is None:
            return None
        name = term.group.text()
        if name not in self.groups:
            known = ", ".join(self.groups) or "the forwarding groups; there is none"
            raise term.group.wrong(f"one of {known}", f"forwarding group '{name}'")
        queue = self.groups[name]
        return None if queue is None else queue.text()

    def _policers(self, node: Node | None) -> list[Scheduler]:
        policy = None if node is None else self._policy(node)
        policers = [] if policy is None else list(policy.schedulers)
        for each in policers:
            if each.meter is None:
                raise InputError(each.origin, "a scheduler without a policer at an input", "queuing-behavior POLICE")
            for served in each.inputs:
                self._queue(served.queue)
        return policers

    def _policy(self, node: Node) -> Policy | None:
        members = node.container("config", "*schedulers")
        leaf = members["config"].container("name").get("name") if "config" in members else None
        if leaf is None:
            return None
        name = leaf.text()
        if name not in self.policies:
            known = ", ".join(self.policies) or "the scheduler policies; there is none"
            raise leaf.wrong(f"one of {known}", f"scheduler policy '{name}'")
        return self.policies[name]

    def _police_all(self, port: str, policers: list[Scheduler]) -> None:
        """Without a classifier the one policer takes everything."""
        if len(policers) > 1:
            raise InputError(policers[1].origin, f"a second policer at '{port}', which has no classifier", "one")
        for policer in policers:
            name = policed_name(port, policer.sequence)
            self.actions.append(Action(name=name, meter=policer.meter).at(policer.origin))
            match = (Conditions(ingress_port=port).at(policer.origin),)
            self.rules.append(Rule(name=name, match=match, actions=(name,)).at(policer.origin))

    def _action(
        self,
        port: str,
        classifier: Classifier,
        term: Term,
        queue: str | None,
        policer: Scheduler | None,
        metered: dict[int, Action],
    ) -> Action | None:
        """Give the action of a term; those that share a policer share the action, for it has the meter."""
        given: dict[str, Any] = term.remark.as_fields()
        if queue is not None:
            given["traffic_class"] = queue
        if policer is None:
            if not given:
                return None
            name = matched_name(port, classifier.version, term.name)
            self.actions.append(Action(name=name, **given).at(term.origin))
            return self.actions[-1]
        action = Action(name=policed_name(port, policer.sequence), meter=policer.meter, **given).at(term.origin)
        known = metered.setdefault(policer.sequence, action)
        if known != action:
            found = f"term '{term.name}' of another queue or remark behind the policer of {known.origin()}"
            raise InputError(term.origin, found, "a policer for each queue")
        if known is action:
            self.actions.append(action)
        return known

    # -- output ---------------------------------------------------------------

    def _output(self, port: str, node: Node) -> None:
        members = node.container("scheduler-policy", "queues", "*config")
        policy = self._policy(members["scheduler-policy"]) if "scheduler-policy" in members else None
        profiles: dict[str, tuple[Profile, Node]] = {}
        for name, each in members["queues"].list_of("queue", "name") if "queues" in members else ():
            found = self._profile(each)
            if found is not None:
                profiles[name] = found
        queues = [] if policy is None else list(self._queues(policy, profiles))
        for name, (_, leaf) in profiles.items():
            if name not in [queue.traffic_class for queue in queues]:
                raise leaf.wrong("a queue of the port's scheduler policy", f"a profile of queue '{name}' at '{port}'")
        shaped = policy.port_shaper if policy is not None else None
        if policy is None or (not queues and (shaped is None or self.shapes_itself)):
            return
        schedule = ClassBased(kind="classes", queues=tuple(queues)) if queues else Fifo(kind="fifo")
        shaper = shaped.shaper if shaped is not None else None
        if shaper is not None and self.shapes_itself:
            self._rated(port, shaper.rate)
            shaper = None
        depth = shaped.depth if shaped is not None and not self.shapes_itself else None
        queueing = Queueing(port=port, schedule=schedule.at(policy.origin), shaper=shaper, hold_queue=depth)
        self.queueing.append(queueing.at(node.origin))

    def _rated(self, port: str, rate: Rate) -> None:
        known = self.ports[port]
        self.ports[port] = known.model_copy(update={"rate": rate}).at(known.origin())

    def _profile(self, node: Node) -> tuple[Profile, Node] | None:
        members = node.container("name", "config")
        leaves = members["config"].container("name", "queue-management-profile") if "config" in members else {}
        leaf = leaves.get("queue-management-profile")
        if leaf is None:
            return None
        name = leaf.text()
        if name not in self.profiles:
            known = ", ".join(self.profiles) or "the queue management profiles; there is none"
            raise leaf.wrong(f"one of {known}", f"queue management profile '{name}'")
        return self.profiles[name], leaf

    def _queues(self, policy: Policy, profiles: _Profiles) -> Iterator[ClassQueue]:
        level = 0
        weighted: Scheduler | None = None
        for scheduler in policy.schedulers:
            if not scheduler.inputs:
                if scheduler.behaviour == "POLICE":
                    raise InputError(scheduler.origin, "a policer at an output", "queuing-behavior SHAPE")
                continue
            if scheduler.meter is not None:
                raise InputError(scheduler.origin, "a policer at an output", "a shaper, or none")
            if not scheduler.strict:
                if weighted is not None:
                    found = f"a second scheduler by weights in policy '{policy.name}'"
                    raise InputError(scheduler.origin, found, f"one; the first is at {weighted.origin}")
                weighted = scheduler
            elif weighted is not None:
                found = f"strict priority behind the weights of {weighted.origin}"
                raise InputError(scheduler.origin, found, "a lower sequence")
            if scheduler.shaper is not None and len(scheduler.inputs) > 1:
                raise InputError(scheduler.origin, "a shaper of several queues", "one queue for each shaper")
            level = yield from self._served(scheduler, level, profiles)

    def _served(self, scheduler: Scheduler, level: int, profiles: _Profiles) -> Generator[ClassQueue, None, int]:
        """Give the queues of one scheduler, and the next strict level."""
        inputs = sorted(scheduler.inputs, key=lambda each: -each.weight) if scheduler.strict else scheduler.inputs
        parts = [None] * len(inputs) if scheduler.strict else list(shares(inputs))
        before = None
        for each, part in zip(inputs, parts, strict=True):
            if before is not None and each.weight != before:
                level += 1
            before = each.weight if scheduler.strict else None
            if scheduler.strict and level >= _LEVELS:
                raise InputError(each.origin, f"{level + 1} strict priorities", f"at most {_LEVELS}")
            name = self._queue(each.queue)
            if scheduler.strict and scheduler.shaper is not None:
                raise InputError(scheduler.origin, f"a shaper of the strict queue '{name}'", "a queue with a weight")
            profile = profiles[name][0] if name in profiles else None
            limit = scheduler.depth or (QUEUE_PACKETS if profile is None else profile.limit())
            yield ClassQueue(
                traffic_class=name,
                level=level if scheduler.strict else None,
                bandwidth=part,
                queue_limit=limit,
                shaper=scheduler.shaper,
                early_detection=profile.early_detection(limit) if profile is not None else None,
            ).at(each.origin)
        return level + 1 if scheduler.strict else level


def _takes(policer: Scheduler, queue: str | None) -> bool:
    return not policer.inputs or queue in [each.queue.text() for each in policer.inputs]


def _port(name: str, node: Node) -> Port:
    members = node.members()
    number = None
    for container in ("config", "state"):
        leaves = members[container].members() if container in members else {}
        if "id" in leaves:
            number = leaves["id"].number(0, 2**32 - 1)
    speed = None
    if "ethernet" in members:
        inner = members["ethernet"].members()
        leaves = inner["config"].members() if "config" in inner else {}
        match = _SPEED.fullmatch(leaves["port-speed"].text().rpartition(":")[2]) if "port-speed" in leaves else None
        if match is not None:
            value = Decimal(int(match[1]) * _MBIT[match[2]])
            speed = Rate(value=value, unit=RateUnit.MBIT, basis=RateBasis.ETHERNET)
    try:
        return Port(name=name, number=number, rate=speed).at(node.origin)
    except ValueError:
        raise node.wrong("a name of up to 64 characters, and a port number", f"interface '{name}'") from None
