"""Objects of CISCO-CLASS-BASED-QOS-MIB (enterprise 9, 9.166), in the context of one switch.

The switch counts for all ports together, so its policies hang on one interface that stands for all of them:

    input   policy map "rules":    a class map for each rule and direction, with a police object if it has a meter
    output  policy map "classes":  a class map for each class, with a match statement for each rule that leads to it,
                                   a queueing object and a random-detect object

Numbers of objects are made of their names, so that they stay after a restart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Self

from phb.device.session import CounterValue
from phb.model import DEFAULT_CLASS, Rate
from phb.model.actions import Meter
from phb.model.scheduling import ClassQueue, DropProfile, EarlyDetection
from phb.monitor.observation import Change, SubjectKind
from phb.monitor.sample import ClassCount, PolicyCount
from phb.monitor.snmp.agentx import Oid, Syntax
from phb.monitor.snmp.configured import bandwidth, mechanism, police_actions, priority_level, profiles
from phb.monitor.snmp.interfaces import ALL_PORTS
from phb.monitor.snmp.switches import Entry, KnownSwitch, number_of
from phb.monitor.snmp.tree import Column, Row, Table
from phb.pipeline_names import DropReason

ROOT: Final[Oid] = (1, 3, 6, 1, 4, 1, 9, 9, 166)
INPUT, OUTPUT = 1, 2
_MAIN_INTERFACE: Final = 1
_MATCH_ANY: Final = 3
_NO_MATCH_INFO: Final = 1
_PACKETS: Final = 1  # CbQosQueueUnitType
_BITS_PER_SECOND: Final = 1  # CbQosRateType
ALL_CODE_POINTS: Final = 0
"""What early detection did is counted for all code points together: the one cbQosREDValue."""

POLICY_MAP, CLASS_MAP, MATCH, QUEUEING, RANDOM_DETECT, POLICE = 1, 2, 3, 4, 5, 7
"""QosObjectType."""

_FULL: Final = tuple(
    each.name for each in (DropReason.HOLD_QUEUE, DropReason.NO_BUFFER, DropReason.QUEUE_LIMIT, DropReason.PUSHED_OUT)
)
_EARLY: Final = (DropReason.WRED.name, DropReason.CONGESTIVE_DISCARD.name)
_OF_QUEUES: Final = (*_FULL, *_EARLY)


@dataclass(frozen=True, slots=True)
class Node:
    """One object of a service policy.

    Attributes:
        policy: Number of its service policy, which is the number of its policy map.
        kind: QosObjectType.
        parent: 0 of policy maps.
        entry: Whose counters it shows; None of policy maps.
        direction: Of policy maps.
    """

    policy: int
    number: int
    kind: int
    parent: int
    name: str
    entry: Entry | None = None
    direction: int = 0

    @property
    def counted(self) -> Entry:
        """Whose counters it shows."""
        assert self.entry is not None
        return self.entry


class Nodes(dict[str, Node]):
    """The objects of one switch, by what their numbers are made of."""

    @classmethod
    def of(cls, switch: KnownSwitch) -> Self:
        """Make them."""
        nodes = cls()
        entries = sorted(switch.present(), key=_order)
        rules = nodes._add("input", None, POLICY_MAP, "rules", direction=INPUT)
        leading: dict[str, list[Entry]] = {}
        for entry in entries:
            if isinstance(entry.counted, PolicyCount):
                leading.setdefault(entry.counted.traffic_class, []).append(entry)
                name = DEFAULT_CLASS if not entry.subject.name else entry.words.removeprefix("rule ")
                class_map = nodes._add(f"input {name}", rules, CLASS_MAP, name, entry)
                # Where nobody knows the policy, a rule without a meter is one whose packets are all green.
                if switch.policy is None or switch.configured.meter(entry.subject.name) is not None:
                    nodes._add(f"input {name} police", class_map, POLICE, "", entry)
        classes = nodes._add("output", None, POLICY_MAP, "classes", direction=OUTPUT)
        for entry in entries:
            if entry.subject.kind is SubjectKind.CLASS:
                name = entry.subject.name
                class_map = nodes._add(f"output {name}", classes, CLASS_MAP, name, entry)
                nodes._add(f"output {name} queueing", class_map, QUEUEING, "", entry)
                nodes._add(f"output {name} random-detect", class_map, RANDOM_DETECT, "", entry)
                for rule in leading.get(name, ()):
                    nodes._add(f"output {name} match {rule.words}", class_map, MATCH, rule.words, rule)
        return nodes

    def of_kind(self, kind: int) -> Iterator[Node]:
        """Give the objects of a QosObjectType."""
        return (node for node in self.values() if node.kind == kind)

    def _add(
        self, key: str, parent: Node | None, kind: int, name: str, entry: Entry | None = None, direction: int = 0
    ) -> Node:
        number = number_of(key, self._numbers)
        self._numbers.add(number)
        policy, above = (number, 0) if parent is None else (parent.policy, parent.number)
        node = self[key] = Node(policy, number, kind, above, name, entry, direction)
        return node

    def __init__(self) -> None:
        super().__init__()
        self._numbers: set[int] = set()


def _order(entry: Entry) -> tuple[str, str, str]:
    return entry.subject.kind, entry.subject.name, entry.subject.direction


def _wide(number: int, name: str, read: Callable[[Node], int]) -> tuple[Column[Node], ...]:
    """Make the three columns of a counter: its high 32 bits, its low 32 bits, all 64."""
    return (
        Column(number, f"{name}Overflow", Syntax.COUNTER32, lambda node: read(node) >> 32),
        Column(number + 1, name, Syntax.COUNTER32, read),
        Column(number + 2, f"{name}64", Syntax.COUNTER64, read),
    )


def _rate(number: int, number64: int, name: str, octets: Callable[[Entry, Change], int]) -> tuple[Column[Node], ...]:
    """Make the two columns of a rate over the time between the last two samples; none where it isn't known."""

    def bits_per_second(node: Node) -> int | None:
        change = node.counted.change
        return None if change is None else round(octets(node.counted, change) * 8 / change.seconds)

    return (
        Column(number, name, Syntax.GAUGE32, bits_per_second),
        Column(number64, f"{name}64", Syntax.COUNTER64, bits_per_second),
    )


