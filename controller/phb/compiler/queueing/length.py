"""The length of a packet as a scheduler counts it."""

from __future__ import annotations

from phb.compiler.queueing.tables import PORT_SCHEDULER
from phb.device.artifact import Artifact
from phb.model import LengthBasis

ETHERNET_HEADER = 14  # bytes; IEEE 802.3 without FCS
PPP_HEADER = 4  # bytes; address, control, protocol (RFC 1662 section 3.1), what IOS calls the length without FCS

# Bytes added to the Ethernet frame's. With ppp the source's 1400-byte reply is 1400 + 40 + 4 = 1444 bytes, as its
# appendix E displays.
OVERHEAD = {
    LengthBasis.ETHERNET: 0,
    LengthBasis.IP: -ETHERNET_HEADER,
    LengthBasis.PPP: PPP_HEADER - ETHERNET_HEADER,
}


def overhead(basis: LengthBasis, action: str, artifact: Artifact) -> int:
    """Give the overhead in bytes as the parameter of a scheduler's action: two's complement."""
    return OVERHEAD[basis] % (1 << artifact.bits(PORT_SCHEDULER, action, "overhead"))
