"""What a role may do: `role.config`, for which the specification leaves the message to server and client.

This server takes `stratum.P4RoleConfig`, which finsy and Stratum's controllers send. A role without one may do all.
"""

from dataclasses import dataclass

from finsy.proto import p4r, stratum
from google.protobuf.any_pb2 import Any
from google.protobuf.message import DecodeError

from phb_switch.errors import PERMISSION_DENIED, StatusError, invalid


@dataclass(frozen=True, slots=True)
class RoleConfig:
    """What a role may do.

    Attributes:
        message: as the client sent it, for notifications.
        exclusive: ids of p4info objects that no other role may have.
        shared: further ids that the role may write, and sees.
        receives_packets: whether packet-ins are for it.
        packet_filter: id and canonical value of the metadata that its packet-ins must have, if any.
        pushes_pipelines: whether it may set the forwarding-pipeline config.

    """

    message: Any
    exclusive: frozenset[int]
    shared: frozenset[int]
    receives_packets: bool
    packet_filter: tuple[int, bytes] | None
    pushes_pipelines: bool

    @property
    def ids(self) -> frozenset[int]:
        """All objects that are the role's."""
        return self.exclusive | self.shared

    def takes(self, packet: p4r.PacketIn) -> bool:
        """Whether a packet-in is for the role."""
        if not self.receives_packets:
            return False
        if self.packet_filter is None:
            return True
        wanted, value = self.packet_filter
        return any(each.metadata_id == wanted and each.value == value for each in packet.metadata)

    def require_disjoint(self, other: "RoleConfig", role: str) -> None:
        """Checks that no object is exclusive to one and also the other's.

        Raises:
            StatusError: INVALID_ARGUMENT.

        """
        both = sorted(self.exclusive & other.ids | self.shared & other.exclusive)
        if both:
            raise invalid(f"role.config: id {both[0]} is exclusive, and role {role!r} has it too")


def parse(role: str, config: Any) -> RoleConfig:
    """Reads `role.config`.

    Raises:
        StatusError: INVALID_ARGUMENT, if it is of another kind or contradicts itself.

    """
    if not role:
        raise invalid("role.config: the default role has full access, and takes no config")
    message = stratum.P4RoleConfig()
    try:
        known = config.Unpack(message)
    except DecodeError:
        raise invalid("role.config can not be read") from None
    if not known:
        raise invalid(f"role.config: expected stratum.P4RoleConfig, got {config.TypeName() or 'an empty message'}")
    packet_filter = None
    if message.HasField("packet_in_filter"):
        if not message.receives_packet_ins:
            raise invalid("role.config has a packet_in_filter, but receives_packet_ins is not set")
        if not message.packet_in_filter.value:
            raise invalid("role.config: the packet_in_filter has no value")
        value = message.packet_in_filter.value.lstrip(b"\0") or b"\0"
        packet_filter = (message.packet_in_filter.metadata_id, value)
    copy = Any()
    copy.CopyFrom(config)
    return RoleConfig(
        message=copy,
        exclusive=frozenset(message.exclusive_p4_ids),
        shared=frozenset(message.shared_p4_ids),
        receives_packets=message.receives_packet_ins,
        packet_filter=packet_filter,
        pushes_pipelines=message.can_push_pipeline,
    )


def require_pipeline(role: str, config: RoleConfig | None) -> None:
    """Checks that a role may set the forwarding-pipeline config.

    Raises:
        StatusError: PERMISSION_DENIED.

    """
    if config is not None and not config.pushes_pipelines:
        raise StatusError(PERMISSION_DENIED, f"role {role!r} may not set the pipeline config (can_push_pipeline)")