def _coloured(number: int, number64: int, colour: str, name: str) -> tuple[Column[Node], ...]:
    def value(node: Node) -> CounterValue:
        return node.counted.of_colour(colour)

    def octets(entry: Entry, change: Change) -> int:
        return change.colours.get(colour, (0, 0))[1]

    return (
        *_wide(number, f"cbQosPolice{name}Pkt", lambda node: value(node).packets),
        *_wide(number + 3, f"cbQosPolice{name}Byte", lambda node: value(node).bytes),
        *_rate(number + 6, number64, f"cbQosPolice{name}BitRate", octets),
    )


def _dropped_bytes(entry: Entry, change: Change) -> int:
    return max(0, change.came_bytes - change.sent_bytes)


_INT, _C64, _G32, _TEXT = Syntax.INTEGER, Syntax.COUNTER64, Syntax.GAUGE32, Syntax.OCTETS

SERVICE_POLICY: Final[tuple[Column[Node], ...]] = (
    Column(2, "cbQosIfType", _INT, lambda node: _MAIN_INTERFACE),
    Column(3, "cbQosPolicyDirection", _INT, lambda node: node.direction),
    Column(4, "cbQosIfIndex", _INT, lambda node: ALL_PORTS),
)
_INTERFACE_POLICY: Final[tuple[Column[Node], ...]] = (Column(1, "cbQosIFPolicyIndex", _G32, lambda node: node.policy),)
_OBJECTS: Final[tuple[Column[Node], ...]] = (
    # An object is used in one place, so that its number as it is written and as it runs are the same.
    Column(2, "cbQosConfigIndex", _G32, lambda node: node.number),
    Column(3, "cbQosObjectsType", _INT, lambda node: node.kind),
    Column(4, "cbQosParentObjectsIndex", _G32, lambda node: node.parent),
)
_POLICY_MAP: Final[tuple[Column[Node], ...]] = (
    Column(1, "cbQosPolicyMapName", _TEXT, lambda node: node.name.encode()),
    Column(2, "cbQosPolicyMapDesc", _TEXT, lambda node: b"all ports together"),
)
_CLASS_MAP: Final[tuple[Column[Node], ...]] = (
    Column(1, "cbQosCMName", _TEXT, lambda node: node.name.encode()[:255]),
    Column(2, "cbQosCMDesc", _TEXT, lambda node: b""),
    Column(3, "cbQosCMInfo", _INT, lambda node: _MATCH_ANY),
)
_MATCH_STATEMENT: Final[tuple[Column[Node], ...]] = (
    Column(1, "cbQosMatchStmtName", _TEXT, lambda node: node.name.encode()[:255]),
    Column(2, "cbQosMatchStmtInfo", _INT, lambda node: _NO_MATCH_INFO),
)
CLASS_MAP_STATISTICS: Final[tuple[Column[Node], ...]] = (
    *_wide(1, "cbQosCMPrePolicyPkt", lambda node: node.counted.came.packets),
    *_wide(4, "cbQosCMPrePolicyByte", lambda node: node.counted.came.bytes),
    *_rate(7, 28, "cbQosCMPrePolicyBitRate", lambda entry, change: change.came_bytes),
    *_wide(8, "cbQosCMPostPolicyByte", lambda node: node.counted.sent.bytes),
    *_rate(11, 29, "cbQosCMPostPolicyBitRate", lambda entry, change: change.sent_bytes),
    *_wide(12, "cbQosCMDropPkt", lambda node: node.counted.dropped),
    *_wide(15, "cbQosCMDropByte", lambda node: node.counted.counted.dropped_bytes),
    *_rate(18, 30, "cbQosCMDropBitRate", _dropped_bytes),
    *_wide(19, "cbQosCMNoBufDropPkt", lambda node: node.counted.drops(DropReason.NO_BUFFER.name)),
)
_MATCH_STATISTICS: Final[tuple[Column[Node], ...]] = (
    *_wide(1, "cbQosMatchPrePolicyPkt", lambda node: node.counted.came.packets),
    *_wide(4, "cbQosMatchPrePolicyByte", lambda node: node.counted.came.bytes),
    _rate(7, 8, "cbQosMatchPrePolicyBitRate", lambda entry, change: change.came_bytes)[0],
)
_POLICE_STATISTICS: Final[tuple[Column[Node], ...]] = (
    *_coloured(1, 22, "green", "Conformed"),
    *_coloured(8, 23, "yellow", "Exceeded"),
    *_coloured(15, 24, "red", "Violated"),
)
_QUEUEING_STATISTICS: Final[tuple[Column[Node], ...]] = (
    *_wide(6, "cbQosQueueingDiscardPkt", lambda node: node.counted.drops(*_OF_QUEUES)),
    Column(9, "cbQosQueueingCurrentQDepthPkt", _G32, lambda node: _of_class(node).queued),
    Column(11, "cbQosQueueingTransmitByte64", _C64, lambda node: node.counted.sent.bytes),
    Column(12, "cbQosQueueingTransmitPkt64", _C64, lambda node: node.counted.sent.packets),
)
"""Without depths in octets, the deepest queue, and discarded octets: drops are counted by reason in packets alone."""
_RED_STATISTICS: Final[tuple[Column[Node], ...]] = (
    *_wide(1, "cbQosREDRandomDropPkt", lambda node: node.counted.drops(*_EARLY)),
    *_wide(7, "cbQosREDTailDropPkt", lambda node: node.counted.drops(*_FULL)),
    *_wide(13, "cbQosREDTransmitPkt", lambda node: node.counted.sent.packets),
    *_wide(16, "cbQosREDTransmitByte", lambda node: node.counted.sent.bytes),
    *_wide(19, "cbQosREDECNMarkPkt", lambda node: _of_class(node).marked),
)


