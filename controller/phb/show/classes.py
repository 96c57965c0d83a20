"""Classes: what they have sent, what their queues have dropped, and how long packets waited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from phb.device.session import CounterValue
from phb.show.held import HOOKS
from phb.show.queues import read_queues
from phb.show.reading import Reading, add

BUCKETS = 32  # of the delay histogram (p4src/egress.p4)
LAST_BUCKET = BUCKETS - 1
PERCENTILES = (50, 95, 99)


def below_us(bucket: int) -> int:
    """Delays of a bucket are below so many microseconds; the last bucket has no end."""
    return 1 << bucket


@dataclass
class ClassRow:
    """One class.

    Attributes:
        sent: What left the switch.
        queued: Packets that wait in the class's queues, of all ports that have queues by class.
        drops: Packets those queues dropped.
        delays: Packets by bucket of the delay histogram.

    """

    number: int
    name: str
    sent: CounterValue
    queued: int = 0
    drops: int = 0
    delays: Mapping[int, int] = field(default_factory=dict)

    def percentile_us(self, percent: int) -> int | None:
        """So many percent of the packets waited less than this; None without packets, or beyond the last bucket."""
        total = sum(self.delays.values())
        passed = 0
        for bucket, packets in sorted(self.delays.items()):
            passed += packets
            if passed * 100 >= total * percent:
                return below_us(bucket) if bucket < LAST_BUCKET else None
        return None


async def read_classes(reading: Reading) -> list[ClassRow]:
    """The classes that a switch's rules give, and class-default."""
    numbers = {0} | {entry.parameters["traffic_class"] for hook in HOOKS for entry in reading.held.classifying(hook)}
    cells = await reading.counter(
        "class_delay", (number * BUCKETS + bucket for number in numbers for bucket in range(BUCKETS))
    )
    rows = {}
    for number in sorted(numbers):
        own = {index % BUCKETS: value for index, value in cells.items() if index // BUCKETS == number}
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
