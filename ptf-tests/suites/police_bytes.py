"""Stage police: which bytes a meter counts, the frame's or those of the IP datagram in it (RFC 2697 section 2)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from scapy.layers.inet import IP
from scapy.layers.inet6 import IPv6ExtHdrHopByHop
from scapy.layers.l2 import ARP, Dot1Q
from scapy.packet import Raw

from phb.model import MeterKind
from phb_device import CONNECTED, Entry, entry
from phb_ptf.case_tests import cases
from phb_ptf.cases import GREEN, RED, ByHand, Case, Count, Send, forwarded
from phb_ptf.entries import WIRES, rule
from phb_ptf.frames import frame, ip, udp
from phb_ptf.meters import Meter, set_dscp

LEAVES = {GREEN: 0x48, RED: 0x58}
MARKED = {"green": set_dscp(0x48 >> 2), "red": set_dscp(0x58 >> 2)}

Made = Callable[[int], bytes]
"""A frame by the ToS octet of the packet in it; what isn't IP has none."""


def counted(name: str, why: str, basis: str, size: int, made: Made, *, is_ip: bool = True, hook: str = "input") -> Case:
    """Make a case of a meter that counts so many bytes of a frame: they are green by a burst of as many, not one less.

    The first frame leaves the committed bucket empty, and the other bucket lacks a byte for the second.
    """
    meter = replace(Meter(MeterKind.SINGLE_RATE, size, size - 1, basis=basis), **MARKED)
    output = hook == "output"
    where = "egress-port: line" if output else "ingress-port: lan"
    if is_ip:
        taken = f"rules: [{{name: metered, match: {{{where}}}, actions: [metered]}}]\n"
    else:
        # No rule takes a frame that isn't IP; to a behaviour aggregate it is ToS 0.
        taken = f"behaviour-aggregates: [{{name: metered, dscp: 0, {where}, actions: [metered]}}]\n"
    policy = f"actions: [{{name: metered, meter: {meter.said()}}}]\n{taken}"
    police = "output_police" if output else "police"
    by_hand = ByHand([*WIRES, *_taken(output, is_ip), *meter.entries(5, [7], police)], {"metered": 7}, {"metered": 5})
    length = len(made(0))
    counts = [Count("stream_traffic", ("metered", colour), 1, length) for colour in (GREEN, RED)]
    steps = [_step(made, colour, output) for colour in (GREEN, RED)]
    return Case(name, why, steps, CONNECTED + policy, by_hand, counts=counts)


def _taken(output: bool, is_ip: bool) -> list[Entry]:
    stage, key = ("output", {"egress_port": 1}) if output else ("classify", {"ingress_port": 2})
    if is_ip:
        return rule(7, stage=stage, stream=5, **key)
    match = key | {"tos": "0x0/&0xfc"}
    return [entry(f"{stage}.behaviour_aggregate", match, "set_class", priority=1, policy=7, stream=5, traffic_class=0)]


def _step(made: Made, colour: int, output: bool) -> Send:
    sent, left = made(0), made(LEAVES[colour])
    if output:
        return forwarded(sent, left, output_rule="metered", output_colour=colour)
    return forwarded(sent, left, rule="metered", colour=colour)


def of(version: int = 4, *, datagram: int, tag: int | None = None, padding: int = 0) -> Made:
    """Return a datagram of so many bytes with its IP header, perhaps behind a tag, perhaps padded."""
    link = 14 if tag is None else 18
    return lambda tos: udp(version=version, size=link + datagram, tag=tag, tos=tos) + bytes(padding)


def cut(version: int, *, behind: int, tag: int | None = None, **said: int) -> Made:
    """Return so many bytes behind Ethernet's header and tag, with these fields of their IP header."""
    link = 14 if tag is None else 18
    return lambda tos: udp(version=version, size=2000, tag=tag, tos=tos, **said)[: link + behind]


def behind_options(tos: int) -> bytes:
    """Return 60 bytes of header, 40 of them options, and 10 more."""
    return frame(ip(options=b"\x01" * 40, tos=tos, proto=200), Raw(bytes(10)))


def jumbogram(tos: int) -> bytes:
    """Return a hop-by-hop header, and a payload length of 0, without the option that has another one."""
    return frame(ip(6, tos=tos, plen=0), IPv6ExtHdrHopByHop(nh=59), Raw(bytes(100)))


