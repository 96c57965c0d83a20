"""Classes: packets sent, drops of their queues, and delays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from phb.device.session import CounterValue
from phb.pipeline_names import BUCKETS_PER_CLASS
from phb.show.held import HOOKS
from phb.show.queues import CLASS_QUEUE, read_queues
from phb.show.reading import Reading, add

PERCENTILES = (50, 95, 99)


@dataclass
class ClassRow:
    """One class.

    Attributes:
        sent: Traffic that left the switch.
        queued: Packets in the class's queues at all ports that have queues by class.
        drops: Packets those queues dropped.
        delays: Packets by bucket of `phb.delays`.
    """

    number: int
    name: str
    sent: CounterValue
    queued: int = 0
    drops: int = 0
    delays: Mapping[int, int] = field(default_factory=dict)


async def read_classes(reading: Reading) -> list[ClassRow]:
    """Read the classes that a switch's rules give or its queues serve, and class-default."""
    held = reading.held
    giving = [*(entry for hook in HOOKS for entry in held.classifying(hook)), *held.table(CLASS_QUEUE)]
    numbers = {0} | {entry.parameters["traffic_class"] for entry in giving}
    cells = await reading.counter(
        "class_delay",
        (number * BUCKETS_PER_CLASS + bucket for number in numbers for bucket in range(BUCKETS_PER_CLASS)),
    )
    rows = {}
    for number in sorted(numbers):
        own = {
            index % BUCKETS_PER_CLASS: value for index, value in cells.items() if index // BUCKETS_PER_CLASS == number
        }
        delays = {bucket: value.packets for bucket, value in own.items()}
        rows[reading.names.traffic_class(number)] = ClassRow(
            number, reading.names.traffic_class(number), add(own.values()), delays=delays
        )
    for port in await read_queues(reading):
        for queue in port.queues:
            if queue.traffic_class in rows:
                rows[queue.traffic_class].queued += queue.depth
                rows[queue.traffic_class].drops += queue.drops
    return list(rows.values())
