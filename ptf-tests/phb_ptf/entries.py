"""Entries by hand that many suites begin with."""

from __future__ import annotations

from typing import Any

from phb_device import Entry, entry

WIRES = [
    entry("forward.cross_connect", {"ingress_port": port}, "connect", port=other)
    for port, other in ((1, 2), (2, 1), (3, 4), (4, 3))
]
"""The entries of `phb_device.CONNECTED`."""


def rule(
    policy: int,
    *,
    stage: str = "classify",
    priority: int = 1000,
    stream: int = 0,
    traffic_class: int = 0,
    versions: tuple[int, ...] = (4, 6),
    **match: Any,
) -> list[Entry]:
    """Return a rule's entries for IPv4 and IPv6; `match` is by key field, as in `phb_device.entry`.

    `policy` is the rule's number, `stage` ``classify`` for an input policy, ``output`` for that of an egress port. The
    larger `priority` comes first.
    """
    return [
        entry(
            f"{stage}.multi_field_ipv{version}",
            match,
            "set_class",
            priority=priority,
            policy=policy,
            stream=stream,
            traffic_class=traffic_class,
        )
        for version in versions
    ]


def scheduler(action: str, *, profile: int = 1, **parameters: int) -> Entry:
    """Return port 1's scheduler entry: ``fifo``, ``flow_wfq`` or ``class_wfq``; `profile` is the key of other rows."""
    return entry("conversation.port_scheduler", {"egress_port": 1}, action, priority=1, profile=profile, **parameters)


def limits(hold_queue: int, conversation: int = 0, *, profile: int = 1) -> Entry:
    """Return the entry that limits packets at a profile's port, in all and of each conversation; 0 is no limit."""
    return entry(
        "buffer.port_limit",
        {"profile": profile},
        "set_limits",
        hold_queue_packets=hold_queue,
        conversation_packets=conversation,
    )