def header_alone(tos: int) -> bytes:
    """Return IPv6 without payload in the shortest frame that Ethernet has."""
    return frame(ip(6, tos=tos, nh=59)) + bytes(6)


def arp(tag: int | None = None) -> Made:
    """Return a frame that isn't IP; it has no ToS octet."""
    return lambda tos: frame(ARP(pdst="10.0.2.1"), size=60, tag=tag)


def two_tags(tos: int) -> bytes:
    """Return a frame with two tags: the second one ends parsing."""
    return frame(Dot1Q(vlan=8), IP(src="10.0.1.1", dst="10.0.2.1"), size=100, tag=3)


def of_ip(name: str, why: str, size: int, made: Made, *, is_ip: bool = True) -> list[Case]:
    """Make the same for a meter by bytes of IP of the input policy, and one by bytes of PPP of the output policy."""
    return [
        counted(f"{name}_ip_input", why, "ip", size, made, is_ip=is_ip),
        counted(f"{name}_ppp_output", why, "ppp", size + 4, made, is_ip=is_ip, hook="output"),
    ]


TAG = "a tag's four bytes are counted"
PADDING = "padding is counted, or what is behind a datagram"
TRUNCATED = "a packet counts bytes that it has not"
UNKNOWN = "what says no length of its own isn't counted by what the frame carries"

cases(
    globals(),
    *of_ip("plain", "the Ethernet header is counted, or less than the datagram", 386, of(datagram=386)),
    *of_ip("plain_ipv6", "the IPv6 header isn't counted, or Ethernet's is", 386, of(6, datagram=386)),
    *of_ip("tag", TAG, 386, of(datagram=386, tag=3)),
    *of_ip("tag_ipv6", TAG, 386, of(6, datagram=386, tag=3)),
    *of_ip("padding", PADDING, 30, of(datagram=30, padding=16)),
    *of_ip("padding_behind_tag", PADDING, 30, of(datagram=30, tag=3, padding=12)),
    *of_ip("trailer", PADDING, 386, of(datagram=386, padding=100)),
    *of_ip("trailer_ipv6", PADDING, 386, of(6, datagram=386, padding=100)),
    *of_ip("options", "options of the IPv4 header aren't counted", 70, behind_options),
    *of_ip("header_alone_ipv6", PADDING, 40, header_alone),
)  # fmt: skip

cases(
    globals(),
    *of_ip("truncated", TRUNCATED, 86, cut(4, behind=86)),
    *of_ip("truncated_ipv6", TRUNCATED, 86, cut(6, behind=86)),
    *of_ip("truncated_behind_tag", TRUNCATED, 86, cut(4, behind=86, tag=3)),
    *of_ip("longest_length", TRUNCATED, 86, cut(4, behind=86, len=65535)),
    *of_ip("longest_length_ipv6", "the length of an IPv6 packet overflows", 86, cut(6, behind=86, plen=65535)),
    *of_ip("shortest_length", "a header alone isn't counted as that", 20, cut(4, behind=86, len=20)),
    *of_ip("impossible_length", UNKNOWN, 86, cut(4, behind=86, len=19)),
    *of_ip("no_length", UNKNOWN, 86, cut(4, behind=86, len=0)),
    *of_ip("jumbogram", UNKNOWN, 148, jumbogram),
    *of_ip("not_ip", UNKNOWN, 46, arp(), is_ip=False),
    *of_ip("not_ip_behind_tag", UNKNOWN, 42, arp(tag=3), is_ip=False),
    *of_ip("two_tags", UNKNOWN, 82, two_tags, is_ip=False),
)  # fmt: skip

FRAME = "a meter by Ethernet's bytes doesn't count the frame"

cases(
    globals(),
    counted("tag_ethernet", FRAME, "ethernet", 404, of(datagram=386, tag=3)),
    counted("padding_ethernet", FRAME, "ethernet", 60, of(datagram=30, padding=16), hook="output"),
    counted("truncated_ethernet", FRAME, "ethernet", 100, cut(6, behind=86)),
    counted("not_ip_ethernet", FRAME, "ethernet", 60, arp(), is_ip=False, hook="output"),
)  # fmt: skip
