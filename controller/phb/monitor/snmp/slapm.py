"""Objects of SLAPM-MIB (RFC 2758, experimental 88): the names of rules, their statistics, and the monitors of them.

A system is a switch. In the default context a switch's system address is in the index, in its own context it is empty.
Of the deprecated tables there is none. What isn't there, no counter of the pipeline says: how many connections there
were, and what each of them did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from phb.monitor.snmp.agentx import Oid, Syntax, VarBind
from phb.monitor.snmp.monitors import Broken, Control, Monitor
from phb.monitor.snmp.switches import Entry, KnownSwitch
from phb.monitor.snmp.tree import SCALAR, Column, Row, Table

ROOT: Final[Oid] = (1, 3, 6, 1, 3, 88)
_TABLES: Final[Oid] = (*ROOT, 1, 2)
BASE: Final[Oid] = (*ROOT, 1, 1)
NAMES: Final[Oid] = (*_TABLES, 4, 1)
STATISTICS: Final[Oid] = (*_TABLES, 5, 1)
MONITORS: Final[Oid] = (*_TABLES, 6, 1)

NOT_OKAY: Final = 7
OKAY: Final = 8
RULE_DELETED: Final = 9
MONITOR_DELETED: Final = 10
"""Numbers of notifications, below ROOT.0."""

_TRAP_OID: Final[Oid] = (1, 3, 6, 1, 6, 3, 1, 1, 4, 1, 0)
_SYSTEM_NAME: Final[Oid] = (1, 3, 6, 1, 2, 1, 1, 5, 0)

ENABLED, DISABLED = 1, 2
ACTIVE, DELETE_NEEDED = 2, 3


@dataclass(slots=True)
class Base:
    """Scalars, which are those of the agent, whatever the context; the defaults are the MIB's.

    Attributes:
        spin_lock: By which managers that share the agent take turns.
        purge_s: How long the rows of a rule stay after it went.
        trap_enable: Whether it is told that a row goes.
        trap_filter: Intervals in a row that break a manager's threshold until it is told.
    """

    spin_lock: int = 0
    purge_s: int = 900
    trap_enable: int = DISABLED
    trap_filter: int = 3


@dataclass(frozen=True, slots=True)
class BaseView:
    """The scalars, as one context sees them."""

    base: Base
    switches: Callable[[], Iterable[KnownSwitch]]

    @property
    def looked_up(self) -> int:
        """Packets for which a switch looked its rules up."""
        packets = 0
        for switch in self.switches():
            if switch.sample is not None:
                for policy in switch.sample.policies.values():
                    packets += sum(each.packets for each in policy.colours.values())
        return packets


_INT, _C32, _G32, _TEXT = Syntax.INTEGER, Syntax.COUNTER32, Syntax.GAUGE32, Syntax.OCTETS

SCALARS: Final[tuple[Column[BaseView], ...]] = (
    Column(1, "slapmSpinLock", _INT, lambda view: view.base.spin_lock),
    Column(2, "slapmPolicyCountQueries", _C32, lambda view: view.looked_up),
    # A switch holds all rules and asks no repository.
    Column(3, "slapmPolicyCountAccesses", _C32, lambda view: 0),
    Column(4, "slapmPolicyCountSuccessAccesses", _C32, lambda view: 0),
    Column(5, "slapmPolicyCountNotFounds", _C32, lambda view: 0),
    Column(6, "slapmPolicyPurgeTime", _INT, lambda view: view.base.purge_s),
    Column(7, "slapmPolicyTrapEnable", _INT, lambda view: view.base.trap_enable),
    Column(8, "slapmPolicyTrapFilter", _INT, lambda view: view.base.trap_filter),
)

NAME_COLUMNS: Final[tuple[Column[Entry], ...]] = (
    Column(3, "slapmPolicyNameOfRule", _TEXT, lambda entry: entry.words.encode()[:1024]),
)

STATISTICS_COLUMNS: Final[tuple[Column[Entry], ...]] = (
    Column(1, "slapmPolicyRuleStatsOperStatus", _INT, lambda entry: ACTIVE if entry.gone_ns is None else DELETE_NEEDED),
    Column(2, "slapmPolicyRuleStatsActiveConns", _G32, lambda entry: entry.connections),
    Column(4, "slapmPolicyRuleStatsLActivated", _TEXT, lambda entry: date_and_time(entry.activated_ns)),
    Column(5, "slapmPolicyRuleStatsLastMapping", _TEXT, lambda entry: date_and_time(entry.used_ns)),
    Column(6, "slapmPolicyRuleStatsInOctets", _C32, lambda entry: entry.came.bytes),
    Column(7, "slapmPolicyRuleStatsOutOctets", _C32, lambda entry: entry.sent.bytes),
    Column(8, "slapmPolicyRuleStatsConnLimit", _G32, lambda entry: entry.connection_limit),
    # Everything is dropped after it came in and before it went out.
    Column(11, "slapmPolicyRuleStatsInDiscards", _C32, lambda entry: 0),
    Column(12, "slapmPolicyRuleStatsOutDiscards", _C32, lambda entry: entry.counted.dropped_bytes),
    Column(13, "slapmPolicyRuleStatsInPackets", _C32, lambda entry: entry.came.packets),
    Column(14, "slapmPolicyRuleStatsOutPackets", _C32, lambda entry: entry.sent.packets),
    Column(15, "slapmPolicyRuleStatsInProOctets", _C32, lambda entry: entry.green_bytes),
    Column(17, "slapmPolicyRuleStatsMinRate", _G32, lambda entry: _bound(entry, Control.MINIMUM_RATE)),
    Column(18, "slapmPolicyRuleStatsMaxRate", _G32, lambda entry: _bound(entry, Control.MAXIMUM_RATE)),
    Column(19, "slapmPolicyRuleStatsMaxDelay", _G32, lambda entry: _bound(entry, Control.MAXIMUM_DELAY)),
    Column(20, "slapmPolicyRuleStatsTotalRsvpFlows", _C32, lambda entry: 0),
    Column(21, "slapmPolicyRuleStatsActRsvpFlows", _G32, lambda entry: 0),
)
"""Without TotalConns (3), CountAccepts (9), CountDenies (10) and OutProOctets (16)."""

MINIMUM_LOW, MINIMUM_HIGH, MAXIMUM_HIGH, MAXIMUM_LOW, DELAY_HIGH, DELAY_LOW = range(10, 16)
CONTROL, INTERVAL, ROW_STATUS = 4, 6, 22

MONITOR_COLUMNS: Final[tuple[Column[Monitor], ...]] = (
    Column(CONTROL, "slapmPRMonControl", _TEXT, lambda monitor: bits(monitor.control, 1)),
    Column(5, "slapmPRMonStatus", _TEXT, lambda monitor: bits(monitor.broken, 2)),
    Column(INTERVAL, "slapmPRMonInterval", _G32, lambda monitor: monitor.window.interval_s),
    Column(7, "slapmPRMonIntTime", _TEXT, lambda monitor: date_and_time(monitor.window.ended_ns)),
    Column(8, "slapmPRMonCurrentInRate", _G32, lambda monitor: round(monitor.window.in_bps / 1000)),
    Column(9, "slapmPRMonCurrentOutRate", _G32, lambda monitor: round(monitor.window.out_bps / 1000)),
    Column(MINIMUM_LOW, "slapmPRMonMinRateLow", _G32, lambda row: _broken(row, Control.MINIMUM_RATE)),
    Column(MINIMUM_HIGH, "slapmPRMonMinRateHigh", _G32, lambda row: _kept(row, Control.MINIMUM_RATE)),
    Column(MAXIMUM_HIGH, "slapmPRMonMaxRateHigh", _G32, lambda row: _broken(row, Control.MAXIMUM_RATE)),
    Column(MAXIMUM_LOW, "slapmPRMonMaxRateLow", _G32, lambda row: _kept(row, Control.MAXIMUM_RATE)),
    Column(DELAY_HIGH, "slapmPRMonMaxDelayHigh", _G32, lambda row: _broken(row, Control.MAXIMUM_DELAY)),
    Column(DELAY_LOW, "slapmPRMonMaxDelayLow", _G32, lambda row: _kept(row, Control.MAXIMUM_DELAY)),
    Column(16, "slapmPRMonMinInRateNotAchieves", _C32, lambda row: row.times.get(Broken.MINIMUM_IN_RATE, 0)),
    Column(17, "slapmPRMonMaxInRateExceeds", _C32, lambda row: row.times.get(Broken.MAXIMUM_IN_RATE, 0)),
    Column(18, "slapmPRMonMaxDelayExceeds", _C32, lambda row: row.times.get(Broken.MAXIMUM_DELAY, 0)),
    Column(19, "slapmPRMonMinOutRateNotAchieves", _C32, lambda row: row.times.get(Broken.MINIMUM_OUT_RATE, 0)),
    Column(20, "slapmPRMonMaxOutRateExceeds", _C32, lambda row: row.times.get(Broken.MAXIMUM_OUT_RATE, 0)),
    Column(21, "slapmPRMonCurrentDelayRate", _G32, lambda monitor: round(monitor.window.delay_ms or 0)),
    Column(ROW_STATUS, "slapmPRMonRowStatus", _INT, lambda monitor: int(monitor.status)),
)
_PREVIOUS_STATUS: Final[Column[Monitor]] = Column(5, "slapmPRMonStatus", _TEXT, lambda monitor: bits(monitor.before, 2))
_BY_NUMBER: Final = {column.number: column for column in MONITOR_COLUMNS}
_STATE_TOLD: Final = (
    *(_BY_NUMBER[each] for each in (7, 4, 5)),
    _PREVIOUS_STATUS,
    *(_BY_NUMBER[each] for each in (8, 9, 21)),
)
_END_TOLD: Final = tuple(_BY_NUMBER[each] for each in (4, 5, 6, 7, 8, 9, 21, *range(10, 21)))


def tables(
    base: Base,
    switches: Callable[[], Iterable[tuple[KnownSwitch, bytes]]],
    monitors: Callable[[KnownSwitch], Mapping[tuple[str, int], Monitor]],
    version: Callable[[], int],
) -> list[Table]:  # type: ignore[type-arg]
    """Make the tables of a context.

    Args:
        base: The agent's scalars.
        switches: Those that it shows, each with its system address there.
        monitors: A switch's monitors.
        version: Another number means other rows.
    """

    def entries(answering: bool) -> dict[Oid, Entry]:
        return {
            (*octets_index(address), entry.number): entry
            for switch, address in switches()
            if switch.sample is not None or not answering
            for entry in switch.entries.values()
        }

    def rows() -> dict[Oid, Monitor]:
        return {
            monitor_index(monitor, address): monitor
            for switch, address in switches()
            for monitor in monitors(switch).values()
        }

    view = BaseView(base, lambda: (switch for switch, _ in switches()))
    return [
        Table(BASE, SCALARS, lambda: {SCALAR: view}),
        Table(NAMES, NAME_COLUMNS, lambda: entries(False), version),
        Table(STATISTICS, STATISTICS_COLUMNS, lambda: entries(True), version),
        Table(MONITORS, MONITOR_COLUMNS, rows, version),
    ]


def state_told(number: int, monitor: Monitor, address: bytes) -> list[VarBind]:
    """Make a notification that a monitor isn't okay, or is again."""
    return _told(number, monitor.entry.switch, MONITORS, monitor_index(monitor, address), _STATE_TOLD, monitor)


