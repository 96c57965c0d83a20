"""Ports, wires and routes: where packets go."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import model_validator

from phb.model.base import LAST_PORT, Flag, Item, Name, PortReference, unexpected
from phb.model.rates import Rate
from phb.values import Address, InterfaceAddress, Mac, Network, Within

SHORTEST_MTU = 68
"""Bytes; RFC 791 section 3.2."""


class Role(StrEnum):
    """Kind of peer behind a port: the network or a host."""

    NETWORK = "network"
    HOST = "host"


class Port(Item):
    """An interface of the node. Port `host` is where the node marks on behalf of a host's own TCP/IP stack.

    With a MAC address it is a router's (docs/policies/router.md).

    Several files may speak of the port of one name: a router's configuration gives its address, the inventory its
    number. A port that no file numbers can't be compiled to.

    Attributes:
        number: P4Runtime's port number.
        mac: Of a router's port: its own, to which frames for the router are sent.
        addresses: Of a router's port: its own, with the networks behind it.
        mtu: Of a router's port: the longest IP packet that it sends, in bytes.
        rate: What percentages of this port's bandwidth are taken of (IOS ``bandwidth``).
    """

    number: Annotated[int, Within(0, LAST_PORT)] | None = None
    name: Name
    address: Address | None = None
    mac: Mac | None = None
    addresses: tuple[InterfaceAddress, ...] = ()
    mtu: Annotated[int, Within(SHORTEST_MTU, 65535)] | None = None
    role: Role = Role.NETWORK
    rate: Rate | None = None

    @model_validator(mode="after")
    def _mac_and_addresses(self) -> Self:
        if self.mac is None and (self.addresses or self.mtu is not None):
            what = "addresses" if self.addresses else "mtu"
            raise unexpected(
                f"'{what}' of a port without a MAC address", "its 'mac' too, by which it is a router's", what
            )
        if self.mac is not None and not self.addresses:
            raise unexpected("'mac' of a port without addresses", "'addresses' such as [10.0.1.1/24]", "mac")
        if self.mac is not None and self.mac.number >> 40 & 1:
            raise unexpected(f"the group address {self.mac}", "a MAC address of one station", "mac")
        if self.mtu is not None and self.mtu < 1280 and any(each.version == 6 for each in self.addresses):
            raise unexpected(f"an MTU of {self.mtu} bytes with IPv6", "at least 1280 (RFC 8200 section 5)", "mtu")
        return self


class CrossConnect(Item):
    """A wire between two ports, both ways: no routing, no TTL change."""

    between: tuple[PortReference, PortReference]


class Route(Item):
    """One prefix: to a port with the next hop's MAC addresses, to a next hop by its address, or discarded."""

    destination: Network
    port: PortReference | None = None
    source_mac: Mac | None = None
    destination_mac: Mac | None = None
    next_hop: Address | None = None
    discard: Flag = False

    @model_validator(mode="after")
    def _port_or_discard(self) -> Self:
        given = [self.port is not None, self.source_mac is not None, self.destination_mac is not None]
        if self.next_hop is not None:
            if self.discard or any(given):
                raise unexpected("a next hop's address with more than that", "'next-hop' alone", "next_hop")
            if self.next_hop.version != self.destination.version:
                raise unexpected(
                    f"next hop {self.next_hop} to {self.destination}", "both of one IP version", "next_hop"
                )
            return self
        if self.discard and any(given):
            raise unexpected("a discard route with a port or MAC address", "'discard: true' alone", "discard")
        if not self.discard and not all(given):
            raise unexpected(
                "an incomplete route",
                "'next-hop', or 'port', 'source-mac' and 'destination-mac', or 'discard: true'",
                "destination",
            )
        return self
