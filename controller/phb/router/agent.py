"""A router's control plane for the packets that the switch hands over: time and bytes in, frames out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from phb.pipeline_names import ForwardingException
from phb.router import arp, fragmentation, icmp, options
from phb.router import neighbour_discovery as nd
from phb.router.icmp import Error
from phb.router.rate_limit import TokenBucket
from phb.router.view import View
from phb.router.wire import (
    ARP,
    ICMP,
    ICMPV6,
    IPV4,
    IPV6,
    NOTHING,
    UDP,
    checksum,
    finished,
    frame,
    pseudo_header,
    upper_layer,
)
from phb.values.martians import MARTIAN_SOURCES

ASK_EVERY_S = 1.0
ASK_TIMES = 3
"""RFC 4861 section 10: RETRANS_TIMER, MAX_MULTICAST_SOLICIT."""
CONFIRM_EVERY_S = 60.0
"""RFC 1122 section 2.3.2.1: an ARP entry of no more than about a minute."""
MOST_WAITING = 3
"""Packets kept for a neighbour that is being asked for; RFC 1122 section 2.3.2.2 asks for one at least."""
MOST_NEIGHBOURS = 16384
MOST_ASKED_FOR = 1024
"""Neighbours without an answer yet, so that a scan of a large network keeps few packets waiting (RFC 6583)."""
MOST_ASKED_AT_ONCE = 64
"""Questions in one tick, so that many neighbours aren't confirmed in one burst."""

_GROUPS = frozenset(bytes.fromhex("ff02" + "0" * 27 + last) for last in "12")
"""All nodes and all routers of a link (RFC 4291 section 2.7.1)."""
_MARTIANS = tuple((int(each.network_address), int(each.netmask)) for each in MARTIAN_SOURCES if each.version == 6)

Key = tuple[int, bytes]


