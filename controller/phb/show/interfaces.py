"""Interfaces by the switch's gNMI server: what the program doesn't count, and rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from finsy.gnmiclient import GNMIClientError, GNMIUpdate

from phb.device.deadlines import understood
from phb.device.gnmi import OURS, PortShapers, Shaping
from phb.device.session import Session

_STATES = "interfaces/interface[name=*]/state"
_QUEUES = "qos/interfaces/interface[interface-id=*]/output/queues"
COUNTERS = tuple(f"{way}-{what}" for way in ("in", "out") for what in ("pkts", "octets", "discards", "errors"))
"""Names of openconfig-interfaces."""
_OF_QUEUES = ("transmit-pkts", "transmit-octets", "dropped-pkts", "dropped-octets")


@dataclass(frozen=True)
class InterfaceStatus:
    """One interface.

    Attributes:
        status: Of openconfig-interfaces: ``UP``, ``DOWN``, ``NOT_PRESENT``, ``UNKNOWN``.
        rate_bps: Of the port's scheduler policy; None without one. gNMI doesn't tell the rate of the line.
        shaped: That policy is one of ours.
        discipline: Of the kernel, set there by tc: ``tbf``, ``htb``; ``none``, or None where the switch doesn't tell.
        held_back: Frames that have waited for it in the switch.
        counters: By name.
        queues: Of the traffic manager, by name: packets sent, and packets dropped for want of room.
    """

    name: str
    status: str
    rate_bps: int | None
    shaped: bool
    discipline: str | None = None
    held_back: int = 0
    counters: Mapping[str, int] = field(default_factory=dict)
    queues: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


async def read_interfaces(session: Session) -> dict[int, InterfaceStatus] | None:
    """Give interfaces by port number; None where the switch doesn't speak gNMI."""
    async with PortShapers(session) as server:
        shaping = await server.read()
        if shaping is None:
            return None
        try:
            states = await server.get(_STATES)
            queues = await server.get(_QUEUES)
        except GNMIClientError as error:
            raise server.failed(error) from None
    with understood(session.address):
        return _interfaces(shaping, states, queues)


def _interfaces(
    shaping: Shaping, states: Sequence[GNMIUpdate], queues: Sequence[GNMIUpdate]
) -> dict[int, InterfaceStatus]:
    status: dict[str, str] = {}
    counters: dict[str, dict[str, int]] = {}
    disciplines: dict[str, str] = {}
    held_back: dict[str, int] = {}
    for update in states:
        name, leaf = update.path["interface", "name"], str(update.path.last)
        if leaf == "oper-status":
            status[name] = str(update.value)
        elif leaf == "queueing-discipline":
            disciplines[name] = str(update.value)
        elif leaf == "out-held-back":
            held_back[name] = int(update.value)
        elif leaf in COUNTERS:
            counters.setdefault(name, {})[leaf] = int(update.value)
    sent: dict[str, dict[str, dict[str, int]]] = {}
    for update in queues:
        name, leaf = update.path["interface", "interface-id"], str(update.path.last)
        # Queues of the program have names, and their own table.
        if leaf in _OF_QUEUES and update.path["queue", "name"].isdecimal():
            sent.setdefault(name, {}).setdefault(update.path["queue", "name"], {})[leaf] = int(update.value)
    return {
        number: InterfaceStatus(
            port.interface,
            status.get(port.interface, "UNKNOWN"),
            port.scheduler.rate_bps,
            port.policy is not None and port.policy.startswith(OURS),
            disciplines.get(port.interface),
            held_back.get(port.interface, 0),
            counters.get(port.interface, {}),
            sent.get(port.interface, {}),
        )
        for number, port in shaping.ports.items()
    }
