"""RFC 1812: requirements on a router's forwarding and its queues, as far as a data plane can meet them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from scapy.layers.inet import ICMP, IP, UDP, IPOption, IPOption_LSRR, IPOption_RR
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Packet

from phb.targets import Capability
from phb_conform.check import Finding, Level, check, failed, judged
from phb_conform.probing import (
    IN,
    NEXT_HOP,
    OUT,
    ROUTED,
    by_level,
    datagram,
    framed,
    header_checksum_is_right,
    ip,
    number_of,
    numbered,
    order,
    shaped,
    through,
)
from phb_conform.router import MAC, ROUTER, control_plane
from phb_device import NODE, Control, Device, entry

_QUEUES = (Capability.SHAPING, Capability.STRICT_LEVELS)
_EVERYWHERE = "  - {destination: 0.0.0.0/0, next-hop: 10.0.2.1}\n"
"""A default route."""

_PRECEDENCES = tuple(range(8))
_NO_ROUTE, _TTL_EXPIRED = 2, 1
"""ForwardingException of p4src/headers.p4."""


def to_router(frame: bytes) -> bytes:
    """Address a frame to the router's MAC address, unless it is for all."""
    return frame if frame[0] & 1 else bytes.fromhex(MAC.replace(":", "")) + frame[6:]


@contextmanager
def _router(device: Device, more: str = "") -> Iterator[None]:
    """Run a router with its control plane, which knows hosts on both sides."""
    device.push(ROUTER + more)
    with control_plane(device):
        for port, address, own in ((IN, "10.0.1.1", "10.0.1.254"), (OUT, "10.0.2.1", "10.0.2.254")):
            asked = Ether(src=NEXT_HOP, dst="ff:ff:ff:ff:ff:ff") / ARP(hwsrc=NEXT_HOP, psrc=address, pdst=own)
            device.exchange(port, bytes(asked))
        # It writes learnt entries before it answers the next packet.
        device.exchange(IN, to_router(datagram()))
        yield


def _udp(header: Packet, number: int = 0) -> bytes:
    return framed(header / UDP(sport=1000, dport=2000), number)


def _dropped(device: Device, policy: str, frames: Mapping[str, bytes]) -> Finding:
    """None of the frames is forwarded, while a sound packet is."""
    device.push(policy)
    sound = datagram(0xABCD)
    wrong = [name for name, frame in frames.items() if device.exchange(IN, frame, expected=0)]
    if len(device.exchange(IN, sound)) != 1:
        return failed("a sound packet is not forwarded")
    said = f"forwarded: {', '.join(wrong)}" if wrong else f"dropped: {', '.join(frames)}"
    return judged(not wrong, said)


@check("RFC 1812", "4.2.2.5", Level.MUST, "the header's checksum is verified; a packet with a wrong one is dropped")
def wrong_checksums_are_dropped(device: Device) -> Finding:
    """One wrong bit in each of the header's octets behind the first, whatever it means."""
    sound = datagram()
    damaged = {}
    for at in (1, 4, 6, 8, 9, 10, 12, 16, 19):
        frame = bytearray(sound)
        frame[14 + at] ^= 0x01
        damaged[f"octet {at}"] = bytes(frame)
    return _dropped(device, ROUTED, damaged)


def _with_right_checksum(**fields: int) -> bytes:
    """A datagram with these fields, and a checksum that is right for them."""
    header = ip()
    for name, value in fields.items():
        header.setfieldval(name, value)
    return _udp(header)


@check("RFC 1812", "5.2.2", Level.MUST, "headers of another version, or of impossible lengths, are dropped")
def impossible_headers_are_dropped(device: Device) -> Finding:
    """Their checksums are right."""
    return _dropped(
        device,
        ROUTED,
        {
            "version 5": _with_right_checksum(version=5),
            "a header of 16 bytes": _with_right_checksum(ihl=4),
            "a datagram shorter than its header": _with_right_checksum(len=19),
            "a frame that ends in the header": datagram()[: 14 + 18],
        },
    )


@check("RFC 1812", "5.2.2", Level.SHOULD, "a packet that is shorter than its length says is dropped as truncated")
def truncated_packets_are_dropped(device: Device) -> Finding:
    """The last octet is missing."""
    with _router(device):
        cut = device.exchange(IN, to_router(datagram(size=200))[:-1], expected=0)
        whole = device.exchange(IN, to_router(datagram(size=200)))
    return judged(not cut and len(whole) == 1, "dropped, while the whole packet is forwarded")


