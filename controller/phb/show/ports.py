"""Ports: packets sent and queued."""

from __future__ import annotations

from dataclasses import dataclass

from phb.device.session import CounterValue
from phb.show.interfaces import InterfaceStatus, read_interfaces
from phb.show.queues import CONVERSATION_SLOTS, read_queues, read_waiting
from phb.show.reading import NOTHING, Reading


@dataclass(frozen=True)
class PortRow:
    """One port.

    Attributes:
        strategy: Of its scheduler; None without a statement for the port, which is FIFO without limits.
        sent: What the scheduler took: IP and other frames, without FCS.
        queued: Packets that wait.
        interface: The port in gNMI; None where the switch doesn't speak it, or has no such interface.
    """

    number: int
    name: str
    strategy: str | None
    sent: CounterValue
    queued: int
    hold_queue: int | None
    drops: int
    interface: InterfaceStatus | None = None


@dataclass(frozen=True)
class PortTable:
    """The ports of a switch; `speaks_gnmi` if it tells of its interfaces."""

    rows: tuple[PortRow, ...]
    speaks_gnmi: bool


async def read_ports(reading: Reading) -> PortTable:
    """Read ports that the switch's tables or the files name, or that have an interface."""
    interfaces = await read_interfaces(reading.session)
    held = reading.held
    numbers = {*reading.names.ports, *(interfaces or ())}
    for entry in held:
        for source in (entry.parameters, {name: value for name, (value, _) in entry.match.items()}):
            numbers |= {source[name] for name in ("port", "egress_port", "ingress_port") if name in source}
    sent = await reading.counter("port_transmit", numbers)
    queues = {port.port: port for port in await read_queues(reading)}
    # A port without a scheduler's row counts all the same: it has one queue.
    others = {CONVERSATION_SLOTS + number: number for number in numbers - queues.keys()}
    came = await reading.counter("conversation_enqueued", others)
    left = await reading.counter("conversation_transmitted", others)
    refused = await reading.counter("conversation_refused", others)
    waiting = await read_waiting(reading, came, left, refused)
    rows = []
    for number in sorted(numbers):
        queue = queues.get(number)
        rows.append(
            PortRow(
                number,
                reading.names.port(number),
                queue.strategy if queue is not None else None,
                sent.get(number, NOTHING),
                queue.depth if queue is not None else waiting.get(CONVERSATION_SLOTS + number, 0),
                queue.hold_queue if queue is not None else None,
                queue.drops if queue is not None else refused.get(CONVERSATION_SLOTS + number, NOTHING).packets,
                (interfaces or {}).get(number),
            )
        )
    return PortTable(tuple(rows), interfaces is not None)
