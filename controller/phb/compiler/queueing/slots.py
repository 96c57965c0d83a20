"""Conversation slots: which cells of the pipeline's conversation arrays each queue has."""

from __future__ import annotations

from phb.compiler.ports import NumberedPort
from phb.errors import InputError
from phb.intent import QueueSlots
from phb.origin import Origin

# CONVERSATION_SLOTS in p4src/headers.p4, tested against it.
CONVERSATION_SLOTS = 65536


def port_slot(port: int) -> int:
    """Give the slot of a port's only queue, without conversations: behind all others, one for each port."""
    return CONVERSATION_SLOTS + port


class Slots:
    """Hands out slots in order."""

    def __init__(self) -> None:
        self.queues: list[QueueSlots] = []
        self._next = 0

    def take(self, count: int, port: NumberedPort, traffic_class: str | None, origin: Origin) -> int:
        """Give the first of `count` slots for a queue of the port; refuse more than the pipeline has."""
        first = self._next
        if first + count > CONVERSATION_SLOTS:
            raise InputError(
                origin, f"{first + count} conversations and class queues", f"at most {CONVERSATION_SLOTS} on one switch"
            )
        self._next += count
        self.queues.append(QueueSlots(first, count, port.number, port.name, traffic_class))
        return first
