"""A policy set -> the text of a configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator

from phb.errors import InputError
from phb.formats.format import WRITING, Converted, WriteOptions
from phb.formats.ios.building.ports import length_basis, rate_basis
from phb.formats.ios.building.queueing import FAIR_HOLD_QUEUE, FIFO_HOLD_QUEUE, fair_by_default
from phb.formats.ios.configuration import Interface
from phb.formats.ios.language.interface_names import PHYSICAL
from phb.formats.ios.writing.conditions import Written
from phb.formats.ios.writing.losses import Losses
from phb.formats.ios.writing.policies import PolicyMapWriter, PortRules, access_group, rules_at
from phb.formats.ios.writing.queues import early_detection, flow_losses, shaped
from phb.model import (
    JUDGED,
    ClassBased,
    ClassQueue,
    Dialect,
    FairQueue,
    Fifo,
    LengthBasis,
    PolicySet,
    Port,
    Queueing,
    Role,
)
from phb.origin import Origin
from phb.visible import words

_INTERFACE = re.compile(rf"(?P<kind>{'|'.join(PHYSICAL)})\d[\d/:]*")


def write(policy: PolicySet, options: WriteOptions = WRITING) -> Converted:
    """Write a policy as an IOS configuration; refuse to guess the IOS where statements depend on it."""
    dialect = options.dialect or _dialect(policy)
    if dialect is not None:
        return _Writer(policy, dialect).write()
    *older, newest = (_Writer(policy, each) for each in Dialect if each is not Dialect.IOS_11_3)
    written = newest.write()
    for writer in older:
        other = writer.write()
        if (_statements(other), other.losses) != (_statements(written), written.losses):
            known = ", ".join(each.value for each in Dialect)
            raise InputError(Origin("--dialect"), "a policy that doesn't say which IOS is meant", f"one of {known}")
    return written


def _statements(written: Converted) -> str:
    return written.text.partition("\n")[2]


def _dialect(policy: PolicySet) -> Dialect | None:
    """Give the dialect that the policy's own flow queueing names."""
    for queueing in policy.queueing:
        schedule = queueing.schedule
        if isinstance(schedule, FairQueue):
            return schedule.dialect
        if isinstance(schedule, ClassBased):
            for queue in schedule.queues:
                if queue.fair_queue is not None:
                    return queue.fair_queue.dialect
    return None


