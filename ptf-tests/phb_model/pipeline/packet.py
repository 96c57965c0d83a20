"""A frame and its headers' fields: Ethernet, one 802.1Q tag, IPv4 with options, IPv6, TCP, UDP and ICMP.

The frame stays the bytes that arrived, and stages change them. A header that isn't whole isn't there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

TAG = 0x8100
ETHERTYPES = {0x0800: 4, 0x86DD: 6}

ETHERNET, VLAN, IPV4, IPV6 = 14, 4, 20, 40
"""Bytes of headers without options."""

HOP_BY_HOP, TCP, UDP = 0, 6, 17
TRANSPORT_HEADER = {TCP: 20, UDP: 8}
ICMP = {4: 1, 6: 58}
ICMP_HEADER = 4

Flow: TypeAlias = tuple[bytes, bytes, int, int, int, int]


@dataclass
class ParsedFrame:
    """One packet on its way through the node.

    Attributes:
        data: The frame as it is now, without check sequence.
        length: Bytes of the frame as it arrived.
        network: Where the IP header begins; None where there is none.
        version: 4 or 6, by EtherType.
        tos: The ToS octet or traffic class, with all marks so far; without IP, one that is written nowhere.
        pcp: The 802.1p priority; 0 without a tag.
        qos_group: Set by the input policy.
        protocol: Of IPv6 the first next header: extension headers are not walked.
        transport: Where the TCP or UDP header begins; None where it isn't whole.
        icmp_type: None where there is no whole ICMP header; the code likewise.
        source_port: 0 where there is no whole TCP or UDP header, as in later fragments.
    """

    data: bytearray
    length: int
    network: int | None = None
    version: int | None = None
    tagged: bool = False
    tos: int = 0
    pcp: int = 0
    vlan: int = 0
    qos_group: int = 0
    protocol: int = 0
    source_port: int = 0
    destination_port: int = 0
    transport: int | None = None
    icmp_type: int | None = None
    icmp_code: int | None = None

    @property
    def source(self) -> int:
        """The source address."""
        return int.from_bytes(self._address(0))

    @property
    def destination(self) -> int:
        """The destination address."""
        return int.from_bytes(self._address(1))

    def _address(self, which: int) -> bytes:
        assert self.network is not None
        size, offset = (4, 12) if self.version == 4 else (16, 8)
        start = self.network + offset + which * size
        return bytes(self.data[start : start + size])

    @property
    def tcp_flags(self) -> int | None:
        """The flags; None where there is no whole TCP header."""
        return self.data[self.transport + 13] if self.protocol == TCP and self.transport is not None else None

    @property
    def kind(self) -> str:
        """The packet's protocol in words."""
        return "no IP" if self.version is None else f"IPv{self.version}"

    @property
    def header_words(self) -> int:
        """IPv4's header length in words of four bytes, by the header itself."""
        return self.data[self._network] & 15

    @property
    def written_version(self) -> int:
        """The version in the IP header itself."""
        return self.data[self._network] >> 4

    @property
    def header_is_whole(self) -> bool:
        """Whether the IP header is there to its end, options included, and inside the datagram (RFC 1812, 5.2.2)."""
        if self.version == 6:
            return True
        size = 4 * self.header_words
        total = int.from_bytes(self.data[self._network + 2 : self._network + 4])
        return size >= IPV4 and self._network + size <= len(self.data) and total >= size

    @property
    def ip_bytes(self) -> int:
        """Bytes of the IP packet, whose header says where it ends before the frame does.

        All bytes behind Ethernet's header and tag where no header says a length: it isn't IP, IPv4's is too short for a
        header, IPv6's is an option of a hop-by-hop header (RFC 2675). Below 0 where even Ethernet's header isn't whole.
        """
        behind = self.length - ETHERNET - VLAN * self.tagged
        if self.network is None:
            return behind
        if self.version == 4:
            total = int.from_bytes(self.data[self.network + 2 : self.network + 4])
            return behind if total < IPV4 else min(total, behind)
        payload = int.from_bytes(self.data[self.network + 4 : self.network + 6])
        if payload == 0 and self.protocol == HOP_BY_HOP:
            return behind
        return min(IPV6 + payload, behind)

    @property
    def checksum_is_right(self) -> bool:
        """Whether the IPv4 header's checksum is the one that its other words make; there is none in IPv6."""
        if self.version != 4:
            return True
        at = self._network + 10
        return int.from_bytes(self.data[at : at + 2]) == self._checksum()

    def _checksum(self) -> int:
        """The one's complement of the sum of the header's words (RFC 791), with 0 for the checksum."""
        size = 4 * self.header_words
        if size < IPV4 or self._network + size > len(self.data):
            size = IPV4
        header = bytearray(self.data[self._network : self._network + size])
        header[10:12] = b"\0\0"
        total = sum(int.from_bytes(header[at : at + 2]) for at in range(0, size, 2))
        while total > 0xFFFF:
            total = (total & 0xFFFF) + (total >> 16)
        return total ^ 0xFFFF

    @property
    def ttl(self) -> int:
        """TTL or hop limit."""
        return self.data[self._ttl_at]

    def count_hop(self) -> None:
        """Count one hop."""
        self.data[self._ttl_at] -= 1

    @property
    def _ttl_at(self) -> int:
        return self._network + (8 if self.version == 4 else 7)

    @property
    def _network(self) -> int:
        assert self.network is not None
        return self.network

    @property
    def flow(self) -> Flow:
        """The flow for fair queueing: addresses, protocol, ports, and the DSCP, or the class where it is of AF.

        RFC 2597, section 2: packets of one flow and one class stay in order, whatever their drop precedence. Of what
        isn't IP, Ethernet's addresses and EtherType; what is too short for that is all one flow.
        """
        if len(self.data) < ETHERNET:
            return b"", b"", 0, 0, 0, 0
        if self.network is None:
            return bytes(self.data[6:12]), bytes(self.data[0:6]), int.from_bytes(self.data[12:14]), 0, 0, 0
        dscp = self.tos >> 2
        if 1 <= dscp >> 3 <= 4 and dscp & 1 == 0 and dscp & 0b110:
            dscp = dscp & 0b111000 | 0b010
        return self._address(0), self._address(1), self.protocol, dscp, self.source_port, self.destination_port

    def finish(self) -> bytes:
        """Write marks and IPv4's checksum; return the frame to send."""
        if self.tagged:
            self.data[ETHERNET] = self.pcp << 5 | self.data[ETHERNET] & 0x1F
        if self.version == 4:
            self.data[self._network + 1] = self.tos
            self.data[self._network + 10 : self._network + 12] = self._checksum().to_bytes(2)
        elif self.version == 6:
            first = int.from_bytes(self.data[self._network : self._network + 2])
            self.data[self._network : self._network + 2] = (first & 0xF00F | self.tos << 4).to_bytes(2)
        return bytes(self.data)


