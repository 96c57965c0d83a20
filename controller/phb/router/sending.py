"""Packets that the router sends itself: where they go, in how many parts, and which errors senders are told."""

from __future__ import annotations

from dataclasses import dataclass

from phb.router import fragmentation, icmp
from phb.router.icmp import Error
from phb.router.neighbours import Neighbours
from phb.router.rate_limit import TokenBucket
from phb.router.view import View
from phb.router.wire import IPV4, IPV6, is_martian


@dataclass
class Sending:
    """The sending side of a router's control plane; `errors` bounds ICMP errors (RFC 1812 section 4.3.2.8)."""

    neighbours: Neighbours
    errors: TokenBucket

    @property
    def view(self) -> View:
        """The router."""
        return self.neighbours.view

    def error(self, now: float, datagram: bytes, what: Error, value: int = 0, port: int | None = None) -> None:
        """Tell the sender of a packet; over `port` where it has an address of the link alone."""
        if not self.errors.has(now) or not icmp.may_be_told(datagram) or self.view.is_broadcast(datagram):
            return
        sender = datagram[12:16] if datagram[0] >> 4 == 4 else datagram[8:24]
        if port is not None and sender[:2] == b"\xfe\x80":
            self.errors.take(now)
            self.originate(now, icmp.error(self.view.interfaces[port].link_local, datagram, what, value), port)
            return
        hop = self.view.hop(sender)
        if hop is None or is_martian(sender):
            return
        source = self.view.source(hop.port, sender)
        if source is not None and self.errors.take(now):
            self.originate(now, icmp.error(source, datagram, what, value), hop.port)

    def originate(self, now: float, datagram: bytes, port: int) -> None:
        """Send a packet of our own, in fragments where it is too long; `port` as in `send`."""
        to = datagram[16:20] if datagram[0] >> 4 == 4 else datagram[24:40]
        hop = self.view.hop(to)
        interface = self.view.interfaces.get(port if hop is None else hop.port)
        mtu = interface.mtu if interface is not None else 65535
        if len(datagram) <= mtu:
            self.send(now, datagram, to, port)
        elif len(to) == 4:
            for part in fragmentation.fragments(datagram, mtu):
                self.send(now, part, to, port)

    def send(self, now: float, datagram: bytes, to: bytes, port: int | None = None) -> None:
        """Send a packet where the routes say, or over `port` to what is link-local."""
        hop = self.view.hop(to)
        if hop is not None and hop.next_hop is None:
            kind = IPV4 if len(to) == 4 else IPV6
            self.neighbours.out.append((hop.port, (hop.macs + kind.to_bytes(2) + datagram).ljust(60, b"\0")))
        elif hop is not None:
            self.neighbours.send(now, hop.port, hop.next_hop or to, datagram)
        elif port is not None and to[:2] == b"\xfe\x80":
            self.neighbours.send(now, port, to, datagram)
