"""The counters of a node, by the names of the policy."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TypeAlias

Cells: TypeAlias = dict[tuple[object, ...], tuple[int, int]]
"""Packets and bytes of frames by what they are counted for."""


def _cells() -> Cells:
    return defaultdict(lambda: (0, 0))


@dataclass
class Counters:
    """The pipeline's counters; "no rule" is a rule of the name None.

    Attributes:
        drops: By reason, each dropped packet once.
        policy_traffic: By rule, direction and colour.
        policy_drops: By rule, direction and reason.
        stream_traffic: By action, hook and colour.
        queue_enqueued: By egress port and class of its queue, None where the port has one queue.
        queue_tail_drops: Drops at the hold queue or the limit of a class, by the same.
        queue_discards: Drops at the congestive discard threshold, by the same.
        queue_early_drops: By the same.
        port_transmit: By egress port.
        class_transmit: By the packet's class.
        class_drops: By the packet's class and the reason.
    """

    drops: Cells = field(default_factory=_cells)
    policy_traffic: Cells = field(default_factory=_cells)
    policy_drops: Cells = field(default_factory=_cells)
    stream_traffic: Cells = field(default_factory=_cells)
    queue_enqueued: Cells = field(default_factory=_cells)
    queue_tail_drops: Cells = field(default_factory=_cells)
    queue_discards: Cells = field(default_factory=_cells)
    queue_early_drops: Cells = field(default_factory=_cells)
    port_transmit: Cells = field(default_factory=_cells)
    class_transmit: Cells = field(default_factory=_cells)
    class_drops: Cells = field(default_factory=_cells)


def count(cells: Cells, octets: int, *key: object) -> None:
    """Count one packet more."""
    packets, before = cells[key]
    cells[key] = packets + 1, before + octets