@check("RFC 1812", "5.3.1", Level.MUST, "TTL counts the hop, and the checksum is right afterwards")
def hops_are_counted(device: Device) -> Finding:
    """TTL and hop limit from 2 to 255, next hop's addresses, the rest byte for byte."""
    device.push(ROUTED)
    hops = [(version, ttl) for version in (4, 6) for ttl in (2, 3, 64, 128, 255)]
    left = through(device, [datagram(n, version=version, ttl=ttl) for n, (version, ttl) in enumerate(hops)])
    addresses = bytes.fromhex((NEXT_HOP + "020000000009").replace(":", ""))
    right = [
        n
        for n, (version, ttl) in enumerate(hops)
        if left.get(n) == addresses + datagram(n, version=version, ttl=ttl - 1)[12:]
    ]
    return judged(len(right) == len(hops), f"{len(right)} of {len(hops)} packets one hop further, checksums right")


@check("RFC 1812", "5.3.1", Level.MUST, "a packet whose TTL has run out is not forwarded")
def expired_packets_are_dropped(device: Device) -> Finding:
    """TTL and hop limit 1 and 0."""
    return _dropped(
        device,
        ROUTED,
        {f"IPv{version} with {ttl}": datagram(version=version, ttl=ttl) for version in (4, 6) for ttl in (1, 0)},
    )


@check("RFC 1812", "5.2.4.3", Level.MUST, "of routes that fit, the one with the longest prefix is taken")
def the_longest_prefix_is_taken(device: Device) -> Finding:
    """Three nested prefixes to three ports, and a part of the innermost that is discarded."""
    routes = (("10.0.0.0/8", "line"), ("10.0.2.0/24", "third"), ("10.0.2.128/25", "fourth"))
    device.push(
        NODE
        + "routes:\n  - {destination: 10.0.2.200/32, discard: true}\n"
        + "".join(
            f"  - {{destination: {to}, port: {port}, source-mac: '02:00:00:00:00:09', destination-mac: '{NEXT_HOP}'}}\n"
            for to, port in routes
        )
    )
    wanted = {"10.0.3.1": [1], "10.0.2.1": [3], "10.0.2.129": [4], "10.0.2.200": [], "11.0.0.1": []}
    found = {
        to: [port for port, _ in device.exchange(IN, _udp(IP(src="10.0.1.1", dst=to)), len(ports))]
        for to, ports in wanted.items()
    }
    return judged(found == wanted, "; ".join(f"{to} by port {ports or 'none'}" for to, ports in found.items()))


@check("RFC 1812", "4.2.2.1", Level.MUST, "options that the router does not know are forwarded unchanged")
def unknown_options_are_kept(device: Device) -> Finding:
    """Option 30, alone and after no-operations, and the longest header."""

    def with_option(option: str, ttl: int) -> bytes:
        return _udp(IP(src="10.0.1.1", dst="10.0.2.1", ttl=ttl, options=[IPOption(bytes.fromhex(option))]))

    options = ("9e04abcd", "01019e06abcdef01", "9e28" + "5a" * 38)
    device.push(ROUTED)
    left = through(device, [numbered(with_option(option, 64), number) for number, option in enumerate(options)])
    same = sum(
        number in left and left[number][12:] == numbered(with_option(option, 63), number)[12:]
        for number, option in enumerate(options)
    )
    return judged(same == 3, f"{same} of 3 headers as they came, with TTL and checksum of the next hop")


@check("RFC 1812", "5.2.4.2", Level.MUST, "source routes and record routes are followed and filled in")
def route_options_are_processed(device: Device) -> Finding:
    """A record route with room for two addresses; a loose source route through the router."""
    record = IP(src="10.0.1.1", dst="10.0.2.1", options=[IPOption_RR(routers=["0.0.0.0", "0.0.0.0"])])
    source = IP(src="10.0.1.1", dst="10.0.1.254", options=[IPOption_LSRR(routers=["10.0.2.1"])])
    with _router(device):
        left = [device.exchange(IN, to_router(_udp(header))) for header in (record, source)]
    if not all(left):
        return failed("a packet with a record route or a source route is dropped")
    (recorded, routed) = (Ether(packets[0][1])[IP] for packets in left)
    found = [recorded.options[0].routers[0], recorded.options[0].pointer, routed.dst, routed.options[0].routers[0]]
    return judged(
        found == ["10.0.2.254", 8, "10.0.2.1", "10.0.2.254"],
        f"recorded {found[0]}, pointer {found[1]}; sent on to {found[2]} with {found[3]} in the route",
    )


def _handed_over(device: Device, frames: Iterable[bytes], code: int) -> list[str]:
    """Describe what is wrong with packets for the control plane, given an entry for their exception."""
    wrong = []
    with Control(device.address) as control:
        control.write([entry("forward.exception", {"code": code}, "to_controller")])
        for frame in frames:
            if device.exchange(IN, frame, expected=0):
                wrong.append("forwarded")
            packet = control.packet_in(5)
            if packet is None:
                wrong.append("lost")
            elif (packet["ingress_port"], packet["exception"]) != (IN, code) or number_of(packet.payload) != 7:
                wrong.append(f"other metadata: {packet}")
    return wrong