def _queue(node: Node) -> ClassQueue | None:
    entry = node.counted
    return entry.switch.configured.queues.get(entry.subject.name)


def _of_queue(read: Callable[[ClassQueue], int | None]) -> Callable[[Node], int | None]:
    def read_queue(node: Node) -> int | None:
        queue = _queue(node)
        return None if queue is None else read(queue)

    return read_queue


_QUEUEING: Final[tuple[Column[Node], ...]] = (
    Column(2, "cbQosQueueingCfgBandwidthUnits", _INT, _of_queue(lambda queue: _part(bandwidth(queue.bandwidth), 1))),
    Column(3, "cbQosQueueingCfgFlowEnabled", _INT, _of_queue(lambda queue: _truth(queue.fair_queue is not None))),
    Column(4, "cbQosQueueingCfgPriorityEnabled", _INT, _of_queue(lambda queue: _truth(queue.level is not None))),
    Column(9, "cbQosQueueingCfgQLimitUnits", _INT, _of_queue(lambda queue: queue.queue_limit and _PACKETS)),
    Column(10, "cbQosQueueingCfgAggregateQLimit", _G32, _of_queue(lambda queue: queue.queue_limit)),
    Column(
        12,
        "cbQosQueueingCfgPriorityLevel",
        _G32,
        _of_queue(lambda queue: None if queue.level is None else priority_level(queue.level)),
    ),
    Column(13, "cbQosQueueingCfgBandwidth64", _C64, _of_queue(lambda queue: _part(bandwidth(queue.bandwidth), 0))),
)
_EARLY_DETECTION: Final[tuple[Column[EarlyDetection], ...]] = (
    Column(1, "cbQosREDCfgExponWeight", _INT, lambda early: early.average_weight),
    Column(3, "cbQosREDCfgDscpPrec", _INT, mechanism),
    Column(4, "cbQosREDCfgECNEnabled", _INT, lambda early: _truth(early.ecn)),
)
_PROFILE: Final[tuple[Column[DropProfile], ...]] = (
    Column(4, "cbQosREDCfgPktDropProb", _INT, lambda profile: profile.denominator),
    Column(6, "cbQosREDClassCfgMinThreshold", _G32, lambda profile: profile.minimum),
    Column(7, "cbQosREDClassCfgMaxThreshold", _G32, lambda profile: profile.maximum),
    Column(10, "cbQosREDClassCfgMaxThresholdUnit", _INT, lambda profile: _PACKETS),
    Column(11, "cbQosREDClassCfgMinThresholdUnit", _INT, lambda profile: _PACKETS),
)
_POLICE: Final[tuple[Column[Meter], ...]] = (
    Column(1, "cbQosPoliceCfgRate", _G32, lambda meter: _rate_of(meter.committed_rate)),
    Column(11, "cbQosPoliceCfgRate64", _C64, lambda meter: _rate_of(meter.committed_rate)),
    Column(12, "cbQosPoliceCfgRateType", _INT, lambda meter: _BITS_PER_SECOND),
    Column(24, "cbQosPoliceCfgConditional", _INT, lambda meter: _truth(meter.colour_aware)),
    Column(25, "cbQosPoliceCfgBurstSize64", _C64, lambda meter: meter.committed_burst_bytes),
    Column(
        26,
        "cbQosPoliceCfgExtBurstSize64",
        _C64,
        lambda meter: meter.excess_burst_bytes if meter.peak_burst_bytes is None else meter.peak_burst_bytes,
    ),
    Column(27, "cbQosPoliceCfgPir64", _C64, lambda meter: _rate_of(meter.peak_rate)),
)
PoliceActions = tuple[tuple[int, int], ...]
_POLICE_ACTION: Final[tuple[Column[PoliceActions], ...]] = (
    Column(2, "cbQosPoliceActionCfgConform", _INT, lambda actions: actions[0][0]),
    Column(3, "cbQosPoliceActionCfgConformSetValue", _G32, lambda actions: actions[0][1]),
    Column(4, "cbQosPoliceActionCfgExceed", _INT, lambda actions: actions[1][0]),
    Column(5, "cbQosPoliceActionCfgExceedSetValue", _G32, lambda actions: actions[1][1]),
    Column(6, "cbQosPoliceActionCfgViolate", _INT, lambda actions: actions[2][0]),
    Column(7, "cbQosPoliceActionCfgViolateSetValue", _G32, lambda actions: actions[2][1]),
)