class _Writer:
    def __init__(self, policy: PolicySet, dialect: Dialect) -> None:
        self.policy = policy
        self.dialect = dialect
        self.losses = Losses()
        self.written = Written(self.losses)
        self.policy_maps: dict[str, list[str]] = {}
        self.interfaces: list[str] = []
        self.names: dict[str, str] = {}

    def write(self) -> Converted:
        policy = self.policy
        for port in policy.ports:
            self._interface(port, self._named(port))
        self._without_words()
        name = "-".join(words(policy.node)) if policy.node else None
        blocks = [
            [f"hostname {name}"] if name else [],
            *self.written.access_lists.values(),
            *self.written.class_maps.values(),
            *self.policy_maps.values(),
            self.interfaces,
            list(self._routes()),
        ]
        text = "".join("!\n" + "".join(f"{line}\n" for line in block) for block in blocks if block)
        return Converted(f"! phb: dialect {self.dialect.value}\n{text}!\nend\n", self.losses.all(), self.names)

    # -----------------------------------------------------------------------
    # Interfaces
    # -----------------------------------------------------------------------

    def _named(self, port: Port) -> Interface:
        """Give the interface of the port; one that IOS can't name gets a name of its length basis and number."""
        match = _INTERFACE.fullmatch(port.name)
        if match is not None:
            return Interface(port.name, match["kind"], port.origin())
        queueing = self._queueing(port)
        ppp = queueing is not None and queueing.length_basis is LengthBasis.PPP
        kind, taken = "Serial" if ppp else "GigabitEthernet", {each.name for each in self.policy.ports}
        number = port.number if port.number is not None else len(taken)
        while f"{kind}0/{number}" in {*taken, *self.names.values()}:
            number += 1
        name = f"{kind}0/{number}"
        self.names[port.name] = name
        self.losses.add(port, "name", f"the name of port '{port.name}'", f"IOS names interfaces; this one is {name}")
        return Interface(name, kind, port.origin())

    def _interface(self, port: Port, interface: Interface) -> None:
        lines = [f"interface {interface.name}"]
        if port.number is not None:
            self.losses.add(port, "number", f"the number of port '{port.name}'", "only the switch has port numbers")
        if port.role is Role.HOST:
            self.losses.add(port, "role", f"the host behind port '{port.name}'", "a router marks for no host")
        if port.address is not None and port.address.version == 4:
            lines += [" ! The policy doesn't know the netmask.", f" ip address {port.address} 255.255.255.255"]
        elif port.address is not None:
            self.losses.add(port, "address", f"the address of port '{port.name}'", "phb writes IPv4 addresses only")
        lines += self._bandwidth(port, interface)
        queueing = self._queueing(port)
        schedule = queueing.schedule if queueing is not None else None
        if queueing is not None:
            if queueing.length_basis is not length_basis(interface):
                what = f"lengths that count {queueing.length_basis.value} at port '{port.name}'"
                self.losses.add(queueing, "length_basis", what, f"IOS counts {length_basis(interface).value} there")
            if queueing.buffers is not None:
                self.losses.add(queueing, "buffers", f"buffers in bytes of port '{port.name}'", "IOS counts packets")
        shape = None
        if queueing is not None and queueing.shaper is not None:
            shape = shaped(queueing.shaper, rate_basis(interface), self.losses)
        if queueing is not None and isinstance(schedule, Fifo) and shape is not None:
            # A class's queue holds the packets that wait for a shaper.
            lone = ClassQueue(traffic_class="class-default", queue_limit=queueing.hold_queue).at(queueing.origin())
            schedule = ClassBased(kind="classes", queues=(lone,)).at(queueing.origin())
        for direction in ("input", "output"):
            hook = rules_at(self.policy, port, interface, direction, self.losses)
            classes = schedule if direction == "output" and isinstance(schedule, ClassBased) else None
            lines += self._policy(hook, classes, shape if classes is not None else None)
        if queueing is not None:
            lines += self._own_queue(queueing, interface, schedule, shape)
        elif fair_by_default(interface):
            lines.append(" no fair-queue")
            what = f"a queue of port '{port.name}' without a limit"
            self.losses.add(port, "queueing", what, f"IOS has one of {FIFO_HOLD_QUEUE} packets")
        self.interfaces += [*([] if not self.interfaces else ["!"]), *lines]

    def _bandwidth(self, port: Port, interface: Interface) -> list[str]:
        if port.rate is None:
            return []
        bits = port.rate.bits_per_second
        if port.rate.basis is not rate_basis(interface) or bits % 1000:
            what = f"the rate of port '{port.name}', {port.rate}"
            self.losses.add(port, "rate", what, f"IOS has kbit/s that count {rate_basis(interface).value} there")
            return []
        interface.bandwidth = (int(bits) // 1000, port.origin("rate"))
        return [f" bandwidth {interface.bandwidth[0]}"]

    def _queueing(self, port: Port) -> Queueing | None:
        for queueing in self.policy.queueing:
            if self.policy.find_port(queueing.port) is port:
                return queueing
        return None

    def _own_queue(
        self, queueing: Queueing, interface: Interface, schedule: object, shape: str | None
    ) -> Iterator[str]:
        default: int | None = FIFO_HOLD_QUEUE
        if isinstance(schedule, FairQueue):
            flow_losses(schedule, self.dialect, f"port '{interface.name}'", self.losses)
            numbers = (schedule.congestive_discard_threshold, schedule.dynamic_conversations, schedule.reservable)
            yield " fair-queue " + " ".join(str(number) for number in numbers)
            default = None if self.dialect is Dialect.IOS_11_3 else FAIR_HOLD_QUEUE
            if shape is not None:
                yield f" traffic-shape rate {shape}"
        elif isinstance(schedule, ClassBased):
            default = FAIR_HOLD_QUEUE
        elif queueing.early_detection is None:
            yield " no fair-queue"
        if queueing.early_detection is not None:
            if isinstance(schedule, Fifo):
                yield from (f" {line}" for line in early_detection(queueing.early_detection, self.losses))
            else:
                what = f"early detection of port '{interface.name}'"
                self.losses.add(queueing, "early_detection", what, "an interface has it, or queues fairly")
        if queueing.hold_queue is None and default is not None:
            what = f"no hold queue of port '{interface.name}'"
            self.losses.add(queueing, "hold_queue", what, f"IOS has one of {default} packets")
        elif queueing.hold_queue != default:
            yield f" hold-queue {queueing.hold_queue} out"
        if queueing.push_out:
            what = f"push-out at port '{interface.name}'"
            self.losses.add(queueing, "push_out", what, "IOS has no statement that says whom a full hold queue drops")

    def _policy(self, hook: PortRules, schedule: ClassBased | None, shape: str | None) -> Iterator[str]:
        interface, direction = hook.interface, hook.direction
        if self.dialect is Dialect.IOS_11_3 and (hook.rules or schedule is not None):
            for each in hook.rules:
                why = "ios-11.3 has no policy maps"
                self.losses.add(each.rule, "", f"rule '{each.rule.name}'", why)
            if schedule is not None:
                self.losses.add(schedule, "", f"classes of port '{interface.name}'", "ios-11.3 has no policy maps")
            return
        group, rules = access_group(hook, self.written)
        if group:
            yield f" ip access-group {group} {'in' if direction == 'input' else 'out'}"
        head = self._policy_map_name(hook, [each.rule.name for each in rules])
        writer = PolicyMapWriter(self.policy, hook, self.dialect, self.written, self.losses, schedule)
        body = writer.lines(rules, head)
        name = self._policy_map(head, body) if body else ""
        if shape is not None:
            child = [f"  service-policy {name}"] if name else []
            shaper = [" class class-default", f"  shape average {shape}", *child]
            name = self._policy_map(f"{name or head}-shaper", shaper)
        if not name:
            return
        if schedule is not None and self.dialect is Dialect.IOS_12:
            yield " max-reserved-bandwidth 100"
        yield f" service-policy {direction} {name}"

    def _policy_map_name(self, hook: PortRules, rules: list[str]) -> str:
        """Give the policy map's name: the prefix of the rules' names if the reader made them, else a new one."""
        heads = {rule.partition("/")[0] if "/" in rule and " " not in rule else "" for rule in rules}
        head = heads.pop() if len(heads) == 1 else ""
        return head or f"{hook.interface.name}-{hook.direction}".replace("/", "-")

    def _policy_map(self, wanted: str, body: list[str]) -> str:
        """Give the name of a policy map with these classes: an existing one, else a new one."""
        name, number = wanted[:60], 1
        while name in self.policy_maps and self.policy_maps[name][1:] != body:
            number += 1
            name = f"{wanted[:56]}-{number}"
        self.policy_maps[name] = [f"policy-map {name}", *body]
        return name

    # -----------------------------------------------------------------------
    # The rest
    # -----------------------------------------------------------------------

    def _routes(self) -> Iterator[str]:
        for route in self.policy.routes:
            if route.discard and route.destination.version == 4:
                yield f"ip route {route.destination.network_address} {route.destination.netmask} Null0"
            else:
                why = "phb writes no IPv6 routes" if route.discard else "IOS has no MAC addresses in a route"
                self.losses.add(route, "", f"the route to {route.destination}", why)

    def _without_words(self) -> None:
        policy, losses = self.policy, self.losses
        if policy.time_zone is not None:
            losses.add(policy, "time_zone", f"time zone {policy.time_zone}", "no rule of IOS is written with a time")
        for wire in policy.cross_connects:
            losses.add(wire, "", f"the wire between {wire.between[0]} and {wire.between[1]}", "a router routes")
        for image in policy.images:
            losses.add(image, "", f"TcpImage {image.name}", "a router has no TCP/IP image")
        for priority in policy.subnet_priorities:
            losses.add(priority, "", "SetSubnetPrioTosMask", "IOS maps no ToS for a whole interface")
        if policy.applicability is not None:
            losses.add(policy.applicability, "", "'applicability'", "it is about a host, and a router has none")
        for rule in policy.rules:
            ports = [conditions.egress_port or conditions.ingress_port for conditions in rule.match]
            if not policy.ports or any(port is not None and policy.find_port(port) is None for port in ports):
                losses.add(rule, "match", f"rule '{rule.name}'", "its port is in none of the files")
        for queueing in policy.queueing:
            if policy.find_port(queueing.port) is None:
                losses.add(queueing, "port", f"queueing of port '{queueing.port}'", "it is in none of the files")
        schedules = [queueing.schedule for queueing in policy.queueing if isinstance(queueing.schedule, ClassBased)]
        queued = {queue.traffic_class for schedule in schedules for queue in schedule.queues}
        for each in policy.classes:
            if each.name not in queued:
                losses.add(each, "", f"class '{each.name}'", "no port has a queue for it")
        for item in policy.judged:
            what = f"'objectives' of {JUDGED[type(item)]} '{item.name}'"
            losses.add(item, "objectives", what, "a policy map has none", kept=True)