@check("RFC 1812", "4.3.3.4", Level.MUST, "the control plane learns of packets whose TTL runs out, by whom they came")
def expired_packets_reach_the_control_plane(device: Device) -> Finding:
    """With an entry by hand; no policy asks for it."""
    device.push(ROUTED)
    wrong = _handed_over(device, [datagram(7, version=version, ttl=1) for version in (4, 6)], _TTL_EXPIRED)
    return judged(not wrong, ", ".join(wrong) or "given an entry, IPv4 and IPv6 packets come with port and reason")


@check("RFC 1812", "4.3.3.1", Level.MUST, "the control plane learns of packets without a route, by whom they came")
def unroutable_packets_reach_the_control_plane(device: Device) -> Finding:
    """With an entry by hand; no policy asks for it."""
    device.push(ROUTED)
    wrong = _handed_over(device, [_udp(IP(src="10.0.1.1", dst="10.9.9.9"), 7)], _NO_ROUTE)
    return judged(not wrong, ", ".join(wrong) or "given an entry, they come with port and reason")


def _answered(device: Device, frame: bytes, kind: int, words: str) -> Finding:
    with _router(device):
        left = device.exchange(IN, to_router(frame))
    if not left:
        return failed(f"dropped, and no {words} is sent")
    answers = [Ether(data)[ICMP].type for port, data in left if port == IN]
    return judged(answers == [kind], f"answered with ICMP types {answers}")


@check("RFC 1812", "4.3.3.4", Level.MUST, "whoever sent a packet whose TTL runs out is told by ICMP")
def time_exceeded_is_sent(device: Device) -> Finding:
    return _answered(device, datagram(ttl=1), 11, "Time Exceeded")


@check("RFC 1812", "5.2.7.1", Level.MUST, "whoever sent a packet without a route is told by ICMP")
def destination_unreachable_is_sent(device: Device) -> Finding:
    return _answered(device, _udp(IP(src="10.0.1.1", dst="192.0.2.9")), 3, "Destination Unreachable")


@check("RFC 1812", "5.2.7.1", Level.MUST, "a packet without a route is not forwarded")
def packets_without_a_route_are_dropped(device: Device) -> Finding:
    """Another network, and IPv6's."""
    frames = {"10.9.9.9": _udp(IP(src="10.0.1.1", dst="10.9.9.9"))}
    other = ip(version=6)
    other.dst = "fd00:9::1"
    return _dropped(device, ROUTED, frames | {"fd00:9::1": _udp(other)})


@check("RFC 1812", "5.3.7", Level.SHOULD, "packets from or to addresses that can't be, or only at home, are dropped")
def martians_are_dropped(device: Device) -> Finding:
    """By a default route they would go out."""
    return _not_forwarded(device, _martians())


def _martians() -> dict[str, bytes]:
    sources = ("0.0.0.0", "127.0.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255")
    destinations = ("0.0.0.1", "127.0.0.1", "240.0.0.1")
    frames = {f"from {each}": _udp(IP(src=each, dst="10.0.2.1")) for each in sources}
    frames |= {f"to {each}": _udp(IP(src="10.0.1.1", dst=each)) for each in destinations}
    return frames


def _not_forwarded(device: Device, frames: Mapping[str, bytes]) -> Finding:
    """At a router's ports none of the frames is forwarded, while a sound packet is."""
    with _router(device, _EVERYWHERE):
        wrong = [name for name, frame in frames.items() if device.exchange(IN, to_router(frame), expected=0)]
        if len(device.exchange(IN, to_router(datagram(0xABCD)))) != 1:
            return failed("a sound packet is not forwarded")
    return judged(not wrong, f"forwarded: {', '.join(wrong)}" if wrong else f"dropped: {', '.join(frames)}")


@check("RFC 1812", "5.3.5.1", Level.MUST, "the limited broadcast is not forwarded")
def limited_broadcasts_are_dropped(device: Device) -> Finding:
    return _not_forwarded(device, {"to 255.255.255.255": _udp(IP(src="10.0.1.1", dst="255.255.255.255"))})


@check(
    "RFC 1812",
    "5.3.4",
    Level.MUST,
    "what came as a broadcast of the link is not forwarded, but to groups",
)
def link_broadcasts_are_dropped(device: Device) -> Finding:
    """To ff:ff:ff:ff:ff:ff, for a host behind a route."""
    return _not_forwarded(device, {"to ff:ff:ff:ff:ff:ff": b"\xff" * 6 + datagram()[6:]})


