"""Stage parse, IPv4: options, fragments, truncated packets, what has no ports (RFC 791)."""

from __future__ import annotations

from scapy.layers.inet import ICMP, TCP, UDP, IPOption
from scapy.packet import Packet, Raw

from phb.pipeline_names import DropReason
from phb_device import CONNECTED
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case, dropped, forwarded
from phb_ptf.entries import WIRES, rule
from phb_ptf.frames import frame, ip, tcp, udp

# The rule that takes a packet shows its ports; a packet without ports has 0.
PORTS = (
    CONNECTED
    + """
rules:
  - {name: ports, match: {source-ports: 1, destination-ports: 80}}
  - {name: zero, match: {source-ports: 0, destination-ports: 0}}
"""
)
PORTS_BY_HAND = ByHand(
    [
        *WIRES,
        *rule(7, source_port=(1, 1), destination_port=(80, 80)),
        *rule(8, source_port=(0, 0), destination_port=(0, 0)),
    ],
    policies={"ports": 7, "zero": 8},
)

DATAGRAM = UDP(sport=1, dport=80)
# The bytes of a datagram's ports, where something else is.
LIKE_PORTS = Raw(bytes([0, 1, 0, 80]) + bytes(20))


def passes(name: str, why: str, sent: bytes, taken_by: str) -> Case:
    """Make a case of a frame that leaves as it came, and whose ports the rule `taken_by` matches."""
    return Case(name, why, [forwarded(sent, rule=taken_by)], PORTS, PORTS_BY_HAND, keeps=True)


def option(words: int) -> list[IPOption]:
    """Return so many words of options: one unknown option that fills them."""
    return [IPOption(bytes([0x94, 4 * words]) + bytes(range(4 * words - 2)))]


def with_options(words: int, payload: Packet = DATAGRAM) -> bytes:
    """Return a packet whose header has options."""
    return frame(ip(options=option(words)), payload, Raw(bytes(20)))


cases(
    globals(),
    passes("udp", "UDP's ports are read from another place", udp(80), "ports"),
    passes("tcp", "TCP's ports are read from another place", tcp(80, source_port=1), "ports"),
    passes(
        "tcp_options", "a segment with options loses or moves them",
        tcp(80, "S", source_port=1, options=[("MSS", 1460), ("NOP", None), ("WScale", 7)]), "ports",
    ),
    *(
        passes(
            f"options_of_{words}_words",
            "the header does not end where its length says: ports are read from its options",
            with_options(words),
            "ports",
        )
        for words in (1, 2, 5, 9, 10)
    ),
    passes("options_before_tcp", "options are only skipped before UDP",
           with_options(3, TCP(sport=1, dport=80)), "ports"),
    passes("options_before_icmp", "options before ICMP are taken for ports", with_options(3, ICMP()), "zero"),
    passes("first_fragment", "a first fragment has ports, and they aren't read", udp(80, flags="MF"), "ports"),
    passes("middle_fragment", "payload is taken for ports", udp(80, flags="MF", frag=100), "zero"),
    passes("last_fragment", "payload is taken for ports", udp(80, frag=185), "zero"),
    passes("fragment_at_8_bytes", "only some bits of the fragment offset are looked at", udp(80, frag=1), "zero"),
    passes("largest_fragment_offset", "only some bits of the fragment offset are looked at",
           udp(80, frag=8191), "zero"),
    passes("tcp_fragment", "payload of a later TCP fragment is taken for ports",
           tcp(80, source_port=1, frag=9), "zero"),
    passes("dont_fragment", "the DF bit is taken for a fragment offset", udp(80, flags="DF"), "ports"),
    passes("reserved_flag", "the reserved bit is taken for a fragment offset", udp(80, flags="evil"), "ports"),
    passes("icmp", "type and code of ICMP are taken for a port", frame(ip(), ICMP(type=0, code=1), LIKE_PORTS), "zero"),
    *(
        passes(f"protocol_{number}", "its payload is taken for ports", frame(ip(proto=number), LIKE_PORTS), "zero")
        for number in (0, 2, 47, 50, 132, 255)
    ),
    passes("udp_without_payload", "a datagram that ends with its header is taken for a truncated one",
           udp(80, size=0), "ports"),
)  # fmt: skip

# Truncated packets pass, and aren't read beyond their end.
cases(
    globals(),
    passes("udp_cut_in_ports", "a cut header is read as if it were whole", udp(80)[:37], "zero"),
    passes("udp_cut_after_ports", "of a cut header the fields that are there are read", udp(80)[:38], "zero"),
    passes("udp_cut_by_one_byte", "a cut header is read as if it were whole", udp(80)[:41], "zero"),
    passes("tcp_cut_by_one_byte", "a cut header is read as if it were whole", tcp(80, source_port=1)[:53], "zero"),
    passes("nothing_behind_ipv4", "a packet that ends behind its IP header is dropped", udp(80)[:34], "zero"),
    passes("ipv4_cut", "a cut IPv4 header is completed, or its frame dropped", udp(80)[:33], ""),
    passes("ipv4_of_one_byte", "a cut IPv4 header is completed, or its frame dropped", udp(80)[:15], ""),
    passes("icmp_cut", "a cut ICMP header is completed, or its frame dropped", frame(ip(), ICMP())[:36], "zero"),
    Case(
        "options_cut",
        "options that aren't there are read or made up, and the checksum over them found right",
        [dropped(with_options(10)[:50], DropReason.BAD_CHECKSUM, rule="zero")],
        PORTS,
        PORTS_BY_HAND,
        keeps=True,
    ),
)

# Headers that are wrong.
cases(
    globals(),
    Case(
        "bad_checksum",
        "a damaged header is made to look sound by the checksum that the deparser computes",
        [dropped(udp(80, chksum=0x1234), DropReason.BAD_CHECKSUM, rule="ports")],
        PORTS,
        PORTS_BY_HAND,
        keeps=True,
    ),
    Case(
        "bad_checksum_in_options",
        "the checksum isn't verified over options",
        [dropped(frame(ip(options=option(3), chksum=0x1234), DATAGRAM), DropReason.BAD_CHECKSUM, rule="ports")],
        PORTS,
        PORTS_BY_HAND,
        keeps=True,
    ),
    *(
        passes(f"header_length_{words}", "a header of less than five words is walked by its length",
               frame(ip(ihl=words), DATAGRAM), "zero")
        for words in (0, 4)
    ),
    passes("total_length_too_short", "bytes behind the IP packet get lost", udp(80, len=30), "ports"),
    passes("total_length_too_long", "bytes are made up to the IP packet's length", udp(80, len=1400), "ports"),
)  # fmt: skip
