"""The secret keys by which a switch tells flows and connections apart.

They belong to the switch, not to a policy: a push draws them where the switch has none, and leaves them alone where it
has. So no plan shows them and no file says them, and flows stay where they are from push to push. Whoever may read
table entries over P4Runtime can read them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from phb.device.artifact import Artifact
from phb.device.session import Session
from phb.intent import Entry, Exact
from phb.origin import UNKNOWN
from phb.pushing.difference import Change, Update

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


async def ensure_keys(session: Session, draw: Draw) -> None:
    """Draw keys for a switch that runs the session's artifact, where it has none.

    Raises:
        SwitchError: The switch refused them, or can't be reached.

    """
    held = {row.key for row in await session.key_rows()}
    rows = (session.artifact.encode(entry) for entry in _entries(session.artifact, draw))
    missing = [Update(Change.INSERT, row) for row in rows if row.key not in held]
    if missing:
        await session.write(missing, atomic=False)


def _entries(artifact: Artifact, draw: Draw) -> Iterator[Entry]:
    for table in artifact.key_tables:
        for action, match in _ROWS[table]:
            parameters = {name: draw(info.bits) for name, info in artifact.table(table).actions[action].parameters.items()}
            yield Entry(table, {name: Exact(value) for name, value in match.items()}, action, parameters, 0, UNKNOWN)
