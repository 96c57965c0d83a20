"""Stage parse, IPv6: extension headers, truncated packets (RFC 8200)."""

from __future__ import annotations

from scapy.layers.inet import TCP, UDP
from scapy.layers.inet6 import (
    ICMPv6EchoRequest,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
)
from scapy.layers.ipsec import AH
from scapy.packet import Packet, Raw

from phb_device import CONNECTED
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case, forwarded
from phb_ptf.entries import WIRES, rule
from phb_ptf.frames import frame, ip, tcp, udp

# The protocol of a packet with extension headers is the first header's number: they aren't walked.
FIRST_HEADERS = {"hop-by-hop": 0, "routing": 43, "fragment": 44, "authentication": 51, "no-next": 59, "destination": 60}
HEADERS = CONNECTED + "rules:\n  - {name: ports, match: {source-ports: 1, destination-ports: 80}}\n"
for NAME, NUMBER in FIRST_HEADERS.items():
    HEADERS += f"  - {{name: {NAME}, match: {{protocol: {NUMBER}, source-ports: 0, destination-ports: 0}}}}\n"
HEADERS += "  - {name: zero, match: {source-ports: 0, destination-ports: 0}}\n"

POLICIES = {"ports": 7, "zero": 8} | {name: 100 + number for name, number in FIRST_HEADERS.items()}
HEADERS_BY_HAND = ByHand(
    [
        *WIRES,
        *rule(7, source_port=(1, 1), destination_port=(80, 80)),
        *rule(8, source_port=(0, 0), destination_port=(0, 0), priority=10),
        *(
            entry
            for number in FIRST_HEADERS.values()
            for entry in rule(100 + number, protocol=number, source_port=(0, 0), destination_port=(0, 0))
        ),
    ],
    policies=POLICIES,
)

DATAGRAM = UDP(sport=1, dport=80)
LIKE_PORTS = Raw(bytes([0, 1, 0, 80]) + bytes(20))


def passes(name: str, why: str, sent: bytes, taken_by: str) -> Case:
    """Make a case of a frame that leaves as it came, and whose protocol and ports the rule `taken_by` matches."""
    return Case(name, why, [forwarded(sent, rule=taken_by)], HEADERS, HEADERS_BY_HAND, keeps=True)


def extended(*headers: Packet) -> bytes:
    """Return a datagram behind extension headers."""
    return frame(ip(6), *headers, DATAGRAM, Raw(bytes(20)))


NOT_WALKED = "an extension header is walked, or taken for ports"

cases(
    globals(),
    passes("udp", "UDP's ports are read from another place", udp(80, version=6), "ports"),
    passes("tcp", "TCP's ports are read from another place", tcp(80, source_port=1, version=6), "ports"),
    passes("icmpv6", "ICMPv6 is taken for ports", frame(ip(6), ICMPv6EchoRequest(id=1, seq=80)), "zero"),
    passes("flow_label", "the flow label is lost, or shifts what is behind it",
           udp(80, version=6, fl=0xFFFFF), "ports"),
    passes("hop_by_hop", NOT_WALKED, extended(IPv6ExtHdrHopByHop()), "hop-by-hop"),
    passes("routing", NOT_WALKED, extended(IPv6ExtHdrRouting(addresses=["2001:db8::9"])), "routing"),
    passes("first_fragment", NOT_WALKED, extended(IPv6ExtHdrFragment(m=1, nh=17)), "fragment"),
    passes("last_fragment", NOT_WALKED, extended(IPv6ExtHdrFragment(offset=9, nh=17)), "fragment"),
    passes("authentication", NOT_WALKED, extended(AH(nh=17, icv=bytes(12))), "authentication"),
    passes("destination_options", NOT_WALKED, extended(IPv6ExtHdrDestOpt()), "destination"),
    passes("several",
           NOT_WALKED, extended(IPv6ExtHdrHopByHop(), IPv6ExtHdrDestOpt(), IPv6ExtHdrFragment()), "hop-by-hop"),
    passes("no_next_header", "bytes behind the last header are taken for ports",
           frame(ip(6, nh=59), LIKE_PORTS), "no-next"),
    passes("other_protocol", "payload is taken for ports", frame(ip(6, nh=132), LIKE_PORTS), "zero"),
    passes("udp_cut", "a cut header is read as if it were whole", udp(80, version=6)[:61], "zero"),
    passes("tcp_cut", "a cut header is read as if it were whole", tcp(80, source_port=1, version=6)[:73], "zero"),
    passes("nothing_behind_ipv6", "a packet that ends behind its IP header is dropped",
           udp(80, version=6)[:54], "zero"),
    passes("ipv6_cut", "a cut IPv6 header is completed, or its frame dropped", udp(80, version=6)[:53], ""),
    passes("ipv6_of_one_byte", "a cut IPv6 header is completed, or its frame dropped", udp(80, version=6)[:15], ""),
    passes("ipv4_protocol_numbers", "a protocol that is IPv4's own is read for ports",
           frame(ip(6, nh=1), LIKE_PORTS), "zero"),
    passes("payload_length_too_short", "bytes behind the IP packet get lost", udp(80, version=6, plen=8), "ports"),
    passes("tcp_in_full", "a segment's own fields change",
           frame(ip(6), TCP(sport=1, dport=80, flags="PAU", urgptr=7, window=1, reserved=5), Raw(b"x" * 33)), "ports"),
)  # fmt: skip
