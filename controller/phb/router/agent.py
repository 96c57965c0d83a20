"""A router's control plane for the packets that the switch hands over: time and bytes in, frames out."""

from __future__ import annotations

from phb.pipeline_names import ForwardingException
from phb.router import fragmentation, icmp, options
from phb.router.icmp import Error
from phb.router.neighbours import Neighbours
from phb.router.rate_limit import TokenBucket
from phb.router.sending import Sending
from phb.router.view import View
from phb.router.wire import (
    ARP,
    ICMP,
    ICMPV6,
    IPV4,
    IPV6,
    NOTHING,
    UDP,
    finished,
    is_martian,
    upper_layer,
)

_GROUPS = frozenset(bytes.fromhex("ff02" + "0" * 27 + last) for last in "12")
"""All nodes and all routers of a link (RFC 4291 section 2.7.1)."""


class Agent:
    """One router's control plane.

    Token buckets bound echo replies (RFC 1812 section 4.3.2.8) and packets that are forwarded here (`slow`).
    """

    def __init__(self, view: View | None = None) -> None:
        self._out: list[tuple[int, bytes]] = []
        self.neighbours = Neighbours(view or View(), self._out)
        self.sending = Sending(self.neighbours, TokenBucket(100, 20))
        self.echoes = TokenBucket(500, 100)
        self.slow = TokenBucket(1000, 100)

    @property
    def view(self) -> View:
        """The router's ports, addresses and routes."""
        return self.neighbours.view

    def packet_in(self, now: float, port: int, exception: int, data: bytes) -> list[tuple[int, bytes]]:
        """Take a packet from the switch; give (port, frame) to send. `now` is in seconds and never decreases."""
        interface = self.view.interfaces.get(port)
        if interface is not None and len(data) >= 34:
            kind = int.from_bytes(data[12:14])
            if kind == ARP:
                self.neighbours.arp(now, port, data[14:])
            elif (datagram := _datagram(kind, data[14:])) is not None:
                self._take(now, port, exception, data[6:12], datagram)
        return self._sent()

    def tick(self, now: float) -> list[tuple[int, bytes]]:
        """Ask again, confirm, forget; give (port, frame) to send."""
        for datagram in self.neighbours.tick(now):
            self.sending.error(now, datagram, Error.HOST_UNREACHABLE)
        return self._sent()

    def _sent(self) -> list[tuple[int, bytes]]:
        out = list(self._out)
        self._out.clear()
        return out

    # -- packets for the router ---------------------------------------------

    def _take(self, now: float, port: int, exception: int, mac: bytes, datagram: bytes) -> None:
        match exception:
            case ForwardingException.FOR_ROUTER:
                self._own(now, port, mac, datagram)
            case ForwardingException.TTL_EXPIRED:
                self.sending.error(now, datagram, Error.TIME_EXCEEDED)
            case ForwardingException.NO_ROUTE:
                self.sending.error(now, datagram, Error.NO_ROUTE)
            case ForwardingException.NO_NEIGHBOUR | ForwardingException.TOO_BIG:
                self._forward(now, datagram)
            case ForwardingException.OPTIONS:
                self._with_options(now, port, mac, datagram)

    def _own(self, now: float, port: int, mac: bytes, datagram: bytes) -> None:
        version = datagram[0] >> 4
        protocol = datagram[9] if version == 4 else upper_layer(datagram)[0]
        if version == 6 and datagram[6] == ICMPV6 and datagram[40:41] in (b"\x87", b"\x88"):
            self.neighbours.discover(now, port, mac, datagram)
            return
        to = datagram[16:20] if version == 4 else datagram[24:40]
        link_local = self.view.interfaces[port].link_local
        if to in _GROUPS and protocol == ICMPV6:
            reply = icmp.echo_reply(link_local, datagram)
            if reply is not None and self.echoes.take(now):
                self.sending.originate(now, reply, port)
            return
        if to not in self.view.own and to != link_local:
            return
        if protocol == (ICMP if version == 4 else ICMPV6):
            source = self.view.source(self.view.own[to], to) if to in self.view.anycast else to
            reply = icmp.echo_reply(source, datagram) if source is not None and icmp.may_be_told(datagram) else None
            if reply is not None and self.echoes.take(now):
                self.sending.originate(now, reply, port)
        elif protocol == UDP:
            self.sending.error(now, datagram, Error.PORT_UNREACHABLE, port=port)
        elif version == 4:
            self.sending.error(now, datagram, Error.PROTOCOL_UNREACHABLE)
        elif protocol != NOTHING:
            self.sending.error(now, datagram, Error.PROTOCOL_UNREACHABLE, upper_layer(datagram)[2], port)

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
                    self.sending.error(now, datagram, Error.SOURCE_ROUTE_FAILED)
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
            self.sending.error(now, datagram, Error.PARAMETER_PROBLEM, error.at)
            return
        if datagram[16:20] in self.view.own:
            self._own(now, port, mac, datagram)
        else:
            self._forward(now, datagram)

    def _forward(self, now: float, datagram: bytes) -> None:
        """Forward what the switch leaves to us, as it would: options, fragments, next hops to be asked for."""
        version = datagram[0] >> 4
        source, to = (datagram[12:16], datagram[16:20]) if version == 4 else (datagram[8:24], datagram[24:40])
        if is_martian(source) or (version == 4 and (to[0] in (0, 127) or to[0] >= 240)) or not self.slow.take(now):
            return
        entry = self.view.route(to)
        hop = self.view.hop(to)
        hops_at = 8 if version == 4 else 7
        if datagram[hops_at] <= 1:
            self.sending.error(now, datagram, Error.TIME_EXCEEDED)
        elif entry is None:
            self.sending.error(now, datagram, Error.NO_ROUTE)
        elif hop is not None:
            interface = self.view.interfaces.get(hop.port)
            mtu = interface.mtu if interface is not None else 65535
            if len(datagram) > mtu and (version == 6 or datagram[6] & 0x40):
                self.sending.error(now, datagram, Error.TOO_BIG, mtu)
                return
            onwards = datagram[:hops_at] + bytes((datagram[hops_at] - 1,)) + datagram[hops_at + 1 :]
            if version == 4:
                size = 4 * (onwards[0] & 15)
                if size > 20 and (mine := self.view.source(hop.port, to)) is not None:
                    onwards = options.record_route(onwards, mine)
                onwards = finished(onwards[:size]) + onwards[size:]
            for part in fragmentation.fragments(onwards, mtu) if len(onwards) > mtu else [onwards]:
                self.sending.send(now, part, to)


def _datagram(kind: int, payload: bytes) -> bytes | None:
    """Give the IP packet without padding; None where its header isn't whole."""
    if kind == IPV4 and len(payload) >= 20 and payload[0] >> 4 == 4:
        header, length = 4 * (payload[0] & 15), int.from_bytes(payload[2:4])
        return payload[:length] if 20 <= header <= length <= len(payload) else None
    if kind == IPV6 and len(payload) >= 40 and payload[0] >> 4 == 6:
        length = 40 + int.from_bytes(payload[4:6])
        return payload[:length] if length <= len(payload) else None
    return None
