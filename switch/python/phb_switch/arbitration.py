"""Who may write: client arbitration (specification, "Client Arbitration and Controller Replication").

Of the clients of a role the one with the highest election id that the role has ever seen is its primary. There may be
none: after the primary has left, until somebody comes with that id or a higher one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from finsy.proto import p4r

from phb_switch import roles
from phb_switch.errors import (
    ALREADY_EXISTS,
    FAILED_PRECONDITION,
    NOT_FOUND,
    OK,
    PERMISSION_DENIED,
    RESOURCE_EXHAUSTED,
    StatusError,
    invalid,
)
from phb_switch.roles import RoleConfig

DEFAULT_ROLE = ""


@dataclass(eq=False, slots=True)
class Client:
    """One stream. `send` must not block; `role` is None until the client has arbitrated."""

    send: Callable[[p4r.StreamMessageResponse], None]
    role: str | None = None
    election_id: int | None = None


@dataclass(slots=True)
class _Role:
    clients: list[Client] = field(default_factory=list)
    highest: int | None = None
    config: RoleConfig | None = None

    @property
    def primary(self) -> Client | None:
        if self.highest is None:
            return None
        return next((client for client in self.clients if client.election_id == self.highest), None)


class Arbitration:
    """The clients of one device by role. Not thread-safe: the server holds the device's lock around every call."""

    def __init__(self, device_id: int, *, streams_per_role: int = 64) -> None:
        self._device_id = device_id
        self._streams_per_role = streams_per_role
        self._roles: dict[str, _Role] = {DEFAULT_ROLE: _Role()}

    def update(self, client: Client, message: p4r.MasterArbitrationUpdate) -> None:
        """Takes a client's arbitration message and notifies whom it concerns.

        Raises:
            StatusError: the stream must be terminated with this status.

        """
        name = message.role.name
        if client.role is None:
            if message.device_id != self._device_id:
                raise StatusError(NOT_FOUND, f"there is no device {message.device_id} here, only {self._device_id}")
        elif message.device_id != self._device_id:
            raise StatusError(FAILED_PRECONDITION, f"this stream belongs to device {self._device_id}")
        elif name != client.role:
            raise StatusError(FAILED_PRECONDITION, f"this stream belongs to role {client.role!r}; open another one")
        config = roles.parse(name, message.role.config) if message.role.HasField("config") else None
        if config is not None:
            for other, known in self._roles.items():
                if other != name and known.config is not None:
                    config.require_disjoint(known.config, other)
        election_id = uint128(message.election_id) if message.HasField("election_id") else None
        role = self._roles.setdefault(name, _Role())
        if election_id is not None and any(
            other is not client and other.election_id == election_id for other in role.clients
        ):
            raise invalid(f"election id {election_id} is already used by another client of role {name!r}")
        if client.role is None:
            if len(role.clients) >= self._streams_per_role:
                raise StatusError(
                    RESOURCE_EXHAUSTED, f"role {name!r} has {len(role.clients)} clients, which is the limit"
                )
            role.clients.append(client)
            client.role = name
        was_primary = role.primary is client
        client.election_id = election_id
        if election_id is not None and (role.highest is None or election_id >= role.highest):
            role.highest = election_id
            role.config = config
            self._notify(name, [other for other in role.clients if other is not client])
            self._notify(name, [client])
        elif was_primary:
            self._notify(name, role.clients)
        else:
            self._notify(name, [client])

    def leave(self, client: Client) -> None:
        """Forgets a client whose stream has ended, and tells the backups if it was the primary."""
        if client.role is None:
            return
        role = self._roles[client.role]
        was_primary = role.primary is client
        role.clients.remove(client)
        if was_primary:
            self._notify(client.role, role.clients)

    def is_primary(self, client: Client) -> bool:
        """Whether the client is its role's primary."""
        return client.role is not None and self._roles[client.role].primary is client

    def primaries(self) -> list[tuple[Client, RoleConfig | None]]:
        """The primary of each role that has one, and what its role may do."""
        return [(primary, role.config) for role in self._roles.values() if (primary := role.primary) is not None]

    def config(self, role: str) -> RoleConfig | None:
        """What a role may do; None is everything."""
        return self._roles[role].config if role in self._roles else None

    def require_primary(self, role: str, election_id: int | None) -> None:
        """Checks that a request comes from its role's primary.

        Args:
            role: as the request says.
            election_id: as the request says, None if it doesn't.

        Raises:
            StatusError: NOT_FOUND, if the role is unknown; PERMISSION_DENIED, if the client is not its primary.

        """
        if role not in self._roles:
            raise StatusError(NOT_FOUND, f"device {self._device_id} has no role {role!r}")
        primary = self._roles[role].primary
        if primary is None:
            raise StatusError(PERMISSION_DENIED, f"role {role!r} has no primary: {self._advice(self._roles[role])}")
        if election_id is None or election_id != primary.election_id:
            raise StatusError(PERMISSION_DENIED, f"only the primary of role {role!r} may do this")

    @staticmethod
    def _advice(role: _Role) -> str:
        """What somebody has to do who wants to be primary."""
        if role.highest is None:
            return "open a stream and arbitrate first"
        return (
            "the one before has left; arbitrate with its election id "
            f"{role.highest} or a higher one (lower ones stay backups)"
        )

    def _notify(self, name: str, clients: list[Client]) -> None:
        role = self._roles[name]
        primary = role.primary
        for client in clients:
            response = p4r.StreamMessageResponse()
            update = response.arbitration
            update.device_id = self._device_id
            if name != DEFAULT_ROLE:
                update.role.name = name
            if role.config is not None:
                update.role.config.CopyFrom(role.config.message)
            if role.highest is not None:
                update.election_id.high = role.highest >> 64
                update.election_id.low = role.highest & ((1 << 64) - 1)
            if primary is None:
                update.status.code = NOT_FOUND
                update.status.message = f"there is no primary: {self._advice(role)}"
            elif primary is client:
                update.status.code, update.status.message = OK, "you are the primary"
            else:
                update.status.code, update.status.message = ALREADY_EXISTS, "another client is the primary"
            client.send(response)


def uint128(value: p4r.Uint128) -> int:
    """The number in its two halves."""
    return value.high << 64 | value.low
