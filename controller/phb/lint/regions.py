"""The packets of each rule as boxes, in the order in which the pipeline asks the rules.

    subsets:    ingress port, egress port (or none yet), IP version, protocol, ToS, 802.1p priority, VLAN, QoS group,
                TCP flags, month, day of month, day of week, time of day
    intervals:  source, destination, source port, destination port, ICMP type and code, moment

Days and clocks of different time zones can't be compared as sets; each zone's rules with a window are a group of their
own, and rules that always count belong to every group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import product

from phb.model import (
    Action,
    BehaviourAggregate,
    CodePoints,
    Conditions,
    Day,
    Direction,
    PolicySet,
    PortReference,
    Rule,
    Validity,
)
from phb.origin import Origin
from phb.packets.boxes import Interval, TooManyPieces, ValueBox, contains, subtract
from phb.values import (
    LAST_QOS_GROUP,
    PROTOCOLS,
    AddressRange,
    IcmpType,
    PortRange,
    PriorityCodePoint,
    TcpFlags,
    TypeOfService,
)

LIMIT = 512
"""Pieces after which a question about unions is left open; an exact answer may take exponentially many."""

_OTHER = "another port"
_HOST, _CONNECTED = "the host's port", "the port the host is connected to"

ALL_PROTOCOLS = (1 << 256) - 1
ALL_TOS = (1 << 256) - 1
_INPUT = 1  # of the bits of egress ports: no port is chosen yet
_UNTAGGED = 8  # of nine values: the eight priorities, and no tag at all
ALL_PRIORITIES = (1 << 9) - 1
_NO_TAG = 1 << _UNTAGGED
_NO_VLAN = 1 << 4096  # of 4097 values: the VLANs, and no tag at all
ALL_VLANS = (1 << 4097) - 1
ALL_GROUPS = (1 << LAST_QOS_GROUP + 1) - 1
ALL_FLAGS = (1 << 257) - 1  # the flags, and no TCP header at all
ALL_MONTHS = (1 << 12) - 1
ALL_DAYS_OF_MONTH = (1 << 31) - 1
ALL_DAYS = (1 << 7) - 1
MINUTES_PER_DAY = 24 * 60
# Windows begin and end on whole minutes, the last one included: for each minute its first instant, and the rest of it.
ALL_TIMES = (1 << 2 * MINUTES_PER_DAY) - 1
ALWAYS: Interval = (0, 10**12)  # seconds since year 1; datetime's year 9999 is about 3.2e11
ALL_PORTS: Interval = (0, 0xFFFF)
_NO_MESSAGE = 1 << 16  # behind every type and code: no ICMP header at all
ALL_MESSAGES: Interval = (0, _NO_MESSAGE)

_VERSIONS = {4: 1, 6: 2, None: 4}  # None: no IP at all; only behaviour aggregates are asked for that
_ADDRESSES: dict[int | None, Interval] = {4: (0, 2**32 - 1), 6: (0, 2**128 - 1), None: (0, 0)}


@dataclass(frozen=True)
class Region:
    """The packets that one rule or behaviour aggregate asks for.

    Attributes:
        boxes: Its packets and times; none if it can take nothing.
        zone: The time zone of its window: "" if it always counts.
        always: The same packets without regard to time.
    """

    item: Rule | BehaviourAggregate
    boxes: tuple[ValueBox, ...]
    zone: str
    always: tuple[ValueBox, ...]

    @property
    def name(self) -> str:
        """Its name."""
        return self.item.name

    @property
    def origin(self) -> Origin:
        """The place of its statement."""
        return self.item.origin()


class Regions:
    """The regions of a policy: of its rules in their order, then of its behaviour aggregates.

    The exceptions of `undecided` rules take too many pieces: where such rules would cover others they count as empty.
    """

    def __init__(self, policy: PolicySet, actions: Mapping[str, Action]) -> None:
        self._policy = policy
        self._actions = actions
        connected = policy.connected_port
        self._connected = connected.address if connected is not None else None
        self._ports = _port_bits(policy)
        asked = [each for rule in policy.rules for each in (*rule.match, *rule.unless)]
        self._vlans = any(each.vlan is not None for each in (*asked, *policy.behaviour_aggregates))
        self.undecided: list[Rule] = []

    @cached_property
    def all(self) -> list[Region]:
        """The regions in the order in which they are asked."""
        return [
            *(self._of_rule(rule) for rule in self._policy.rules),
            *(self._of_aggregate(aggregate) for aggregate in self._policy.behaviour_aggregates),
        ]

    arriving = _INPUT
    """Of the bits of egress ports: the input policies', which are asked before a port is chosen."""

    def leaving(self, reference: PortReference) -> int:
        """Give the bit of egress ports for a port's output policy."""
        return self._one(reference) << 1

    def _of_rule(self, rule: Rule) -> Region:
        time_subsets, moment, zone = _window(self._policy, rule.valid)
        packets = [box for conditions in rule.match for box in self._of_conditions(rule, conditions)]
        exceptions = [box for conditions in rule.unless for box in self._of_conditions(rule, conditions)]
        try:
            left = [piece for box in packets for piece in subtract(box, exceptions, LIMIT)]
        except TooManyPieces:
            self.undecided.append(rule)
            left = []
        if not self._applies(rule):
            left = []
        never = moment[0] > moment[1] or not all(time_subsets)
        return Region(
            rule,
            () if never else tuple(ValueBox((*box.intervals, moment), (*box.subsets, *time_subsets)) for box in left),
            zone,
            tuple(ValueBox((*box.intervals, ALWAYS), (*box.subsets, *_NO_WINDOW)) for box in left),
        )

    def _of_aggregate(self, aggregate: BehaviourAggregate) -> Region:
        ports_asked = self._hook(aggregate.ingress_port, aggregate.egress_port)
        tos = _tos(aggregate.tos_bits)
        boxes = []
        for version, bit in _VERSIONS.items():
            if version is None and not tos & 1:
                continue  # without an IP header the pipeline reads a ToS octet of 0
            addresses = _ADDRESSES[version]
            bits = tos if version is not None else 1
            protocols = ALL_PROTOCOLS if version is not None else 1
            ports = ALL_PORTS if version is not None else (0, 0)
            boxes += [
                ValueBox(
                    (addresses, addresses, ports, ports, ALL_MESSAGES, ALWAYS),
                    (*ports_asked, bit, protocols, bits, *tag, _groups(aggregate), ALL_FLAGS, *_NO_WINDOW),
                )
                for tag in self._tags(aggregate)
            ]
        return Region(aggregate, tuple(boxes), "", tuple(boxes))

    def _of_conditions(self, rule: Rule, conditions: Conditions) -> list[ValueBox]:
        """Give boxes without the dimensions of time."""
        boxes = []
        for ports, leg in self._legs(rule, conditions):
            versions = (4, 6) if leg.version is None else (leg.version,)
            for version, tag in product(versions, self._tags(leg)):
                boxes.append(
                    ValueBox(
                        (
                            _addresses(leg.source, version),
                            _addresses(leg.destination, version),
                            _port_range(leg.source_ports),
                            _port_range(leg.destination_ports),
                            _messages(leg.icmp_type),
                        ),
                        (
                            *ports,
                            _VERSIONS[version],
                            _protocols(leg),
                            _tos(leg.tos_bits),
                            *tag,
                            _groups(leg),
                            _flags(leg.tcp_flags),
                        ),
                    )
                )
        return boxes

    def _legs(self, rule: Rule, conditions: Conditions) -> list[tuple[tuple[int, int], Conditions]]:
        if rule.direction is Direction.ANY:
            return [(self._hook(conditions.ingress_port, conditions.egress_port), conditions)]
        host, connected = ((self._ports[word], _INPUT) for word in (_HOST, _CONNECTED))
        return {
            Direction.OUTGOING: [(host, conditions)],
            Direction.INCOMING: [(connected, conditions)],
            Direction.BOTH: [(host, conditions), (connected, conditions.mirrored())],
        }[rule.direction]

    def _tags(self, asked: CodePoints) -> list[tuple[int, int]]:
        """Give bits of priorities and VLANs. A frame has both or neither: two boxes, where any rule asks for VLANs."""
        priorities = _priorities(asked.pcp)
        if not self._vlans:
            return [(priorities, ALL_VLANS)]
        vlans = ALL_VLANS
        if asked.vlan is not None:
            vlans = 1 << asked.vlan if isinstance(asked.vlan, int) else _NO_VLAN
        tags = [
            (priorities & ~_NO_TAG, vlans & ~_NO_VLAN),
            (priorities & _NO_TAG, vlans & _NO_VLAN),
        ]
        return [tag for tag in tags if all(tag)]

    def _applies(self, rule: Rule) -> bool:
        """Whether one of its actions is for the interface its traffic takes; without actions it always applies."""
        interfaces = {self._actions[name].interface for name in rule.actions if name in self._actions}
        return not interfaces or None in interfaces or self._connected in (None, *interfaces)

    def _hook(self, ingress: PortReference | None, egress: PortReference | None) -> tuple[int, int]:
        """Give bits of ingress and egress ports: input and output policy never take each other's packets."""
        every = (1 << len(self._ports)) - 1
        return every if ingress is None else self._one(ingress), _INPUT if egress is None else self._one(egress) << 1

    def _one(self, reference: PortReference) -> int:
        port = self._policy.find_port(reference)
        return self._ports.get(port.name if port is not None else str(reference), self._ports[_OTHER])


