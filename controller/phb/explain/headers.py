"""Headers of a frame, found as p4src/parser.p4 does.

Ethernet, one 802.1Q tag, IPv4 with options, IPv6 without extension headers, TCP, UDP, ICMP; later fragments and
truncated packets keep the headers seen so far.
"""

from __future__ import annotations

from dataclasses import dataclass

from phb.values import ICMP_VERSIONS, PROTOCOLS

IPV4, VLAN, IPV6 = 0x0800, 0x8100, 0x86DD
ETHERNET_BYTES, VLAN_BYTES, _IPV4_BYTES, _IPV6_BYTES, _TCP_BYTES, _UDP_BYTES = 14, 4, 20, 40, 20, 8
_ICMP_BYTES = 4  # type, code and checksum of every message
TCP, UDP = PROTOCOLS["tcp"], PROTOCOLS["udp"]
_HOP_BY_HOP = 0  # RFC 8200 section 4.3

SYN, FIN, RST, PSH, ACK = 0x02, 0x01, 0x04, 0x08, 0x10  # RFC 9293 section 3.1
DEFAULT_SEGMENT = 536  # bytes; RFC 9293 section 3.7.1


@dataclass(slots=True)
class Headers:
    """Offsets of the headers in the frame; None where there is none, or it is truncated."""

    frame: bytearray
    vlan: int | None = None
    ipv4: int | None = None
    ipv6: int | None = None
    tcp: int | None = None
    udp: int | None = None
    icmp: int | None = None

    @classmethod
    def parse(cls, frame: bytes) -> Headers:
        """Find the headers of an Ethernet frame."""
        headers = cls(bytearray(frame))
        if len(frame) < ETHERNET_BYTES:
            return headers
        at, kind = ETHERNET_BYTES, headers.number(12, 2)
        if kind == VLAN and len(frame) >= at + VLAN_BYTES:
            headers.vlan = at
            kind = headers.number(at + 2, 2)
            at += VLAN_BYTES
        if kind == IPV4 and len(frame) >= at + _IPV4_BYTES:
            headers._parse_ipv4(at)
        elif kind == IPV6 and len(frame) >= at + _IPV6_BYTES:
            headers.ipv6 = at
            headers._parse_transport(at + _IPV6_BYTES, headers.number(at + 6, 1))
        return headers

    def _parse_ipv4(self, at: int) -> None:
        self.ipv4 = at
        words = self.number(at, 1) & 0xF
        # Shorter than its fixed part: no header; forward drops it.
        if words < 5 or len(self.frame) < at + 4 * words:
            return
        if self.number(at + 6, 2) & 0x1FFF == 0:
            self._parse_transport(at + 4 * words, self.number(at + 9, 1))

    def _parse_transport(self, at: int, protocol: int) -> None:
        if protocol == TCP and len(self.frame) >= at + _TCP_BYTES:
            self.tcp = at
        elif protocol == UDP and len(self.frame) >= at + _UDP_BYTES:
            self.udp = at
        elif protocol == ICMP_VERSIONS[6 if self.ipv4 is None else 4] and len(self.frame) >= at + _ICMP_BYTES:
            self.icmp = at

    def number(self, at: int, size: int) -> int:
        """`size` bytes of the frame as a number."""
        return int.from_bytes(self.frame[at : at + size], "big")

    def write(self, at: int, size: int, value: int) -> None:
        """Put a number into the frame."""
        self.frame[at : at + size] = value.to_bytes(size, "big")

    @property
    def ip_version(self) -> int | None:
        """4 or 6, by the EtherType; None for anything else."""
        return 4 if self.ipv4 is not None else 6 if self.ipv6 is not None else None

    @property
    def datagram_length(self) -> int | None:
        """Bytes of the IP datagram by its header; None without a header or a possible length (RFC 2675 section 3)."""
        if self.ipv4 is not None:
            total = self.number(self.ipv4 + 2, 2)
            return total if total >= _IPV4_BYTES else None
        if self.ipv6 is not None:
            payload = self.number(self.ipv6 + 4, 2)
            jumbogram = payload == 0 and self.number(self.ipv6 + 6, 1) == _HOP_BY_HOP
            return None if jumbogram else _IPV6_BYTES + payload
        return None

    @property
    def addresses(self) -> tuple[int, int]:
        """Source and destination, 0 where there is no IP header."""
        if self.ipv4 is not None:
            return self.number(self.ipv4 + 12, 4), self.number(self.ipv4 + 16, 4)
        if self.ipv6 is not None:
            return self.number(self.ipv6 + 8, 16), self.number(self.ipv6 + 24, 16)
        return 0, 0

    @property
    def ip_header(self) -> bytes:
        """The IPv4 header with its options, without truncated ones; empty without a header."""
        if self.ipv4 is None:
            return b""
        size = 4 * (self.number(self.ipv4, 1) & 0xF)
        if not _IPV4_BYTES <= size <= len(self.frame) - self.ipv4:
            size = _IPV4_BYTES
        return bytes(self.frame[self.ipv4 : self.ipv4 + size])

    def update_checksum(self) -> None:
        """Correct the IPv4 header's checksum, as the deparser does."""
        if self.ipv4 is not None:
            self.write(self.ipv4 + 10, 2, 0)
            self.write(self.ipv4 + 10, 2, internet_checksum(self.ip_header))


def internet_checksum(data: bytes) -> int:
    """Compute the checksum of RFC 1071; of a header with a right one it is 0."""
    # Adding 16-bit words with end-around carry is arithmetic modulo 2^16 - 1, in which only zeros give 0.
    number = int.from_bytes(data + b"\0" if len(data) % 2 else data, "big")
    total = number % 0xFFFF or (0xFFFF if number else 0)
    return ~total & 0xFFFF
