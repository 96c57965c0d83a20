"""Whether a receiver would look at a TCP segment, as p4src/segment.p4 decides it."""

from __future__ import annotations

from dataclasses import dataclass

from phb.explain.headers import FIN, RST, SYN, internet_checksum
from phb.explain.packet import TracedPacket

_TCP_WORDS = 5
_MORE_FRAGMENTS = 0x2000
_LARGEST_FRAGMENTED = 0xFFFF
_ALL = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Segment:
    """A TCP header's values, and whether they can be trusted.

    Attributes:
        end: The sequence number behind it.
        sound: It is whole, and its checksum isn't known to be wrong.
        certain: The checksum of a SYN, FIN or RST is known to be right.
    """

    flags: int
    sequence: int
    acknowledgement: int
    window: int
    end: int
    sound: bool
    certain: bool


def inspect(packet: TracedPacket) -> Segment:
    """Read the TCP header of a packet that has one."""
    headers, flags = packet.headers, packet.tcp_flags
    at = headers.tcp
    assert at is not None
    network = headers.ipv4 if headers.ipv4 is not None else headers.ipv6
    assert network is not None
    said = (
        headers.number(network + 2, 2) if headers.ipv4 is not None else 40 + headers.number(network + 4, 2)
    )  # bytes of the datagram
    words = headers.number(at + 12, 1) >> 4
    behind = said - (at - network) - 4 * words
    carried = packet.length - network
    whole = words >= _TCP_WORDS and behind >= 0 and said <= carried
    length, sound, certain = behind + bool(flags & SYN) + bool(flags & FIN), whole, True
    if headers.ipv4 is not None and headers.number(network + 6, 2) & _MORE_FRAGMENTS:
        length, certain = _LARGEST_FRAGMENTED, False
    elif flags & (SYN | FIN | RST):
        bare = headers.ipv4 is not None and words == _TCP_WORDS and behind == 0
        if said < carried and not bare:
            certain = False
        else:
            sound = whole and _checksum_is_right(packet, network, said)
    sequence = headers.number(at + 4, 4)
    return Segment(
        flags,
        sequence,
        headers.number(at + 8, 4),
        headers.number(at + 14, 2),
        sequence + length & _ALL,
        sound,
        certain,
    )


def _checksum_is_right(packet: TracedPacket, network: int, said: int) -> bool:
    """Check the TCP checksum; a segment that the capture has cut off counts as right."""
    headers, at = packet.headers, packet.headers.tcp
    assert at is not None
    if len(headers.frame) < network + said:
        return True
    segment = bytes(headers.frame[at : network + said])
    if headers.ipv4 is not None:
        addresses = headers.frame[network + 12 : network + 20]
    else:
        addresses = headers.frame[network + 8 : network + 40]
    # RFC 9293 section 3.1: the pseudo-header of either IP version has the same sum.
    pseudo_header = bytes(addresses) + packet.flow.protocol.to_bytes(4, "big") + len(segment).to_bytes(4, "big")
    without = segment[:16] + bytes(2) + segment[18:]
    return internet_checksum(pseudo_header + without) == int.from_bytes(segment[16:18], "big")
