"""Stage classify: each condition of a rule, at its bounds and just outside (RFC 2475 section 2.3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from typing import Any

from scapy.layers.inet import ICMP
from scapy.packet import Raw

from phb_device import CONNECTED
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case, forwarded
from phb_ptf.entries import WIRES, rule
from phb_ptf.frames import frame, ip, tcp, udp

BOTH = (4, 6)
V4 = (4,)
V6 = (6,)


def takes(
    name: str,
    match: str,
    by_hand: Mapping[str, Any],
    inside: Sequence[bytes],
    outside: Sequence[bytes],
    *,
    versions: tuple[int, ...] = BOTH,
) -> Case:
    """Make a case of a rule with one condition, in YAML and by key fields: it takes frames `inside`, and no others."""
    steps = [*(forwarded(each, rule="one") for each in inside), *(forwarded(each) for each in outside)]
    policy = f"{CONNECTED}rules: [{{name: one, match: {{{match}}}}}]\n"
    entries = ByHand([*WIRES, *rule(7, versions=versions, **by_hand)], policies={"one": 7})
    return Case(name, f"a rule with '{match}' takes other packets than these", steps, policy, entries, keeps=True)


def span(first: str, last: str) -> tuple[int, int]:
    """Return bounds of addresses as numbers."""
    return int(ip_address(first)), int(ip_address(last))


SIX = [udp(version=6)]
ANY = [udp(), tcp(), udp(version=6), frame(ip(), ICMP()), frame(ip(proto=132), Raw(bytes(30)))]

cases(
    globals(),
    takes("every_packet", "", {}, ANY, []),
    takes("source_address", "source: 10.0.1.5", {"source": span("10.0.1.5", "10.0.1.5")},
          [udp(src="10.0.1.5")], [udp(src="10.0.1.4"), udp(src="10.0.1.6"), udp(dst="10.0.1.5"), *SIX], versions=V4),
    takes("source_range", "source: 10.0.1.5-10.0.1.9", {"source": span("10.0.1.5", "10.0.1.9")},
          [udp(src=f"10.0.1.{last}") for last in (5, 7, 9)], [udp(src="10.0.1.4"), udp(src="10.0.1.10")], versions=V4),
    takes("source_prefix", "source: 10.0.1.0/24", {"source": span("10.0.1.0", "10.0.1.255")},
          [udp(src="10.0.1.0"), udp(src="10.0.1.255")], [udp(src="10.0.0.255"), udp(src="10.0.2.0")], versions=V4),
    takes("destination_address", "destination: 10.0.2.5", {"destination": span("10.0.2.5", "10.0.2.5")},
          [udp(dst="10.0.2.5")], [udp(dst="10.0.2.4"), udp(src="10.0.2.5"), *SIX], versions=V4),
    takes("destination_range", "destination: 10.0.2.255-10.0.3.0", {"destination": span("10.0.2.255", "10.0.3.0")},
          [udp(dst="10.0.2.255"), udp(dst="10.0.3.0")], [udp(dst="10.0.2.254"), udp(dst="10.0.3.1")], versions=V4),
    takes("destination_prefix", "destination: 128.0.0.0/1", {"destination": span("128.0.0.0", "255.255.255.255")},
          [udp(dst="128.0.0.0"), udp(dst="255.255.255.254")], [udp(dst="127.255.255.255")], versions=V4),
    takes("source_and_destination", "source: 10.0.1.0/24, destination: 10.0.2.0/24",
          {"source": span("10.0.1.0", "10.0.1.255"), "destination": span("10.0.2.0", "10.0.2.255")},
          [udp()], [udp(src="10.0.2.1"), udp(dst="10.0.1.1"), udp(src="10.0.2.1", dst="10.0.1.1")], versions=V4),
    takes("ipv6_source_address", "source: '2001:db8::5'", {"source": "2001:db8::5"},
          [udp(version=6, src="2001:db8::5")], [udp(version=6), udp(version=6, dst="2001:db8::5"), udp()], versions=V6),
    takes("ipv6_source_prefix", "source: '2001:db8:0:8000::/49'", {"source": "2001:db8:0:8000::/49"},
          [udp(version=6, src="2001:db8:0:8000::"), udp(version=6, src="2001:db8:0:ffff:ffff:ffff:ffff:ffff")],
          [udp(version=6, src="2001:db8:0:7fff::"), udp(version=6, src="2001:db8:1::")], versions=V6),
    takes("ipv6_destination_prefix", "destination: '2001:db8:1::/48'", {"destination": "2001:db8:1::/48"},
          [udp(version=6)], [udp(version=6, dst="2001:db8:2::1"), udp()], versions=V6),
)  # fmt: skip

cases(
    globals(),
    *(
        takes(f"protocol_{name}", f"protocol: {name}",
              {"protocol": number}, mine, [each for each in ANY if each not in mine])
        for name, number, mine in (
            ("udp", 17, [udp(), udp(version=6)]),
            ("tcp", 6, [tcp()]),
            ("icmp", 1, [frame(ip(), ICMP())]),
            ("132", 132, [frame(ip(proto=132), Raw(bytes(30)))]),
        )
    ),
    takes("source_port", "source-ports: 1024", {"source_port": (1024, 1024)},
          [udp(source_port=1024), tcp(source_port=1024)], [udp(source_port=1023), udp(source_port=1025), udp(1024)]),
    takes("source_ports", "source-ports: 1023-2049", {"source_port": (1023, 2049)},
          [udp(source_port=port) for port in (1023, 1024, 2048, 2049)], [udp(source_port=1022), udp(source_port=2050)]),
    takes("destination_ports", "destination-ports: 80-90", {"destination_port": (80, 90)},
          [udp(80), udp(90), tcp(85), udp(85, version=6)], [udp(79), udp(91), udp(1, source_port=85)]),
    takes("largest_port", "destination-ports: 65535",
          {"destination_port": (65535, 65535)}, [udp(65535)], [udp(65534), udp(0)]),
    takes("port_0_is_none", "destination-ports: 0", {"destination_port": (0, 0)},
          [udp(0), frame(ip(), ICMP()), udp(80, frag=1)], [udp(1)]),
    takes("ports_of_one_protocol", "protocol: tcp, destination-ports: 80",
          {"protocol": 6, "destination_port": (80, 80)},
          [tcp(80)], [udp(80), tcp(81)]),
    takes("tos", "tos: 184",
          {"tos": "0xb8/&0xff"}, [udp(tos=0xB8), udp(tos=0xB8, version=6)], [udp(tos=0xB9), udp(tos=0)]),
    takes("tos_under_mask", "tos: {value: 0x10, mask: 0x14}", {"tos": "0x10/&0x14"},
          [udp(tos=0x10), udp(tos=0xFB)], [udp(tos=0x14), udp(tos=0x04), udp(tos=0)]),
    takes("dscp", "dscp: EF", {"tos": "0xb8/&0xfc"},
          [udp(tos=0xB8), udp(tos=0xBB), udp(tos=0xB9, version=6)], [udp(tos=0xB4), udp(tos=0xBC)]),
    takes("dscp_0", "dscp: CS0", {"tos": "0/&0xfc"}, [udp(), udp(tos=3)], [udp(tos=4), udp(tos=0x80)]),
    takes("precedence", "precedence: 5",
          {"tos": "0xa0/&0xe0"}, [udp(tos=0xA0), udp(tos=0xBF)], [udp(tos=0x9F), udp(tos=0xC0)]),
    takes("pcp", "pcp: 5", {"tagged": 1, "pcp": "5/&7"}, [udp(tag=5), udp(tag=5, version=6)], [udp(tag=4), udp()]),
    takes("pcp_under_mask", "pcp: {value: 4, mask: 4}", {"tagged": 1, "pcp": "4/&4"},
          [udp(tag=4), udp(tag=7)], [udp(tag=3), udp()]),
    takes("pcp_0_needs_a_tag", "pcp: 0", {"tagged": 1, "pcp": "0/&7"}, [udp(tag=0)], [udp(), udp(tag=1)]),
    takes("all_conditions",
          "ingress-port: lan, source: 10.0.1.1, destination: 10.0.2.1, protocol: udp, source-ports: 1, "
          "destination-ports: 80, dscp: EF, pcp: 5",
          {"ingress_port": 2, "source": span("10.0.1.1", "10.0.1.1"), "destination": span("10.0.2.1", "10.0.2.1"),
           "protocol": 17, "source_port": (1, 1), "destination_port": (80, 80), "tos": "0xb8/&0xfc",
                                           "tagged": 1, "pcp": "5/&7"},
          [udp(80, tos=0xB8, tag=5)],
          [udp(80, tos=0xB8), udp(80, tag=5), udp(81, tos=0xB8, tag=5), udp(80, source_port=2, tos=0xB8, tag=5),
           tcp(80, source_port=1, tos=0xB8, tag=5), udp(80, tos=0xB8, tag=5, dst="10.0.2.2"),
           udp(80, tos=0xB8, tag=5, src="10.0.1.2")], versions=V4),
    Case(
        "ingress_port",
        "a rule for one port takes packets of others",
        [forwarded(udp(), rule="one"), forwarded(udp(), at=1, to=2), forwarded(udp(), at=3, to=4)],
        CONNECTED + "rules: [{name: one, match: {ingress-port: lan}}]\n",
        ByHand([*WIRES, *rule(7, ingress_port=2)], policies={"one": 7}),
        keeps=True,
    ),
)  # fmt: skip