@dataclass
class Neighbour:
    """A next hop, and since when it is known; without a MAC address it is being asked for."""

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
        changed: Whose MAC address has been learnt or forgotten; whoever writes them to the switch clears it.
        duplicates: Stations that have claimed an address of ours, by port and address; whoever tells of them clears it.

    """

    view: View = field(default_factory=View)
    errors: TokenBucket = field(default_factory=lambda: TokenBucket(100, 20))
    echoes: TokenBucket = field(default_factory=lambda: TokenBucket(500, 100))
    slow: TokenBucket = field(default_factory=lambda: TokenBucket(1000, 100))
    neighbours: dict[Key, Neighbour] = field(default_factory=dict)
    changed: set[Key] = field(default_factory=set)
    duplicates: dict[Key, bytes] = field(default_factory=dict)
    _asked_for: int = 0
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
        self._out, asked = [], 0
        for key, known in list(self.neighbours.items()):
            stale = known.mac is None or now - known.confirmed >= CONFIRM_EVERY_S
            if not stale or now - known.asked < ASK_EVERY_S:
                continue
            if known.tries < ASK_TIMES:
                if asked < MOST_ASKED_AT_ONCE:
                    asked += 1
                    self._ask(now, key, known)
                continue
            self._forget(key)
            for datagram in known.waiting:
                self._error(now, datagram, Error.HOST_UNREACHABLE)
        return self._out

    def look(self, view: View) -> None:
        """Take what the router has become; neighbours that are behind none of its ports any more are forgotten."""
        self.view = view
        for key in [key for key in self.neighbours if key[0] not in view.interfaces or not self.view.is_on_link(*key)]:
            self._forget(key)

    def adopt(self, neighbours: Iterable[tuple[Key, bytes]]) -> None:
        """Take over what another agent has learnt: believed until it doesn't answer, and asked soon."""
        for key, mac in neighbours:
            if key not in self.neighbours and len(self.neighbours) < MOST_NEIGHBOURS:
                self.neighbours[key] = Neighbour(mac, float("-inf"))
                self.changed.add(key)

    def forget_all(self) -> None:
        """As new: another agent answers now."""
        for key in list(self.neighbours):
            self._forget(key)

    def _forget(self, key: Key) -> None:
        if self.neighbours.pop(key).mac is None:
            self._asked_for -= 1
        else:
            self.changed.add(key)

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
        if message is None:
            return
        if message.sender in self.view.own:
            self._is_ours(port, message.sender, message.mac)
            return
        mine = self.view.own.get(message.target) == port
        on_link = self.view.is_on_link(port, message.sender)
        if (mine or (port, message.sender) in self.neighbours) and on_link:
            self._learn(now, (port, message.sender), message.mac, create=mine)
        # A host may ask with an address that isn't of the link: Linux does, with whatever it sends from.
        if mine and message.is_request and (not any(message.sender) or not _is_martian(message.sender)):
            self._out.append((port, arp.reply(message, self.view.interfaces[port].mac)))

    def _is_ours(self, port: int, address: bytes, mac: bytes) -> None:
        """Note a station that says it has an address of ours."""
        if self.view.own[address] == port and mac != self.view.interfaces[port].mac:
            self.duplicates[port, address] = mac

    def _own(self, now: float, port: int, mac: bytes, datagram: bytes) -> None:
        version = datagram[0] >> 4
        protocol = datagram[9] if version == 4 else upper_layer(datagram)[0]
        if version == 6 and datagram[6] == ICMPV6 and datagram[40:41] in (b"\x87", b"\x88"):
            self._discover(now, port, mac, datagram)
            return
        to = datagram[16:20] if version == 4 else datagram[24:40]
        link_local = self.view.interfaces[port].link_local
        if to in _GROUPS and protocol == ICMPV6:
            reply = icmp.echo_reply(link_local, datagram)
            if reply is not None and self.echoes.take(now):
                self._originate(now, reply, port)
            return
        if to not in self.view.own and to != link_local:
            return
        if protocol == (ICMP if version == 4 else ICMPV6):
            source = self.view.source(self.view.own[to], to) if to in self.view.anycast else to
            reply = icmp.echo_reply(source, datagram) if source is not None and icmp.may_be_told(datagram) else None
            if reply is not None and self.echoes.take(now):
                self._originate(now, reply, port)
        elif protocol == UDP:
            self._error(now, datagram, Error.PORT_UNREACHABLE, port=port)
        elif version == 4:
            self._error(now, datagram, Error.PROTOCOL_UNREACHABLE)
        elif protocol != NOTHING:
            self._error(now, datagram, Error.PROTOCOL_UNREACHABLE, upper_layer(datagram)[2], port)

    def _discover(self, now: float, port: int, mac: bytes, datagram: bytes) -> None:
        target = nd.target(datagram)
        if target is None or checksum(pseudo_header(datagram, datagram[40:]) + datagram[40:]):
            return
        interface = self.view.interfaces[port]
        sender, address = datagram[8:24], nd.link_address(datagram)
        if datagram[40] == nd.ADVERTISEMENT:
            known = self.neighbours.get((port, target))
            if target in self.view.own:
                self._is_ours(port, target, address or mac)
            if address is None or known is None:
                return
            if known.mac in (None, address) or nd.overrides(datagram):
                self._learn(now, (port, target), address)
        elif self.view.own.get(target) == port or target == interface.link_local:
            if any(sender) and address is not None and self.view.is_on_link(port, sender):
                self._learn(now, (port, sender), address, create=True)
            anycast = target in self.view.anycast
            reply = nd.advertisement(datagram, address or mac, interface.mac, target, anycast=anycast)
            self._out.append((port, reply))

    # -- packets that are forwarded here ------------------------------------

    def _with_options(self, now: float, port: int, mac: bytes, datagram: bytes) -> None:
        try:
            options.found(datagram)
            # The next stop may be another address of ours.
            while datagram[16:20] in self.view.own and (stop := options.next_stop(datagram)) is not None:
                address, at, strict = stop
                hop = self.view.hop(address)
                own = self.view.own.get(address)
                mine = address if own is not None else self.view.source(hop.port, address) if hop is not None else None
                if mine is None or (hop is not None and strict and hop.next_hop != address):
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

    def _error(self, now: float, datagram: bytes, what: Error, value: int = 0, port: int | None = None) -> None:
        """To the sender; over `port` where that has an address of the link alone."""
        if not self.errors.has(now) or not icmp.may_be_told(datagram) or self.view.is_broadcast(datagram):
            return
        sender = datagram[12:16] if datagram[0] >> 4 == 4 else datagram[8:24]
        if port is not None and sender[:2] == b"\xfe\x80":
            self.errors.take(now)
            self._originate(now, icmp.error(self.view.interfaces[port].link_local, datagram, what, value), port)
            return
        hop = self.view.hop(sender)
        if hop is None or _is_martian(sender):
            return
        source = self.view.source(hop.port, sender)
        if source is not None and self.errors.take(now):
            self._originate(now, icmp.error(source, datagram, what, value), hop.port)

    def _originate(self, now: float, datagram: bytes, port: int) -> None:
        to = datagram[16:20] if datagram[0] >> 4 == 4 else datagram[24:40]
        hop = self.view.hop(to)
        interface = self.view.interfaces.get(port if hop is None else hop.port)
        mtu = interface.mtu if interface is not None else 65535
        if len(datagram) <= mtu:
            self._send(now, datagram, to, port)
        elif len(to) == 4:
            for part in fragmentation.fragments(datagram, mtu):
                self._send(now, part, to, port)

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
            if len(self.neighbours) >= MOST_NEIGHBOURS or self._asked_for >= MOST_ASKED_FOR:
                return
            known = self.neighbours[port, to] = Neighbour()
            self._asked_for += 1
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
        if mac == self.view.interfaces[key[0]].mac:
            return
        known = self.neighbours.get(key)
        if known is None:
            known = self.neighbours[key] = Neighbour()
        elif known.mac is None:
            self._asked_for -= 1
        if known.mac != mac:
            self.changed.add(key)
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
    number = int.from_bytes(source)
    return any(number & mask == prefix for prefix, mask in _MARTIANS)
