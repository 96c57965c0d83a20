"""Ports, wires and routes: where packets go."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Self

from pydantic import model_validator

from phb.model.base import LAST_PORT, Flag, Item, Name, PortReference, unexpected
from phb.model.rates import Rate
from phb.values import Address, Mac, Network, Within


class Role(StrEnum):
    """What is behind a port."""

    NETWORK = "network"
    HOST = "host"


class Port(Item):
    """An interface of the node. Port `host` is where the node marks on behalf of a host's own TCP/IP stack.

    Several files may speak of the port of one name: a router's configuration gives its address, the inventory its
    number. A port that no file numbers can't be compiled to.

    Attributes:
        number: P4Runtime's port number.
        rate: What percentages of this port's bandwidth are taken of (IOS ``bandwidth``).

    """

    number: Annotated[int, Within(0, LAST_PORT)] | None = None
    name: Name
    address: Address | None = None
    role: Role = Role.NETWORK
    rate: Rate | None = None


class CrossConnect(Item):
    """A wire between two ports, both ways: no routing, no TTL change."""

    between: tuple[PortReference, PortReference]


class Route(Item):
    """One prefix: to a port with the next hop's MAC addresses, or discarded."""

    destination: Network
    port: PortReference | None = None
    source_mac: Mac | None = None
    destination_mac: Mac | None = None
    discard: Flag = False

    @model_validator(mode="after")
    def _port_or_discard(self) -> Self:
        given = [self.port is not None, self.source_mac is not None, self.destination_mac is not None]
        if self.discard and any(given):
            raise unexpected("a discard route with a port or MAC address", "'discard: true' alone", "discard")
        if not self.discard and not all(given):
            raise unexpected(
                "an incomplete route", "'port', 'source-mac' and 'destination-mac', or 'discard: true'", "destination"
            )
        return self