@check("RFC 1812", "5.3.5.2", Level.MUST, "directed broadcasts are dropped unless configured otherwise (RFC 2644)")
def directed_broadcasts_are_dropped(device: Device) -> Finding:
    """The network behind the egress port, and the one that the packet comes from."""
    ends = ("10.0.2.255", "10.0.2.0", "10.0.1.255")
    return _not_forwarded(device, {f"to {each}": _udp(IP(src="10.0.1.1", dst=each)) for each in ends})


@check("RFC 1812", "4.2.2.7", Level.MUST, "packets that are too long for the next link are fragmented")
def long_packets_are_fragmented(device: Device) -> Finding:
    """1400 bytes to a link of 1000; with "don't fragment" the sender gets an error."""
    with _router(device):
        parts = [Ether(data)[IP] for _, data in device.exchange(IN, to_router(datagram(size=1414)), 2)]
        whole = ip()
        whole.flags = "DF"
        told = device.exchange(IN, to_router(bytes(_udp(whole / (b"x" * 1380)))))
    lengths = sorted(part.len for part in parts)
    mtus = [Ether(data)[ICMP].nexthopmtu for port, data in told if port == IN]
    return judged(
        len(lengths) == 2 and max(lengths) <= 1000 and sum(lengths) == 1420 and mtus == [1000],
        f"fragments of {lengths} bytes; where it may not be fragmented, the sender is told an MTU of {mtus}",
    )


@check("RFC 1812", "5.3.8", Level.SHOULD, "packets can be checked for sources that do not belong where they come from")
def sources_can_be_validated(device: Device) -> Finding:
    """A rule per port: blocked unless from its network."""
    rule = "{name: spoofed, permission: blocked, match: {ingress-port: lan}, unless: {source: 10.0.1.0/24}}"
    device.push(f"{ROUTED}rules: [{rule}]\n")
    wanted = {"10.0.1.1": 1, "10.0.3.1": 0, "192.0.2.1": 0}
    found = {each: len(device.exchange(IN, _udp(IP(src=each, dst="10.0.2.1")), wanted[each])) for each in wanted}
    return judged(found == wanted, ", ".join(f"from {each}: {'sent' if n else 'dropped'}" for each, n in found.items()))


@check("RFC 1812", "5.3.3.3", Level.MUST, "all precedences are accepted, and none is changed unless so configured")
def all_precedences_are_forwarded(device: Device) -> Finding:
    """All 256 ToS octets."""
    device.push(ROUTED)
    frames = [datagram(octet, tos=octet) for octet in range(256)]
    left = through(device, frames)
    kept = sum(number in left and left[number][15] == number for number in range(256))
    sound = all(header_checksum_is_right(frame) for frame in left.values())
    return judged(kept == 256 and sound, f"{kept} of 256 octets left as they came")


def _by_precedence(device: Device, policy: str) -> str:
    device.push(policy)
    sent = [*_PRECEDENCES, *_PRECEDENCES]
    left = order(device, [datagram(number, tos=precedence << 5) for number, precedence in enumerate(sent)])
    return "".join(str(sent[number]) for number in left)


@check(
    "RFC 1812", "5.3.3.1", Level.SHOULD, "of what waits, the packet of the highest precedence is sent", needs=_QUEUES
)
def higher_precedences_leave_first(device: Device) -> Finding:
    """Two packets of each precedence, the lowest first."""
    found = _by_precedence(device, _PRECEDENCE_ORDERED)
    return judged(found == "7766554433221100", f"precedences left in the order {found}")


@check("RFC 1812", "5.3.3.1", Level.MUST, "precedence-ordered service can be switched off", needs=_QUEUES)
def precedence_order_can_be_switched_off(device: Device) -> Finding:
    found = _by_precedence(device, shaped())
    return judged(found == "0123456701234567", f"precedences left in the order {found}")


@check(
    "RFC 1812",
    "5.3.6",
    Level.MUST,
    "with precedence-ordered service, none is dropped while one of lower precedence is kept",
    needs=(*_QUEUES, Capability.QUEUE_LIMITS, Capability.PUSH_OUT),
)
def lower_precedences_are_dropped_first(device: Device) -> Finding:
    """A hold queue of eight with push-out, full of precedence 0, and then precedence 7."""
    device.push(_PRECEDENCE_ORDERED + "    hold-queue: 8\n    push-out: true\n")
    left = order(device, [datagram(number, tos=0xE0 if number >= 8 else 0) for number in range(10)])
    kept = sum(number < 8 for number in left)
    if 8 in left and 9 in left:
        return judged(kept <= 6, f"both packets of precedence 7 left, and {kept} of precedence 0")
    return failed(
        f"{2 - sum(number >= 8 for number in left)} packets of precedence 7 dropped, {kept} of precedence 0 kept"
    )


_PRECEDENCE_ORDERED = by_level(_PRECEDENCES[:0:-1]).replace("dscp:", "precedence:")