def parse(frame: bytes) -> ParsedFrame:
    """Parse a frame's headers."""
    packet = ParsedFrame(bytearray(frame), len(frame))
    if len(frame) < ETHERNET:
        return packet
    at = ETHERNET
    ethertype = int.from_bytes(frame[12:14])
    if ethertype == TAG and len(frame) >= at + VLAN:
        packet.tagged = True
        packet.pcp = frame[at] >> 5
        packet.vlan = int.from_bytes(frame[at : at + 2]) & 0xFFF
        ethertype = int.from_bytes(frame[at + 2 : at + 4])
        at += VLAN
    version = ETHERTYPES.get(ethertype)
    if version == 4 and len(frame) >= at + IPV4:
        _parse_ipv4(packet, at)
    elif version == 6 and len(frame) >= at + IPV6:
        packet.network, packet.version = at, 6
        packet.tos = int.from_bytes(frame[at : at + 2]) >> 4 & 0xFF
        packet.protocol = frame[at + 6]
        _parse_transport(packet, at + IPV6)
    return packet


def _parse_ipv4(packet: ParsedFrame, at: int) -> None:
    packet.network, packet.version = at, 4
    packet.tos = packet.data[at + 1]
    packet.protocol = packet.data[at + 9]
    fragment_offset = int.from_bytes(packet.data[at + 6 : at + 8]) & 0x1FFF
    if packet.header_words >= 5 and fragment_offset == 0:
        _parse_transport(packet, at + 4 * packet.header_words)


def _parse_transport(packet: ParsedFrame, at: int) -> None:
    if packet.version is not None and packet.protocol == ICMP[packet.version] and len(packet.data) >= at + ICMP_HEADER:
        packet.icmp_type, packet.icmp_code = packet.data[at], packet.data[at + 1]
    size = TRANSPORT_HEADER.get(packet.protocol)
    if size is None or len(packet.data) < at + size:
        return
    packet.source_port = int.from_bytes(packet.data[at : at + 2])
    packet.destination_port = int.from_bytes(packet.data[at + 2 : at + 4])
    packet.transport = at
