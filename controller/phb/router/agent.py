"""What a router's control plane does with the packets that the switch hands over: time and bytes in, frames out."""

from __future__ import annotations

from dataclasses import dataclass, field

from phb.explain.stages.router import MARTIAN_SOURCES
from phb.pipeline_names import ForwardingException
from phb.router import arp, fragmentation, icmp, options
from phb.router import neighbour_discovery as nd
from phb.router.icmp import Error
from phb.router.rate_limit import TokenBucket
from phb.router.view import View
from phb.router.wire import ARP, ICMP, ICMPV6, IPV4, IPV6, UDP, checksum, finished, frame
from phb.values import parse_address

ASK_EVERY_S = 1.0
ASK_TIMES = 3
"""RFC 4861 section 10: RETRANS_TIMER, MAX_MULTICAST_SOLICIT."""
CONFIRM_EVERY_S = 60.0
"""RFC 1122 section 2.3.2.1: an ARP entry of no more than about a minute."""
MOST_WAITING = 3
"""Packets kept for a neighbour that is being asked for; RFC 1122 section 2.3.2.2 asks for one at least."""
MOST_NEIGHBOURS = 16384

Key = tuple[int, bytes]


@dataclass
class Neighbour:
    """What is known of a next hop, and since when; without a MAC address it is being asked for."""

    mac: bytes | None = None
    confirmed: float = 0.0
    asked: float = 0.0
    tries: int = 0
    waiting: list[bytes] = field(default_factory=list)