def _truth(value: bool) -> int:
    return 1 if value else 2


def _part(pair: tuple[int, int] | None, place: int) -> int | None:
    return None if pair is None else pair[place]


def _rate_of(rate: Rate | None) -> int | None:
    return None if rate is None else round(rate.bits_per_second)


def _of_class(node: Node) -> ClassCount:
    counted = node.counted.counted
    assert isinstance(counted, ClassCount)
    return counted


def tables(switch: KnownSwitch) -> list[Table]:  # type: ignore[type-arg]
    """Make the tables of one switch."""
    made: tuple[int, Nodes] | None = None

    def nodes() -> Nodes:
        nonlocal made
        if made is None or made[0] != switch.structure:
            made = switch.structure, Nodes() if switch.sample is None else Nodes.of(switch)
        return made[1]

    def table(group: int, columns: tuple[Column[Row], ...], rows: Callable[[], Mapping[Oid, Row]]) -> Table[Row]:
        return Table((*ROOT, 1, group, 1, 1), columns, rows, lambda: switch.structure)

    def as_written(kind: int) -> Callable[[], Mapping[Oid, Node]]:
        return lambda: {(node.number,): node for node in nodes().of_kind(kind)}

    def running(kind: int, *more: int) -> Callable[[], Mapping[Oid, Node]]:
        return lambda: {(node.policy, node.number, *more): node for node in nodes().of_kind(kind)}

    def detecting() -> Iterator[tuple[Node, EarlyDetection]]:
        for node in nodes().of_kind(RANDOM_DETECT):
            early = switch.configured.early_detection(node.counted.subject.name)
            if early is not None:
                yield node, early

    def metered() -> Iterator[tuple[Node, Meter]]:
        for node in nodes().of_kind(POLICE):
            meter = switch.configured.meter(node.counted.subject.name)
            if meter is not None:
                yield node, meter

    return [
        table(1, SERVICE_POLICY, as_written(POLICY_MAP)),
        table(
            2, _INTERFACE_POLICY, lambda: {(ALL_PORTS, node.direction): node for node in nodes().of_kind(POLICY_MAP)}
        ),
        table(5, _OBJECTS, lambda: {(node.policy, node.number): node for node in nodes().values()}),
        table(6, _POLICY_MAP, as_written(POLICY_MAP)),
        table(7, _CLASS_MAP, as_written(CLASS_MAP)),
        table(8, _MATCH_STATEMENT, as_written(MATCH)),
        table(9, _QUEUEING, as_written(QUEUEING)),
        table(10, _EARLY_DETECTION, lambda: {(node.number,): early for node, early in detecting()}),
        table(
            11,
            _PROFILE,
            lambda: {
                (node.number, value): each for node, early in detecting() for value, each in profiles(early).items()
            },
        ),
        table(12, _POLICE, lambda: {(node.number,): meter for node, meter in metered()}),
        table(15, CLASS_MAP_STATISTICS, running(CLASS_MAP)),
        table(16, _MATCH_STATISTICS, running(MATCH)),
        table(17, _POLICE_STATISTICS, running(POLICE)),
        table(18, _QUEUEING_STATISTICS, running(QUEUEING)),
        table(20, _RED_STATISTICS, running(RANDOM_DETECT, ALL_CODE_POINTS)),
        table(
            21,
            _POLICE_ACTION,
            lambda: {
                (node.number, row): actions
                for node, meter in metered()
                for row, actions in enumerate(police_actions(meter), 1)
            },
        ),
    ]
