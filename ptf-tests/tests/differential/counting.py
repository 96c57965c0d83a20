"""Which cells of the pipeline's counters stand for what, by the names of the policy."""

from dataclasses import dataclass

from phb.pipeline_names import (
    BUCKETS_PER_CLASS,
    COLOURS,
    COLOURS_PER_POLICY,
    REASONS_PER_CLASS,
    REASONS_PER_POLICY,
    DropReason,
)

PORT_SLOTS = 65536
"""Of conversations; the slots of ports come behind them."""


@dataclass(frozen=True)
class Cells:
    """Cells of one counter that are counted together.

    Attributes:
        field: Of `phb_model.pipeline.counters.Counters`.
        key: There.
        name: Of the counter, as the program has it.
    """

    field: str
    key: tuple
    name: str
    first: int
    count: int = 1


def layout(intent, ports):
    """All cells that a policy can move."""
    policies = [(0, (None, "any")), *((each.number, (each.rule, each.direction)) for each in intent.policies)]
    reasons = [reason for reason in DropReason if reason is not DropReason.NONE]
    found = [Cells("drops", (reason.name,), "PhbIngress.drops", reason.value) for reason in reasons]
    for number, key in policies:
        for colour, word in COLOURS.items():
            cell = number * COLOURS_PER_POLICY + colour
            found.append(Cells("policy_traffic", (*key, word), "PhbIngress.policy_traffic", cell))
        for reason in reasons:
            cell = number * REASONS_PER_POLICY + reason.value
            found.append(Cells("policy_drops", (*key, reason.name), "PhbIngress.policy_drops", cell))
    for stream in intent.streams:
        for colour, word in COLOURS.items():
            key = stream.action, stream.hook.value, word
            found.append(Cells("stream_traffic", key, "stream_traffic", stream.number * COLOURS_PER_POLICY + colour))
    queues = [(queue.first, queue.count, (queue.port, queue.traffic_class)) for queue in intent.queues]
    queues = [queue for queue in queues if queue[0] < PORT_SLOTS] + [
        (PORT_SLOTS + port, 1, (port, None)) for port in ports
    ]
    for first, count, key in queues:
        for field, name in (
            ("queue_enqueued", "PhbIngress.schedule.conversation_enqueued"),
            ("queue_tail_drops", "PhbIngress.buffer.conversation_tail_drops"),
            ("queue_discards", "PhbIngress.buffer.conversation_discards"),
            ("queue_early_drops", "PhbIngress.wred.conversation_early_drops"),
        ):
            found.append(Cells(field, key, name, first, count))
    found += [Cells("port_transmit", (port,), "PhbEgress.port_transmit", port) for port in ports]
    for word, number in {"class-default": 0, **intent.classes}.items():
        found.append(
            Cells("class_transmit", (word,), "PhbEgress.class_delay", number * BUCKETS_PER_CLASS, BUCKETS_PER_CLASS)
        )
        for reason in reasons:
            cell = number * REASONS_PER_CLASS + reason.value
            found.append(Cells("class_drops", (word, reason.name), "PhbIngress.class_drops", cell))
    return found


def sums(cells, values):
    """Return packets and bytes by field and cell, without zeros."""
    result = {each.field: {} for each in cells}
    for each, (packets, octets) in zip(cells, values, strict=True):
        if packets or octets:
            before = result[each.field].get(each.key, (0, 0))
            result[each.field][each.key] = before[0] + packets, before[1] + octets
    return result
