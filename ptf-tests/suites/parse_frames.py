"""Stage parse, Ethernet: tags, what isn't IP, runts and jumbo frames (IEEE 802.3, 802.1Q)."""

from __future__ import annotations

from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.packet import Raw

from phb_device import CONNECTED
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case, forwarded
from phb_ptf.entries import WIRES, rule
from phb_ptf.frames import HOST_MAC, PEER_MAC, frame, ip, tcp, udp

PORTS = CONNECTED + "rules: [{name: ports, match: {source-ports: 1, destination-ports: 80}}]\n"
PORTS_BY_HAND = ByHand([*WIRES, *rule(7, source_port=(1, 1), destination_port=(80, 80))], policies={"ports": 7})

INNER = udp(80)[14:]
NOT_IP = "what isn't IP is changed, or dropped on a wire"
# skb_vlan_untag of net/core/skbuff.c wants two bytes behind the tag.
KERNEL_DROPS = "Linux drops frames that end in or right behind a tag"
LOST = "bytes at the end of a frame get lost"


def passes(name: str, why: str, sent: bytes, taken_by: str = "", not_on_interfaces: str = "") -> Case:
    """Make a case of a frame that leaves as it came."""
    steps = [forwarded(sent, rule=taken_by)]
    return Case(name, why, steps, PORTS, PORTS_BY_HAND, not_on_interfaces=not_on_interfaces, keeps=True)


def tagged(*tags: Dot1Q, kind: int | None = None) -> bytes:
    """Return a datagram behind tags."""
    made = Ether(src=HOST_MAC, dst=PEER_MAC)
    for tag in tags:
        made /= tag
    return bytes(made / Raw(INNER))


def plain(ethertype: int, payload: bytes = bytes(46)) -> bytes:
    """Return a frame of some type."""
    return bytes(Ether(src=HOST_MAC, dst=PEER_MAC, type=ethertype) / Raw(payload))


cases(
    globals(),
    passes("tag", "ports behind a tag aren't found", udp(80, tag=3), "ports"),
    passes("tag_before_ipv6", "ports behind a tag aren't found", udp(80, version=6, tag=3), "ports"),
    passes("tag_before_tcp", "ports behind a tag aren't found", tcp(80, source_port=1, tag=3), "ports"),
    passes("priority_tag", "VLAN 0 is taken for no tag", tagged(Dot1Q(vlan=0, prio=5, type=0x0800)), "ports"),
    passes("largest_tag", "bits of a tag get lost", tagged(Dot1Q(vlan=4095, prio=7, id=1, type=0x0800)), "ports"),
    passes("two_tags", "a second tag is taken for the packet",
           tagged(Dot1Q(vlan=7, type=0x8100), Dot1Q(vlan=8, type=0x0800))),
    passes("service_tag", "a tag of 802.1ad is taken for one of 802.1Q", tagged(Dot1AD(vlan=7, type=0x0800))),
    passes("tag_before_arp", NOT_IP, frame(ARP(pdst="10.0.2.1"), tag=3)),
    passes("tag_cut", "a cut tag is completed, or its frame dropped", udp(80, tag=3)[:16],
           not_on_interfaces=KERNEL_DROPS),
    passes("nothing_behind_tag", "a frame that ends behind its tag is dropped", udp(80, tag=3)[:18],
           not_on_interfaces=KERNEL_DROPS),
    passes("arp", NOT_IP, frame(ARP(pdst="10.0.2.1"))),
    *(
        passes(f"ethertype_{ethertype:04x}", NOT_IP, plain(ethertype))
        for ethertype in (0x0026, 0x05FF, 0x0801, 0x8847, 0x88CC, 0xFFFF)
    ),
    passes("header_alone", "a frame without payload is dropped", plain(0x88B5, b"")),
    passes("ip_header_alone", "a frame without payload is dropped, though its type says IP", plain(0x0800, b"")),
    passes("broadcast", "group addresses are not sent on by a wire",
           udp(80, macs=(HOST_MAC, "ff:ff:ff:ff:ff:ff")), "ports"),
    passes("padding", LOST, udp(80, size=0) + bytes(18), "ports"),
    passes("trailer", LOST, udp(80, size=0) + b"trailer behind the IP packet", "ports"),
    *(passes(f"size_{size}", LOST, udp(80, size=size), "ports") for size in (60, 61, 64, 255, 256, 1514, 1518)),
    *(
        passes(f"jumbo_{size}_ipv{version}", "a jumbo frame is cut or dropped",
               udp(80, size=size, version=version), "ports")
        for size in (4097, 9014, 9216)
        for version in (4, 6)
    ),
    passes("jumbo_tcp", "a jumbo frame is cut or dropped", tcp(80, source_port=1, size=9000), "ports"),
    passes("jumbo_not_ip", "a jumbo frame is cut or dropped", plain(0x88B5, bytes(8986))),
    passes("jumbo_tagged", "a jumbo frame is cut or dropped", frame(ip(proto=200), tag=3, size=9018)),
)  # fmt: skip