_NO_WINDOW = (ALL_MONTHS, ALL_DAYS_OF_MONTH, ALL_DAYS, ALL_TIMES)


def _port_bits(policy: PolicySet) -> dict[str, int]:
    """Give a bit for each port, one for all unnamed ports, and the host's side of a node that marks for a host."""
    bits = {_OTHER: 1}
    for port in policy.ports:
        bits.setdefault(port.name, 1 << len(bits))
    host = policy.host_port
    for word, at in ((_HOST, host), (_CONNECTED, policy.connected_port)):
        named = bits.get(at.name) if at is not None else None
        bits[word] = named if named is not None else 1 << len(bits)
    return bits


def effect(item: Rule | BehaviourAggregate) -> tuple[object, ...]:
    """Give the rule's treatment by names: equal for two rules that could be one."""
    return (item.permission if isinstance(item, Rule) else None, *item.actions)


def _window(policy: PolicySet, valid: Validity) -> tuple[tuple[int, int, int, int], Interval, str]:
    days = sum(1 << list(Day).index(day) for day in valid.days)
    months = sum(1 << month - 1 for month in valid.months) or ALL_MONTHS
    days_of_month = sum(1 << day - 1 for day in valid.days_of_month) or ALL_DAYS_OF_MONTH
    times = ALL_TIMES
    if valid.time is not None:
        until, before = ((1 << clock.hour * 60 + clock.minute) - 1 for clock in (valid.time.last, valid.time.first))
        times = until & ~before if before < until else ALL_TIMES & ~before | until
    moment = ALWAYS
    if valid.between is not None:
        first_second, last_second = (_seconds(at) for at in valid.between)
        moment = (first_second, last_second - 1)
    always = (months, days_of_month, days, times, moment) == (*_NO_WINDOW, ALWAYS)
    zone = valid.time_zone or policy.time_zone
    return (months, days_of_month, days, times), moment, "" if always else str(zone or "local")