def monitor_deleted(monitor: Monitor, address: bytes) -> list[VarBind]:
    """Make the notification that a monitor went with its rule."""
    index = monitor_index(monitor, address)
    return _told(MONITOR_DELETED, monitor.entry.switch, MONITORS, index, _END_TOLD, monitor)


def rule_deleted(entry: Entry, address: bytes) -> list[VarBind]:
    """Make the notification that the rows of a rule went."""
    index = (*octets_index(address), entry.number)
    return _told(RULE_DELETED, entry.switch, STATISTICS, index, STATISTICS_COLUMNS[1:], entry)


def _told(
    number: int, switch: KnownSwitch, table: Oid, index: Oid, columns: Iterable[Column[Row]], row: Row
) -> list[VarBind]:
    told = [VarBind(_TRAP_OID, Syntax.OBJECT_ID, (*ROOT, 0, number))]
    for column in columns:
        value = column.value(row)
        if value is not None:
            told.append(VarBind((*table, column.number, *index), column.syntax, value))
    # A trap comes from snmpd's address, and says nothing of a context.
    return [*told, VarBind(_SYSTEM_NAME, Syntax.OCTETS, switch.name.encode())]


def monitor_index(monitor: Monitor, address: bytes) -> Oid:
    """Give a row's index: owner, system address, number of what is watched."""
    return (*octets_index(monitor.owner.encode()), *octets_index(address), monitor.entry.number)


