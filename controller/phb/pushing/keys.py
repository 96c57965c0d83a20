"""The secret keys by which a switch tells flows and connections apart.

They belong to the switch, not to a policy: a push draws them where the switch has none, and leaves them alone where it
has. So no plan shows them, no file has them, and flows stay where they are from push to push. A client that may
read table entries over P4Runtime can read them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from phb.device.artifact import Artifact
from phb.entries import TableRow
from phb.intent import Entry, Exact
from phb.origin import UNKNOWN

Draw: TypeAlias = Callable[[int], int]
"""Gives a random number of that many bits, as `secrets.randbits`."""

# By key table: the action for each kind of packet, as the match fields tell it. p4src/conversation.p4, connection.p4.
_ROWS = {
    "PhbIngress.conversation.flow_key": (
        ("keyed_ipv4", {"ipv4": 1, "ipv6": 0}),
        ("keyed_ipv6", {"ipv4": 0, "ipv6": 1}),
        ("keyed_ethernet", {"ipv4": 0, "ipv6": 0}),
    ),
    "PhbIngress.admit.connection.connection_key": (("keyed_slot", {"tcp": 1}),),
    "PhbIngress.admit.connection.address_key": (("keyed_addresses", {"ipv6": 1}),),
}


def is_key(row: TableRow, artifact: Artifact) -> bool:
    """Whether an entry holds a secret key."""
    return artifact.table_names[row.table] in artifact.key_tables


def keys(held: Iterable[TableRow], artifact: Artifact, draw: Draw | None) -> list[TableRow]:
    """Give the entries with keys that a switch should hold: those it has, and new ones where it has none.

    `draw` makes new keys; None makes none.
    """
    kept = {row.key: row for row in held if is_key(row, artifact)}
    drawn = [artifact.encode(entry) for entry in _entries(artifact, draw)] if draw is not None else []
    return [*kept.values(), *(row for row in drawn if row.key not in kept)]


def _entries(artifact: Artifact, draw: Draw) -> Iterator[Entry]:
    for table in artifact.key_tables:
        for action, match in _ROWS[table]:
            given = artifact.table(table).actions[action].parameters
            parameters = {name: draw(info.bits) for name, info in given.items()}
            yield Entry(table, {name: Exact(value) for name, value in match.items()}, action, parameters, 0, UNKNOWN)