def _seconds(at: datetime) -> int:
    return int((at.replace(tzinfo=None) - datetime.min).total_seconds())


def _addresses(addresses: AddressRange | None, version: int) -> Interval:
    return _ADDRESSES[version] if addresses is None else (int(addresses.first), int(addresses.last))


def _port_range(ports: PortRange | None) -> Interval:
    return ALL_PORTS if ports is None else (ports.first, ports.last)


def _tos(tos: TypeOfService | None) -> int:
    return ALL_TOS if tos is None else sum(1 << octet for octet in range(256) if octet & tos.mask == tos.value)


def _priorities(pcp: PriorityCodePoint | None) -> int:
    return ALL_PRIORITIES if pcp is None else sum(1 << value for value in range(8) if value & pcp.mask == pcp.value)


def _protocols(conditions: Conditions) -> int:
    if conditions.tcp_flags is not None:
        return 1 << PROTOCOLS["tcp"]
    return ALL_PROTOCOLS if conditions.protocol is None else 1 << conditions.protocol


def _messages(asked: IcmpType | None) -> Interval:
    if asked is None:
        return ALL_MESSAGES
    value, mask = asked.bits
    return value, value | ~mask & 0xFFFF


def _groups(asked: CodePoints) -> int:
    return ALL_GROUPS if asked.qos_group is None else 1 << asked.qos_group


def _flags(flags: TcpFlags | None) -> int:
    return ALL_FLAGS if flags is None else sum(1 << octet for octet in range(256) if octet & flags.mask == flags.value)


def same_packets(one: Region, other: Region) -> bool:
    """Whether both ask for the same packets, at any time."""
    return one.always == other.always


def overlapping_packets(one: Region, other: Region) -> bool:
    """Whether all packets of one of them are also the other's, at any time."""
    return _within(one.always, other.always) or _within(other.always, one.always)


def _within(inner: tuple[ValueBox, ...], outer: tuple[ValueBox, ...]) -> bool:
    return bool(inner) and all(any(contains(whole, part) for whole in outer) for part in inner)
