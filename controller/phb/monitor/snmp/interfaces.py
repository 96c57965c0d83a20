"""Objects of SNMPv2-MIB's system group and of IF-MIB, in the context of one switch: what pollers need to know of it.

An interface's index is the port's number plus one; one more interface stands for all ports together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from phb.monitor.sample import PortCount
from phb.monitor.snmp.agentx import Oid, Syntax
from phb.monitor.snmp.switches import KnownSwitch
from phb.monitor.snmp.tree import SCALAR, Column, Table

SYSTEM: Final[Oid] = (1, 3, 6, 1, 2, 1, 1)
INTERFACES: Final[Oid] = (1, 3, 6, 1, 2, 1, 2)
IF_MIB: Final[Oid] = (1, 3, 6, 1, 2, 1, 31)

ALL_PORTS: Final = 1_000_000
"""Index of the interface that stands for all ports together; ports have numbers of 16 bits."""

_ETHERNET, _OTHER = 6, 1
_UP, _DOWN, _UNKNOWN = 1, 2, 4


@dataclass(frozen=True, slots=True)
class Interface:
    """A port of a switch as it was read last; without `port` all of them together."""

    switch: KnownSwitch
    index: int
    name: str
    port_name: str | None = None

    @property
    def port(self) -> PortCount | None:
        """The port."""
        sample = self.switch.sample
        return None if sample is None or self.port_name is None else sample.ports.get(self.port_name)


def _of(read: Callable[[PortCount], int | None]) -> Callable[[Interface], int | None]:
    def read_port(row: Interface) -> int | None:
        port = row.port
        return None if port is None else read(port)

    return read_port


_INT, _C32, _C64, _G32, _TEXT = Syntax.INTEGER, Syntax.COUNTER32, Syntax.COUNTER64, Syntax.GAUGE32, Syntax.OCTETS

_SYSTEM: Final[tuple[Column[KnownSwitch], ...]] = (
    Column(1, "sysDescr", _TEXT, lambda switch: b"phb: a programmable per-hop behaviour"),
    Column(2, "sysObjectID", Syntax.OBJECT_ID, lambda switch: (0, 0)),
    Column(3, "sysUpTime", Syntax.TIME_TICKS, lambda switch: (switch.now_ns - switch.began_ns) // 10**7),
    Column(4, "sysContact", _TEXT, lambda switch: b""),
    Column(5, "sysName", _TEXT, lambda switch: switch.name.encode()[:255]),
    Column(6, "sysLocation", _TEXT, lambda switch: b""),
    Column(7, "sysServices", _INT, lambda switch: 6),  # a bridge's and a router's: layers 2 and 3
)
_NUMBER: Final[tuple[Column[KnownSwitch], ...]] = (
    Column(1, "ifNumber", _INT, lambda switch: len(switch.sample.ports) + 1 if switch.sample else None),
)
_INTERFACE: Final[tuple[Column[Interface], ...]] = (
    Column(1, "ifIndex", _INT, lambda row: row.index),
    Column(2, "ifDescr", _TEXT, lambda row: row.name.encode()[:255]),
    Column(3, "ifType", _INT, lambda row: _ETHERNET if row.port else _OTHER),
    Column(5, "ifSpeed", _G32, _of(lambda port: port.speed_bps)),
    Column(7, "ifAdminStatus", _INT, lambda row: _UP),
    Column(8, "ifOperStatus", _INT, lambda row: _status(row.port)),
    Column(10, "ifInOctets", _C32, _of(lambda port: None if port.received is None else port.received.bytes)),
    Column(13, "ifInDiscards", _C32, _of(lambda port: port.in_discards)),
    Column(16, "ifOutOctets", _C32, _of(lambda port: port.sent.bytes)),
    Column(19, "ifOutDiscards", _C32, _of(lambda port: port.out_discards)),
)
_INTERFACE_MORE: Final[tuple[Column[Interface], ...]] = (
    Column(1, "ifName", _TEXT, lambda row: row.name.encode()[:255]),
    Column(6, "ifHCInOctets", _C64, _of(lambda port: None if port.received is None else port.received.bytes)),
    Column(10, "ifHCOutOctets", _C64, _of(lambda port: port.sent.bytes)),
    Column(15, "ifHighSpeed", _G32, _of(lambda port: port.speed_bps and port.speed_bps // 10**6)),
    Column(18, "ifAlias", _TEXT, lambda row: b""),
)


def _status(port: PortCount | None) -> int:
    if port is None or port.up is None:
        return _UP if port is None else _UNKNOWN
    return _UP if port.up else _DOWN


def tables(switch: KnownSwitch) -> list[Table]:  # type: ignore[type-arg]
    """Make the tables of one switch."""

    def rows() -> dict[Oid, Interface]:
        if switch.sample is None:
            return {}
        ports = switch.sample.ports.values()
        found: dict[Oid, Interface] = {
            (port.number + 1,): Interface(switch, port.number + 1, port.name, port.name) for port in ports
        }
        return {**found, (ALL_PORTS,): Interface(switch, ALL_PORTS, "all ports")}

    def version() -> int:
        return switch.structure

    return [
        Table(SYSTEM, _SYSTEM, lambda: {SCALAR: switch}),
        Table(INTERFACES, _NUMBER, lambda: {SCALAR: switch}),
        Table((*INTERFACES, 2, 1), _INTERFACE, rows, version),
        Table((*IF_MIB, 1, 1, 1), _INTERFACE_MORE, rows, version),
    ]
