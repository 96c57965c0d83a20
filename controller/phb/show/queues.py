"""Queues as IOS ``show queue`` shows them (the source's appendix E): waiting packets, conversation by conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

from phb.device.session import CounterValue
from phb.show.held import HeldEntry, HeldTables
from phb.show.reading import NOTHING, Reading

CONVERSATION_SLOTS = 65536  # p4src/headers.p4; behind them one slot for each port
SHARED_LEVEL = 7  # behind all strict levels: classes with shares
SCHEDULER, CLASS_QUEUE = "conversation.port_scheduler", "conversation.class_queue"
STRATEGIES = {"fifo": "fifo", "flow_wfq": "weighted fair", "class_wfq": "class-based"}
_DROPS = ("conversation_discards", "conversation_tail_drops", "conversation_early_drops")


@dataclass(frozen=True)
class Flow:
    """The owner of a conversation: the packet that took its slot. IOS shows the packet at the head of the queue."""

    source: IPv4Address | None
    destination: IPv4Address | None
    protocol: int
    tos: int
    source_port: int
    destination_port: int

    @classmethod
    def of(cls, register: int) -> Flow | None:
        """Read a value of the register `conversation_flow`; None where no flow ever took the slot."""
        if not register:
            return None
        source, destination = register >> 80 & 0xFFFFFFFF, register >> 48 & 0xFFFFFFFF
        return cls(
            IPv4Address(source) if source else None,
            IPv4Address(destination) if destination else None,
            register >> 40 & 0xFF,
            register >> 32 & 0xFF,
            register >> 16 & 0xFFFF,
            register & 0xFFFF,
        )


@dataclass(frozen=True)
class Conversation:
    """One conversation, with IOS's numbers except interleaves, which don't exist here.

    Attributes:
        weight: None where it depends on a precedence that the switch can't tell.
        early_drops: By WRED.
        refused: By the switch itself: it had no room for packets that the program let pass.
        flow: None where the switch can't tell.
        length: Mean bytes of the waiting packets, as the port's scheduler counts them; None where none waits.
    """

    number: int
    slot: int
    depth: int
    weight: int | None
    discards: int
    tail_drops: int
    early_drops: int
    refused: int
    transmitted: CounterValue
    flow: Flow | None
    length: int | None = None


@dataclass(frozen=True)
class QueueOf:
    """The queue of a port or class; `limit` in packets or None, and the conversations that have had packets."""

    traffic_class: str | None
    strategy: str
    level: int
    slots: int
    limit: int | None
    conversations: tuple[Conversation, ...]

    @property
    def is_strict(self) -> bool:
        """Whether it is served before all that have shares."""
        return self.traffic_class is not None and self.level != SHARED_LEVEL

    def shown(self, every: bool) -> list[Conversation]:
        """Give the conversations in which packets wait, or `every` one that has had packets."""
        return [conversation for conversation in self.conversations if every or conversation.depth]

    @property
    def depth(self) -> int:
        """Packets that wait."""
        return sum(conversation.depth for conversation in self.conversations)

    @property
    def drops(self) -> int:
        """Packets dropped for want of room, or early."""
        return sum(each.discards + each.tail_drops + each.early_drops + each.refused for each in self.conversations)


@dataclass(frozen=True)
class PortQueues:
    """All queues of one port."""

    port: int
    name: str
    strategy: str
    hold_queue: int | None
    queues: tuple[QueueOf, ...]

    @property
    def depth(self) -> int:
        """Packets that wait."""
        return sum(queue.depth for queue in self.queues)

    @property
    def drops(self) -> int:
        """Packets dropped for want of room, or early."""
        return sum(queue.drops for queue in self.queues)


@dataclass(frozen=True)
class QueuePlace:
    """A queue as the tables describe it."""

    traffic_class: int | None
    first: int
    slots: int
    level: int
    weight: int | None
    limit: int


async def read_queues(reading: Reading, ports: frozenset[int] = frozenset()) -> list[PortQueues]:
    """Read the queues of ports that a scheduler is set for; `ports` narrows them down."""
    return [await _port(reading, port, entry) for port, entry in scheduled(reading.held) if not ports or port in ports]


def scheduled(held: HeldTables) -> Iterator[tuple[int, HeldEntry]]:
    """Give the ports that a scheduler is set for, with the entry that sets it."""
    for entry in sorted(held.table(SCHEDULER), key=lambda entry: entry.match["egress_port"]):
        if held.in_force(entry):
            yield entry.match["egress_port"][0], entry


async def _port(reading: Reading, port: int, entry: HeldEntry) -> PortQueues:
    profile = entry.parameters["profile"]
    limits = reading.held.find("buffer.port_limit", profile=profile)
    queues = []
    for place in places(reading.held, port, entry):
        queues.append(await _queue(reading, entry, place))
    hold_queue = limits.parameters["hold_queue_packets"] if limits is not None else 0
    return PortQueues(port, reading.names.port(port), STRATEGIES[entry.action], hold_queue or None, tuple(queues))


def places(held: HeldTables, port: int, entry: HeldEntry) -> Iterator[QueuePlace]:
    """Give the queues of a port as the tables describe them."""
    profile = entry.parameters["profile"]
    if entry.action == "fifo":
        yield QueuePlace(None, CONVERSATION_SLOTS + port, 1, 0, None, 0)
    elif entry.action == "flow_wfq":
        yield QueuePlace(None, entry.parameters["base"], entry.parameters["conversations"], 0, None, 0)
    else:
        rows = [row for row in held.table(CLASS_QUEUE) if row.match["profile"][0] == profile]
        for row in sorted(rows, key=lambda row: (row.parameters["level"], row.parameters["traffic_class"])):
            parameters = row.parameters
            single = row.action == "single"
            weighs = single or bool(parameters["shared"])
            yield QueuePlace(
                parameters["traffic_class"],
                parameters["slot" if single else "base"],
                1 if single else parameters["conversations"],
                parameters["level"],
                parameters["weight"] if weighs else None,
                parameters["limit_packets"],
            )


async def _queue(reading: Reading, scheduler: HeldEntry, place: QueuePlace) -> QueueOf:
    slots = range(place.first, place.first + place.slots)
    enqueued = await reading.counter("conversation_enqueued", slots)
    drops = {name: await reading.counter(name, slots) for name in _DROPS}
    seen = sorted({*enqueued, *(slot for cells in drops.values() for slot in cells)})
    transmitted = await reading.counter("conversation_transmitted", seen)
    refused = await reading.counter("conversation_refused", seen)
    waiting = await read_waiting(reading, enqueued, transmitted, refused)
    flows = await reading.registers("conversation_flow", [slot for slot in seen if slot < CONVERSATION_SLOTS])
    weights = _weights(reading, scheduler.parameters["profile"])
    overhead = scheduler.parameters.get("overhead", 0)
    overhead -= overhead >> 31 << 32
    conversations = []
    for slot in seen:
        flow = Flow.of(flows.get(slot, 0)) if place.slots > 1 else None
        weight = place.weight
        if weight is None and flow is not None:
            weight = weights.get(flow.tos >> 5)
        came, sent = enqueued.get(slot, NOTHING), transmitted.get(slot, NOTHING)
        lost = refused.get(slot, NOTHING)
        depth = waiting.get(slot, 0)
        waiting_bytes = came.bytes - sent.bytes - lost.bytes if counted_waiting(came, sent, lost) == depth else 0
        conversations.append(
            Conversation(
                number=slot - place.first,
                slot=slot,
                depth=depth,
                weight=weight,
                discards=drops["conversation_discards"].get(slot, NOTHING).packets,
                tail_drops=drops["conversation_tail_drops"].get(slot, NOTHING).packets,
                early_drops=drops["conversation_early_drops"].get(slot, NOTHING).packets,
                refused=lost.packets,
                transmitted=sent,
                flow=flow,
                length=round(waiting_bytes / depth) + overhead if depth and waiting_bytes > 0 else None,
            )
        )
    name = reading.names.traffic_class(place.traffic_class) if place.traffic_class is not None else None
    strategy = "fifo" if place.slots == 1 else "weighted fair"
    return QueueOf(name, strategy, place.level, place.slots, place.limit or None, tuple(conversations))


async def read_waiting(
    reading: Reading,
    enqueued: Mapping[int, CounterValue],
    transmitted: Mapping[int, CounterValue],
    refused: Mapping[int, CounterValue],
) -> Mapping[int, int]:
    """Give the packets that wait, by slot, of the slots with counted packets.

    The program's own state says it. A switch that has only counters gives their difference: packets that pass while
    those are read, or set to zero, are missed.
    """
    ports = [slot - CONVERSATION_SLOTS for slot in enqueued if slot >= CONVERSATION_SLOTS]
    at_ports = await reading.registers("port_occupancy", ports)
    conversations = [slot for slot in enqueued if slot < CONVERSATION_SLOTS]
    state = {CONVERSATION_SLOTS + port: packets for port, packets in at_ports.items()}
    state |= await reading.registers("conversation_occupancy", conversations)
    return state or {
        slot: counted_waiting(came, transmitted.get(slot, NOTHING), refused.get(slot, NOTHING))
        for slot, came in enqueued.items()
    }


def counted_waiting(enqueued: CounterValue, transmitted: CounterValue, refused: CounterValue) -> int:
    """Give the difference of counters, at least 0: they are not read at once."""
    return max(0, enqueued.packets - transmitted.packets - refused.packets)


def _weights(reading: Reading, profile: int) -> Mapping[int, int]:
    return {
        entry.match["precedence"][0]: entry.parameters["weight"]
        for entry in reading.held.table("schedule.weight")
        if entry.match["profile"][0] == profile
    }


def as_json(ports: Sequence[PortQueues], every: bool) -> list[dict[str, Any]]:
    """Give queues for programs; conversations as `QueueOf.shown`."""
    return [
        {
            "port": port.port,
            "name": port.name,
            "strategy": port.strategy,
            "depth": port.depth,
            "hold_queue": port.hold_queue,
            "drops": port.drops,
            "queues": [
                {
                    "class": queue.traffic_class,
                    "strategy": queue.strategy,
                    "level": queue.level if queue.is_strict else None,
                    "depth": queue.depth,
                    "limit": queue.limit,
                    "drops": queue.drops,
                    "conversations": [_conversation_as_json(each) for each in queue.shown(every)],
                }
                for queue in port.queues
            ],
        }
        for port in ports
    ]


def _conversation_as_json(conversation: Conversation) -> dict[str, Any]:
    flow = conversation.flow
    return {
        "conversation": conversation.number,
        "slot": conversation.slot,
        "depth": conversation.depth,
        "weight": conversation.weight,
        "length": conversation.length,
        "discards": conversation.discards,
        "tail_drops": conversation.tail_drops,
        "interleaves": 0,
        "early_drops": conversation.early_drops,
        "refused_by_the_switch": conversation.refused,
        "transmitted": {"packets": conversation.transmitted.packets, "bytes": conversation.transmitted.bytes},
        "flow": None
        if flow is None
        else {
            "source": str(flow.source) if flow.source else None,
            "destination": str(flow.destination) if flow.destination else None,
            "protocol": flow.protocol,
            "tos": flow.tos,
            "source_port": flow.source_port,
            "destination_port": flow.destination_port,
        },
    }