@dataclass
class Agent:
    """One router's control plane.

    Attributes:
        view: What the router is.
        errors: Bounds ICMP errors, and
        echoes: echo replies (RFC 1812 section 4.3.2.8), and
        slow: packets that are forwarded here.
        neighbours: By port and address.

    """

    view: View = field(default_factory=View)
    errors: TokenBucket = field(default_factory=lambda: TokenBucket(100, 20))
    echoes: TokenBucket = field(default_factory=lambda: TokenBucket(500, 100))
    slow: TokenBucket = field(default_factory=lambda: TokenBucket(1000, 100))
    neighbours: dict[Key, Neighbour] = field(default_factory=dict)
    _out: list[tuple[int, bytes]] = field(default_factory=list)

    def packet_in(self, now: float, port: int, exception: int, data: bytes) -> list[tuple[int, bytes]]:
        """A packet that the switch hands over; gives (port, frame) to send. `now` is in seconds and never decreases."""
        self._out = []
        interface = self.view.interfaces.get(port)
        if interface is not None and len(data) >= 34:
            kind = int.from_bytes(data[12:14])
            if kind == ARP:
                self._arp(now, port, data[14:])
            elif (datagram := _datagram(kind, data[14:])) is not None:
                self._take(now, port, exception, data[6:12], datagram)
        return self._out

    def tick(self, now: float) -> list[tuple[int, bytes]]:
        """Ask again, confirm, forget; gives (port, frame) to send."""
        self._out = []
        for key, known in list(self.neighbours.items()):
            stale = known.mac is None or now - known.confirmed >= CONFIRM_EVERY_S
            if not stale or now - known.asked < ASK_EVERY_S:
                continue
            if known.tries < ASK_TIMES and key[0] in self.view.interfaces:
                self._ask(now, key, known)
                continue
            del self.neighbours[key]
            for datagram in known.waiting:
                self._error(now, datagram, Error.HOST_UNREACHABLE)
        return self._out

    # -- packets for the router ---------------------------------------------

    def _take(self, now: float, port: int, exception: int, mac: bytes, datagram: bytes) -> None:
        match exception:
            case ForwardingException.FOR_ROUTER:
                self._own(now, port, mac, datagram)
            case ForwardingException.TTL_EXPIRED:
                self._error(now, datagram, Error.TIME_EXCEEDED)
            case ForwardingException.NO_ROUTE:
                self._error(now, datagram, Error.NO_ROUTE)
            case ForwardingException.NO_NEIGHBOUR | ForwardingException.TOO_BIG:
                self._forward(now, datagram)
            case ForwardingException.OPTIONS:
                self._with_options(now, port, mac, datagram)

    def _arp(self, now: float, port: int, payload: bytes) -> None:
        message = arp.parse(payload)
        if message is None or message.sender in self.view.own:
            return
        mine = self.view.own.get(message.target) == port
        on_link = self._is_on_link(port, message.sender)
        if (mine or (port, message.sender) in self.neighbours) and on_link:
            self._learn(now, (port, message.sender), message.mac, create=mine)
        if mine and message.is_request and (on_link or not any(message.sender)):
            self._out.append((port, arp.reply(message, self.view.interfaces[port].mac)))

    def _own(self, now: float, port: int, mac: bytes, datagram: bytes) -> None:
        version = datagram[0] >> 4
        protocol = datagram[9] if version == 4 else datagram[6]
        if version == 6 and protocol == ICMPV6 and datagram[40:41] in (b"\x87", b"\x88"):
            self._discover(now, port, mac, datagram)
            return
        to = datagram[16:20] if version == 4 else datagram[24:40]
        if to not in self.view.own and to != self.view.interfaces[port].link_local:
            return
        reply = icmp.echo_reply(datagram) if protocol in (ICMP, ICMPV6) and icmp.may_be_told(datagram) else None
        if reply is not None:
            if self.echoes.take(now):
                self._originate(now, reply, port)
        elif protocol == UDP:
            self._error(now, datagram, Error.PORT_UNREACHABLE)
        elif protocol not in (ICMP, ICMPV6):
            self._error(now, datagram, Error.PROTOCOL_UNREACHABLE)

    def _discover(self, now: float, port: int, mac: bytes, datagram: bytes) -> None:
        target = nd.target(datagram)
        pseudo = datagram[8:40] + (len(datagram) - 40).to_bytes(4) + bytes((0, 0, 0, ICMPV6))
        if target is None or checksum(pseudo + datagram[40:]):
            return
        interface = self.view.interfaces[port]
        sender, address = datagram[8:24], nd.link_address(datagram)
        if datagram[40] == nd.ADVERTISEMENT:
            if address is not None and (port, target) in self.neighbours:
                self._learn(now, (port, target), address)
        elif self.view.own.get(target) == port or target == interface.link_local:
            if any(sender) and address is not None and self._is_on_link(port, sender):
                self._learn(now, (port, sender), address, create=True)
            self._out.append((port, nd.advertisement(datagram, address or mac, interface.mac, target)))

    def _is_on_link(self, port: int, address: bytes) -> bool:
        hop = self.view.hop(address)
        return address[:2] == b"\xfe\x80" or (hop is not None and hop.port == port and hop.next_hop == address)

    # -- packets that are forwarded here ------------------------------------

    def _with_options(self, now: float, port: int, mac: bytes, datagram: bytes) -> None:
        try:
            stop = options.next_stop(datagram)
            if datagram[16:20] in self.view.own and stop is not None:
                address, at, strict = stop
                hop = self.view.hop(address)
                mine = self.view.source(hop.port, address) if hop is not None else None
                if hop is None or mine is None or (strict and hop.next_hop != address):
                    self._error(now, datagram, Error.SOURCE_ROUTE_FAILED)
                    return
                datagram = (
                    finished(options.recorded(datagram, at, mine)[: 4 * (datagram[0] & 15)])
                    + datagram[4 * (datagram[0] & 15) :]
                )
                datagram = (
                    finished(datagram[:16] + address + datagram[20 : 4 * (datagram[0] & 15)])
                    + datagram[4 * (datagram[0] & 15) :]
                )
        except options.BadOptionError as error:
            self._error(now, datagram, Error.PARAMETER_PROBLEM, error.at)
            return
        if datagram[16:20] in self.view.own:
            self._own(now, port, mac, datagram)
        else:
            self._forward(now, datagram)

    def _forward(self, now: float, datagram: bytes) -> None:
        """As the switch would, for what it leaves to us: options, fragments, next hops to be asked for."""
        version = datagram[0] >> 4
        source, to = (datagram[12:16], datagram[16:20]) if version == 4 else (datagram[8:24], datagram[24:40])
        if _is_martian(source) or (version == 4 and (to[0] in (0, 127) or to[0] >= 240)) or not self.slow.take(now):
            return
        entry = self.view.route(to)
        hop = self.view.hop(to)
        hops_at = 8 if version == 4 else 7
        if datagram[hops_at] <= 1:
            self._error(now, datagram, Error.TIME_EXCEEDED)
        elif entry is None:
            self._error(now, datagram, Error.NO_ROUTE)
        elif hop is not None:
            interface = self.view.interfaces.get(hop.port)
            mtu = interface.mtu if interface is not None else 65535
            if len(datagram) > mtu and (version == 6 or datagram[6] & 0x40):
                self._error(now, datagram, Error.TOO_BIG, mtu)
                return
            onwards = datagram[:hops_at] + bytes((datagram[hops_at] - 1,)) + datagram[hops_at + 1 :]
            if version == 4:
                size = 4 * (onwards[0] & 15)
                if size > 20 and (mine := self.view.source(hop.port, to)) is not None:
                    onwards = options.record_route(onwards, mine)
                onwards = finished(onwards[:size]) + onwards[size:]
            for part in fragmentation.fragments(onwards, mtu) if len(onwards) > mtu else [onwards]:
                self._send(now, part, to)

    # -- sending ------------------------------------------------------------

    def _error(self, now: float, datagram: bytes, what: Error, value: int = 0) -> None:
        if not icmp.may_be_told(datagram):
            return
        sender = datagram[12:16] if datagram[0] >> 4 == 4 else datagram[8:24]
        hop = self.view.hop(sender)
        if hop is None or _is_martian(sender):
            return
        source = self.view.source(hop.port, sender)
        if source is not None and self.errors.take(now):
            self._originate(now, icmp.error(source, datagram, what, value), hop.port)

    def _originate(self, now: float, datagram: bytes, port: int) -> None:
        to = datagram[16:20] if datagram[0] >> 4 == 4 else datagram[24:40]
        self._send(now, datagram, to, port)

    def _send(self, now: float, datagram: bytes, to: bytes, port: int | None = None) -> None:
        """To where the routes say, over `port` to what is link-local."""
        kind = IPV4 if len(to) == 4 else IPV6
        hop = self.view.hop(to)
        if hop is not None and hop.next_hop is None:
            self._out.append((hop.port, (hop.macs + kind.to_bytes(2) + datagram).ljust(60, b"\0")))
            return
        if hop is not None:
            port, to = hop.port, hop.next_hop or to
        elif port is None or to[:2] != b"\xfe\x80":
            return
        interface = self.view.interfaces.get(port)
        if interface is None:
            return
        known = self.neighbours.get((port, to))
        if known is None:
            if len(self.neighbours) >= MOST_NEIGHBOURS:
                return
            known = self.neighbours[port, to] = Neighbour()
            self._ask(now, (port, to), known)
        if known.mac is None:
            known.waiting = [*known.waiting, datagram][-MOST_WAITING:]
        else:
            self._out.append((port, frame(known.mac, interface.mac, kind, datagram)))

    def _ask(self, now: float, key: Key, known: Neighbour) -> None:
        port, address = key
        interface = self.view.interfaces[port]
        known.asked, known.tries = now, known.tries + 1
        mine = self.view.source(port, address)
        if len(address) == 4:
            self._out.append((port, arp.request(interface.mac, mine or bytes(4), address, known.mac or arp.BROADCAST)))
        else:
            self._out.append((port, nd.solicitation(interface.mac, mine or interface.link_local, address)))

    def _learn(self, now: float, key: Key, mac: bytes, *, create: bool = False) -> None:
        if key not in self.neighbours and (not create or len(self.neighbours) >= MOST_NEIGHBOURS):
            return
        known = self.neighbours.setdefault(key, Neighbour())
        known.mac, known.confirmed, known.tries = mac, now, 0
        waiting, known.waiting = known.waiting, []
        kind = IPV4 if len(key[1]) == 4 else IPV6
        self._out += [(key[0], frame(mac, self.view.interfaces[key[0]].mac, kind, each)) for each in waiting]


def _datagram(kind: int, payload: bytes) -> bytes | None:
    """The IP packet without padding; None where its header isn't whole."""
    if kind == IPV4 and len(payload) >= 20 and payload[0] >> 4 == 4:
        header, length = 4 * (payload[0] & 15), int.from_bytes(payload[2:4])
        return payload[:length] if 20 <= header <= length <= len(payload) else None
    if kind == IPV6 and len(payload) >= 40 and payload[0] >> 4 == 6:
        length = 40 + int.from_bytes(payload[4:6])
        return payload[:length] if length <= len(payload) else None
    return None


def _is_martian(source: bytes) -> bool:
    if source[:2] == b"\xfe\x80":
        return False
    if len(source) == 4:
        return source[0] in (0, 127) or source[0] >= 224
    address = parse_address(_written(source))
    return any(address in each for each in MARTIAN_SOURCES)


def _written(address: bytes) -> str:
    return ":".join(address[at : at + 2].hex() for at in range(0, 16, 2))