def octets_index(octets: bytes) -> Oid:
    """Give octets as a part of an index: their number, then each."""
    return (len(octets), *octets)


def bits(places: Iterable[int], octets: int) -> bytes:
    """Give BITS; place 0 is the highest bit of the first octet."""
    number = 0
    for place in places:
        number |= 1 << (octets * 8 - 1 - place)
    return number.to_bytes(octets, "big")


def places_of(octets: bytes) -> frozenset[int]:
    """Give which bits are set."""
    return frozenset(place for place in range(len(octets) * 8) if octets[place // 8] >> (7 - place % 8) & 1)


def date_and_time(ns: int) -> bytes:
    """Give a Unix time in nanoseconds as DateAndTime, in UTC; 0 is no time."""
    if not ns:
        return bytes(8)
    when = datetime.fromtimestamp(ns // 10**9, UTC)
    fields = (when.month, when.day, when.hour, when.minute, when.second, ns // 10**8 % 10)
    return when.year.to_bytes(2, "big") + bytes(fields) + b"+\0\0"


def _bound(entry: Entry, bit: Control) -> int:
    return round(entry.switch.bounds.get((entry.subject, bit), 0))


def _broken(monitor: Monitor, bit: Control) -> int:
    return round(monitor.threshold(bit, False) or 0)


def _kept(monitor: Monitor, bit: Control) -> int:
    return round(monitor.threshold(bit, True) or 0)
