"""The router's neighbours: addresses that are learnt, asked for and confirmed by ARP and neighbour discovery."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from phb.router import arp
from phb.router import neighbour_discovery as nd
from phb.router.view import View
from phb.router.wire import IPV4, IPV6, checksum, frame, is_martian, pseudo_header

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
class Neighbours:
    """Neighbours by port and address.

    Attributes:
        out: Frames to send, each with its port.
        changed: Keys whose MAC address was learnt or forgotten; who writes them to the switch clears it.
        duplicates: Stations that have claimed an address of ours, by port and address; who reports them clears it.
    """

    view: View
    out: list[tuple[int, bytes]]
    known: dict[Key, Neighbour] = field(default_factory=dict)
    changed: set[Key] = field(default_factory=set)
    duplicates: dict[Key, bytes] = field(default_factory=dict)
    _asked_for: int = 0

    def look(self, view: View) -> None:
        """Take what the router has become; neighbours that are behind none of its ports any more are forgotten."""
        self.view = view
        for key in [key for key in self.known if key[0] not in view.interfaces or not view.is_on_link(*key)]:
            self._forget(key)

    def adopt(self, neighbours: Iterable[tuple[Key, bytes]]) -> None:
        """Take over what another agent has learnt: believed until it doesn't answer, and asked soon."""
        for key, mac in neighbours:
            if key not in self.known and len(self.known) < MOST_NEIGHBOURS:
                self.known[key] = Neighbour(mac, float("-inf"))
                self.changed.add(key)

    def forget_all(self) -> None:
        """Forget everything: another agent answers now."""
        for key in list(self.known):
            self._forget(key)

    def tick(self, now: float) -> list[bytes]:
        """Ask again, confirm, forget; give the packets that waited for neighbours that didn't answer."""
        undelivered: list[bytes] = []
        asked = 0
        for key, known in list(self.known.items()):
            stale = known.mac is None or now - known.confirmed >= CONFIRM_EVERY_S
            if not stale or now - known.asked < ASK_EVERY_S:
                continue
            if known.tries < ASK_TIMES:
                if asked < MOST_ASKED_AT_ONCE:
                    asked += 1
                    self._ask(now, key, known)
                continue
            self._forget(key)
            undelivered += known.waiting
        return undelivered

    def send(self, now: float, port: int, to: bytes, datagram: bytes) -> None:
        """Send a packet to a neighbour, or have it wait until the neighbour has answered."""
        interface = self.view.interfaces.get(port)
        if interface is None:
            return
        known = self.known.get((port, to))
        if known is None:
            if len(self.known) >= MOST_NEIGHBOURS or self._asked_for >= MOST_ASKED_FOR:
                return
            known = self.known[port, to] = Neighbour()
            self._asked_for += 1
            self._ask(now, (port, to), known)
        if known.mac is None:
            known.waiting = [*known.waiting, datagram][-MOST_WAITING:]
        else:
            kind = IPV4 if len(to) == 4 else IPV6
            self.out.append((port, frame(known.mac, interface.mac, kind, datagram)))

    def arp(self, now: float, port: int, payload: bytes) -> None:
        """Take an ARP message."""
        message = arp.parse(payload)
        if message is None:
            return
        if message.sender in self.view.own:
            self._is_ours(port, message.sender, message.mac)
            return
        mine = self.view.own.get(message.target) == port
        on_link = self.view.is_on_link(port, message.sender)
        if (mine or (port, message.sender) in self.known) and on_link:
            self._learn(now, (port, message.sender), message.mac, create=mine)
        # A host may ask with an address that isn't of the link: Linux does, with whatever it sends from.
        if mine and message.is_request and (not any(message.sender) or not is_martian(message.sender)):
            self.out.append((port, arp.reply(message, self.view.interfaces[port].mac)))

    def _is_ours(self, port: int, address: bytes, mac: bytes) -> None:
        """Note a station that says it has an address of ours."""
        if self.view.own[address] == port and mac != self.view.interfaces[port].mac:
            self.duplicates[port, address] = mac

    def discover(self, now: float, port: int, mac: bytes, datagram: bytes) -> None:
        """Take a message of neighbour discovery, in a frame from this MAC address."""
        target = nd.target(datagram)
        if target is None or checksum(pseudo_header(datagram, datagram[40:]) + datagram[40:]):
            return
        interface = self.view.interfaces[port]
        sender, address = datagram[8:24], nd.link_address(datagram)
        if datagram[40] == nd.ADVERTISEMENT:
            known = self.known.get((port, target))
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
            self.out.append((port, reply))

    def _forget(self, key: Key) -> None:
        if self.known.pop(key).mac is None:
            self._asked_for -= 1
        else:
            self.changed.add(key)

    def _ask(self, now: float, key: Key, known: Neighbour) -> None:
        port, address = key
        interface = self.view.interfaces[port]
        known.asked, known.tries = now, known.tries + 1
        mine = self.view.source(port, address)
        if len(address) == 4:
            self.out.append((port, arp.request(interface.mac, mine or bytes(4), address, known.mac or arp.BROADCAST)))
        else:
            self.out.append((port, nd.solicitation(interface.mac, mine or interface.link_local, address)))

    def _learn(self, now: float, key: Key, mac: bytes, *, create: bool = False) -> None:
        if key not in self.known and (not create or len(self.known) >= MOST_NEIGHBOURS):
            return
        if mac == self.view.interfaces[key[0]].mac:
            return
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = Neighbour()
        elif known.mac is None:
            self._asked_for -= 1
        if known.mac != mac:
            self.changed.add(key)
        known.mac, known.confirmed, known.tries = mac, now, 0
        waiting, known.waiting = known.waiting, []
        kind = IPV4 if len(key[1]) == 4 else IPV6
        self.out += [(key[0], frame(mac, self.view.interfaces[key[0]].mac, kind, each)) for each in waiting]
