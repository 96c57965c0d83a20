"""Stage forward: longest prefix, time to live, discard, wires (RFC 1812 sections 4.2.2.9, 5.2.4.3 and 5.3.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scapy.layers.inet import IP, UDP, IPOption_Router_Alert
from scapy.layers.l2 import ARP

from phb.pipeline_names import DropReason
from phb_device import NODE, Entry, entry
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case, Step, dropped, forwarded
from phb_ptf.frames import frame, ip, tcp, udp

# By the number of the port that a route leads to: source and destination of the new Ethernet header.
NEXT = {port: (f"02:00:00:00:01:{port:02x}", f"02:00:00:00:02:{port:02x}") for port in (1, 2, 3, 4)}


def yaml_route(destination: str, port: int) -> str:
    """Return a route in YAML."""
    source, target = NEXT[port]
    return f'  - {{destination: "{destination}", port: {port}, source-mac: "{source}", destination-mac: "{target}"}}\n'


def route(destination: str, port: int) -> Entry:
    """Return a route by hand."""
    source, target = (int(mac.replace(":", ""), 16) for mac in NEXT[port])
    version = 6 if ":" in destination else 4
    return entry(
        f"forward.ipv{version}_route",
        _prefix(destination),
        "route",
        port=port,
        source_mac=source,
        destination_mac=target,
    )


def discard(destination: str) -> Entry:
    """Return, by hand, a route that discards."""
    return entry(f"forward.ipv{6 if ':' in destination else 4}_route", _prefix(destination), "discard")


def _prefix(destination: str) -> dict[str, str]:
    # P4Runtime has no prefix of no bits: such an entry leaves the field out.
    return {} if destination.endswith("/0") else {"destination": destination}


ROUTES = {
    "0.0.0.0/0": 4, "10.0.0.0/8": 3, "10.0.2.0/24": 1, "10.0.2.128/25": 3, "10.0.2.129/32": 4,
    "::/0": 4, "2001:db8::/32": 3, "2001:db8:1::/48": 1, "2001:db8:1::80/121": 3, "2001:db8:1::81/128": 4,
}  # fmt: skip
DISCARDED = ("10.9.0.0/16", "2001:db8:9::/48")


def policy(routes: dict[str, int], discarded: Sequence[str] = ()) -> str:
    """Return a node that routes."""
    lines = [yaml_route(destination, port) for destination, port in routes.items()]
    lines += [f'  - {{destination: "{destination}", discard: true}}\n' for destination in discarded]
    return NODE + "routes:\n" + "".join(lines)


def routed(name: str, why: str, *steps: Step, default: bool = True) -> Case:
    """Make a case with the routes above, or those of them that are no default routes."""
    routes = {destination: port for destination, port in ROUTES.items() if default or not destination.endswith("/0")}
    by_hand = ByHand([*(route(*each) for each in routes.items()), *map(discard, DISCARDED)])
    return Case(name, why, steps, policy(routes, DISCARDED), by_hand, keeps=True)


def hop(port: int, version: int = 4, ttl: int = 64, **fields: Any) -> Step:
    """Return a datagram that is routed to a port: new addresses, one less to live, the checksum of that."""
    sent = udp(version=version, ttl=ttl, **fields)
    return forwarded(sent, udp(version=version, ttl=ttl - 1, macs=NEXT[port], **fields), to=port)


LONGEST = "a shorter prefix is taken, or a longer one takes too much"
EXPIRED = "a packet that may go no further is sent on"

cases(
    globals(),
    routed("default_route", "addresses of no other route are lost",
           hop(4, dst="192.0.2.1"), hop(4, 6, dst="2001:db9::1")),
    routed("prefix_8", LONGEST, hop(3, dst="10.0.0.0"), hop(3, dst="10.255.255.255"), hop(4, dst="11.0.0.0")),
    routed("prefix_24",
           LONGEST, hop(1, dst="10.0.2.0"), hop(1, dst="10.0.2.127"), hop(3, dst="10.0.3.0"), hop(3, dst="10.0.1.255")),
    routed("prefix_25", LONGEST, hop(3, dst="10.0.2.128"), hop(3, dst="10.0.2.255")),
    routed("host_route", LONGEST, hop(4, dst="10.0.2.129"), hop(3, dst="10.0.2.130")),
    routed("ipv6_prefix_32",
           LONGEST, hop(3, 6, dst="2001:db8::1"), hop(3, 6, dst="2001:db8:2::1"), hop(4, 6, dst="2001:db7::1")),
    routed("ipv6_prefix_48", LONGEST, hop(1, 6, dst="2001:db8:1::1"), hop(1, 6, dst="2001:db8:1:ffff::1")),
    routed("ipv6_prefix_121",
           LONGEST, hop(3, 6, dst="2001:db8:1::80"), hop(3, 6, dst="2001:db8:1::ff"), hop(1, 6, dst="2001:db8:1::7f")),
    routed("ipv6_host_route", LONGEST, hop(4, 6, dst="2001:db8:1::81")),
    routed("back_by_its_own_port", "a packet isn't sent back where it came from",
           forwarded(udp(), udp(ttl=63, macs=NEXT[1]), at=1, to=1)),
    routed("discard", "a route to nowhere sends, or drops its neighbours",
           *(dropped(udp(dst=address), DropReason.DISCARD_ROUTE) for address in ("10.9.0.0", "10.9.255.255")),
           hop(3, dst="10.10.0.0")),
    routed("ipv6_discard", "a route to nowhere sends, or drops its neighbours",
           dropped(udp(version=6, dst="2001:db8:9::1"), DropReason.DISCARD_ROUTE), hop(3, 6, dst="2001:db8:a::1")),
    routed("no_route", "a packet without a route is sent somewhere",
           dropped(udp(dst="192.0.2.1"), DropReason.NO_ROUTE), hop(1), default=False),
    routed("ipv6_no_route", "a packet without a route is sent somewhere",
           dropped(udp(version=6, dst="2001:db9::1"), DropReason.NO_ROUTE), hop(1, 6), default=False),
    *(
        routed(f"ttl_{ttl}_ipv{version}", EXPIRED, dropped(udp(version=version, ttl=ttl), DropReason.TTL_EXPIRED))
        for ttl in (0, 1)
        for version in (4, 6)
    ),
    *(
        routed(f"ttl_{ttl}_ipv{version}",
               "the time to live isn't one less, or the checksum isn't that of the new header",
               hop(1, version, ttl))
        for ttl in (2, 255)
        for version in (4, 6)
    ),
    routed("ttl_before_route", "an expired packet without a route is dropped for the wrong reason",
           dropped(udp(ttl=1, dst="192.0.2.1"), DropReason.TTL_EXPIRED), default=False),
    routed("checksum_carries", "a checksum whose sum overflows is computed wrong",
           *(hop(1, id=number) for number in (0, 0x8F00, 0xFFFF))),
    routed("options", "a header with options is routed with another checksum",
           hop(1, options=[IPOption_Router_Alert()])),
    routed("fragment", "a later fragment isn't routed", hop(1, frag=100)),
    routed("tagged", "a tagged packet isn't routed, or loses its tag", hop(1, tag=3)),
    routed("jumbo", "a jumbo frame isn't routed", hop(1, size=9014), hop(1, 6, size=9014)),
    routed("tcp", "a segment's own checksum changes",
           forwarded(tcp(size=200), tcp(size=200, ttl=63, macs=NEXT[1]))),
    routed("bad_checksum", "a damaged header is routed",
           dropped(udp(chksum=1), DropReason.BAD_CHECKSUM)),
    routed("not_ip", "what isn't IP is routed", dropped(frame(ARP(pdst="10.0.2.1")), DropReason.NOT_IP)),
    routed("header_length_4", "a header that can't be is routed",
           dropped(frame(ip(ihl=4), UDP()), DropReason.NOT_IP)),
    routed("version_5", "what has IPv4's Ethernet type and another version is routed",
           dropped(frame(IP(version=5, dst="10.0.2.1"), UDP()), DropReason.NOT_IP)),
    routed("ipv4_cut", "a cut header is routed", dropped(udp()[:33], DropReason.NOT_IP)),
    routed("ipv6_cut", "a cut header is routed", dropped(udp(version=6)[:53], DropReason.NOT_IP)),
)  # fmt: skip

WIRE = NODE + "cross-connects: [{between: [line, lan]}]\n"

cases(
    globals(),
    Case(
        "wire_is_no_hop",
        "a wire between two ports counts as a hop, or looks at addresses",
        [forwarded(udp(ttl=1)), forwarded(udp(ttl=0), at=1, to=2), forwarded(udp(version=6, ttl=1))],
        WIRE,
        ByHand([entry("forward.cross_connect", {"ingress_port": port}, "connect", port=3 - port) for port in (1, 2)]),
    ),
    Case(
        "wire_before_routes",
        "a port of a wire routes",
        [forwarded(udp()), forwarded(udp(), udp(ttl=63, macs=NEXT[4]), at=3, to=4)],
        WIRE + "routes:\n" + yaml_route("10.0.0.0/8", 4),
        ByHand(
            [
                *(entry("forward.cross_connect", {"ingress_port": port}, "connect", port=3 - port) for port in (1, 2)),
                route("10.0.0.0/8", 4),
            ]
        ),
    ),
    Case(
        "neither_wire_nor_route",
        "a port without wire and routes sends",
        [dropped(udp(), DropReason.NO_ROUTE, at=3), dropped(frame(size=60), DropReason.NOT_IP, at=3)],
        WIRE,
        ByHand([entry("forward.cross_connect", {"ingress_port": 2}, "connect", port=1)]),
    ),
)
