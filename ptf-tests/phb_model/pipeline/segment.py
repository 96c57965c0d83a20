"""The fields of a TCP segment, and whether its receiver would accept it."""

from __future__ import annotations

from dataclasses import dataclass

from phb_model.pipeline.packet import TCP, ParsedFrame

FIN, SYN, RST, ACK = 1, 2, 4, 16

_MORE_FRAGMENTS = 0x20
_NO_OPTIONS = 20


@dataclass(frozen=True)
class Segment:
    """One segment; `length` is that in sequence numbers, `shift` a SYN's window scale, None without one.

    `is_taken`: It is whole, and its checksum is right as far as the node looks: of SYN, FIN and RST. `is_certain`: That
    checksum is of it alone.
    """

    flags: int
    sequence: int
    acknowledgement: int
    window: int
    length: int
    shift: int | None
    is_taken: bool
    is_certain: bool


def read_segment(packet: ParsedFrame) -> Segment | None:
    """Read the packet's TCP header; None without one."""
    at, network = packet.transport, packet.network
    if at is None or network is None or packet.protocol != TCP:
        return None
    data = bytes(packet.data)
    flags, header = data[at + 13], (data[at + 12] >> 4) * 4
    if packet.version == 4:
        end = network + int.from_bytes(data[network + 2 : network + 4])
    else:
        end = network + 40 + int.from_bytes(data[network + 4 : network + 6])
    whole = header >= _NO_OPTIONS and at + header <= end <= len(data)
    length = end - at - header + bool(flags & SYN) + bool(flags & FIN)
    certain = right = True
    if packet.version == 4 and data[network + 6] & _MORE_FRAGMENTS:
        length, certain = 65535, False
    elif flags & (SYN | FIN | RST):
        padded_header = packet.version == 4 and header == _NO_OPTIONS and end == at + header
        certain = end == len(data) or padded_header
        right = not certain or (whole and _sum(packet, data[at:end]) == 0xFFFF)
    return Segment(
        flags,
        int.from_bytes(data[at + 4 : at + 8]),
        int.from_bytes(data[at + 8 : at + 12]),
        int.from_bytes(data[at + 14 : at + 16]),
        length,
        _shift(data, at, header) if flags & SYN else None,
        whole and right,
        certain,
    )


def _sum(packet: ParsedFrame, segment: bytes) -> int:
    """Return the one's complement sum of a segment with its pseudo-header (RFC 9293, section 3.1)."""
    size = 4 if packet.version == 4 else 16
    addresses = packet.source.to_bytes(size) + packet.destination.to_bytes(size)
    summed = addresses + len(segment).to_bytes(4) + packet.protocol.to_bytes(4) + segment
    if len(summed) % 2:
        summed += b"\0"
    total = sum(int.from_bytes(summed[at : at + 2]) for at in range(0, len(summed), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def _shift(data: bytes, at: int, header: int) -> int | None:
    """Return the window scale (RFC 7323) of a SYN: a node may miss one behind more than a segment size."""
    options = data[at + _NO_OPTIONS : at + header]
    while options and options[0]:
        if options[0] == 1:
            options = options[1:]
            continue
        if len(options) < 2 or options[1] < 2:
            break
        if options[0] == 3 and len(options) > 2:
            return min(options[2], 14)
        options = options[options[1] :]
    return 14 if header > 24 else None
