"""RFC 2983: DiffServ and tunnels, for a node that tunnels only pass through."""

from __future__ import annotations

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import GRE
from scapy.packet import Packet

from phb.targets import Capability
from phb_conform.check import Finding, Level, check, judged, not_applicable
from phb_conform.measures import early
from phb_conform.probing import IN, NEXT_HOP, OUT, ROUTED, framed, ip, number_of, tos_of
from phb_device import CONNECTED, Arrival, Device, Line

_OUTER, _INNER, _NEW = 10 << 2 | 2, 46 << 2 | 1, 20
"""AF11 with ECT(0) outside, EF with ECT(1) inside; what is marked anew gets code point 20 (AF22)."""


def _inner(version: int) -> Packet:
    header: Packet = IP(src="192.0.2.1", dst="192.0.2.2", tos=_INNER, ttl=7)
    if version == 6:
        header = IPv6(src="2001:db8::1", dst="2001:db8::2", tc=_INNER, hlim=7)
    return header / UDP(sport=5, dport=6)


def tunnelled(octet: int = _OUTER, ttl: int = 64) -> dict[str, bytes]:
    """Return one packet of each kind of tunnel; each has its place as its number."""
    outer4, outer6 = ip(tos=octet, ttl=ttl), ip(tos=octet, version=6, ttl=ttl)
    kinds = {
        "IPv4 in IPv4": outer4 / _inner(4),
        "IPv6 in IPv4": outer4 / _inner(6),
        "IPv4 in IPv6": outer6 / _inner(4),
        "IPv6 in IPv6": outer6 / _inner(6),
        "IPv4 in GRE": outer4 / GRE() / _inner(4),
        "IPv6 in GRE over IPv6": outer6 / GRE() / _inner(6),
        "ESP": outer4.__class__(src="10.0.1.1", dst="10.0.2.1", tos=octet, ttl=ttl, proto=50),
    }
    return {name: framed(packet, number, 160) for number, (name, packet) in enumerate(kinds.items())}


def _as_wanted(device: Device, policy: str, wanted: dict[str, bytes], asked: str) -> Finding:
    device.push(policy)
    sent = tunnelled()
    left = {number_of(each.frame): each.frame
            for each in device.run([Arrival(place * 1_000_000, IN, frame) for place, frame in enumerate(sent.values())])
            if each.port == OUT}  # fmt: skip
    wrong = [name for number, (name, frame) in enumerate(wanted.items()) if left.get(number) != frame]
    return judged(not wrong, f"not {asked}: {', '.join(wrong)}" if wrong else f"{len(wanted)} kinds {asked}")


@check("RFC 2983", "3", Level.DESCRIBED, "inside the network a tunnel's packets are treated by the outer code point")
def the_outer_code_point_counts(device: Device) -> Finding:
    """The policy knows both code points, and would mark otherwise by the inner one."""
    policy = CONNECTED + (
        f"actions: [{{name: right, set-dscp: {_NEW}}}, {{name: wrong, set-dscp: 1}}]\n"
        "behaviour-aggregates:\n"
        "  - {name: outer, dscp: AF11, actions: [right]}\n"
        "  - {name: inner, dscp: EF, actions: [wrong]}\n"
    )
    return _as_wanted(device, policy, tunnelled(_NEW << 2 | 2), "marked by the outer header, the rest as it came")


@check("RFC 2983", "3", Level.DESCRIBED, "a node on the way leaves the packet inside as it is")
def the_packet_inside_is_left_alone(device: Device) -> Finding:
    """A router counts its hop in the outer header."""
    return _as_wanted(device, ROUTED, _routed(tunnelled(ttl=63)), "changed in the outer header's hop count alone")


def _routed(frames: dict[str, bytes]) -> dict[str, bytes]:
    addresses = bytes.fromhex((NEXT_HOP + "020000000009").replace(":", ""))
    return {name: addresses + frame[12:] for name, frame in frames.items()}


@check(
    "RFC 2983", "3", Level.DESCRIBED, "congestion on the way is marked in the outer header",
    needs=(Capability.EARLY_DETECTION,), virtual=True,
)  # fmt: skip
def congestion_is_marked_outside(device: Device) -> Finding:
    """ECN-capable outer headers meet a long queue."""
    device.push(early.policy("{dscp: 10, minimum: 0, maximum: 4000, denominator: 1}", ecn=True))
    kinds, rounds = list(tunnelled().values()), 200
    marked = list(tunnelled(_OUTER | 3).values())
    arrivals = [Arrival(place, IN, kinds[place % len(kinds)]) for place in range(rounds * len(kinds))]
    left = [each.frame for each in device.run(arrivals, lines={OUT: Line(early.LINE_BPS)})]
    seen = {number for number, frame in enumerate(marked) if frame in left}
    other = sum(frame not in kinds and frame not in marked for frame in left)
    count = sum(tos_of(frame) & 3 == 3 for frame in left)
    return judged(
        len(seen) == len(kinds) and other == 0,
        f"{count} of {len(left)} packets marked, of {len(seen)} of {len(kinds)} kinds; {other} changed otherwise",
    )


@check("RFC 2983", "4", Level.DESCRIBED, "code points are copied or set where a tunnel begins, by the tunnel's model")
def tunnels_begin(device: Device) -> Finding:
    return not_applicable("phb makes no tunnels: uniform and pipe model are choices of the node that encapsulates")


@check("RFC 2983", "5", Level.DESCRIBED, "code points are conditioned where a tunnel ends")
def tunnels_end(device: Device) -> Finding:
    return not_applicable("phb ends no tunnels: which code point goes on is a choice of the node that decapsulates")
