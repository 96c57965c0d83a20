"""The part of a policy that says what to count for the report of z/OS's SMC Applicability Tool."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import model_validator

from phb.model.base import Item, PortReference, unexpected
from phb.values import Addresses, Network, Within

MOST_PEERS = 256
"""Addresses and subnets that the tool takes."""

MOST_MINUTES = 1440


class Applicability(Item):
    """How much of a host's TCP traffic another transport between it and some peers could carry: what is counted for it.

    Several files may speak of it, each of other keys.

    Attributes:
        ports: Where the host is; without them, the port with `role: host`.
        peers: Addresses and subnets of hosts that have the transport, at most 256.
        direct_networks: Networks of the host's own: peers in them are reached without a router.
        interval_minutes: How long a report watches.
        trivial_bytes: A short-lived connection with less payload, both ways together, is not well suited.
        short_lived_ms: A connection that lives for so long is well suited, whatever it carries.
    """

    ports: tuple[PortReference, ...] = ()
    peers: tuple[Addresses, ...] = ()
    direct_networks: tuple[Network, ...] = ()
    interval_minutes: Annotated[int, Within(1, MOST_MINUTES)] = 60
    # The pipeline remembers sends of a connection that may be trivial in two buckets, up to 4096 bytes.
    trivial_bytes: Annotated[int, Within(1, 4096)] = 4096
    short_lived_ms: Annotated[int, Within(1, 3_600_000)] = 1000

    @model_validator(mode="after")
    def _not_too_many(self) -> Self:
        if len(self.peers) > MOST_PEERS:
            raise unexpected(f"{len(self.peers)} addresses and subnets", f"at most {MOST_PEERS}", "peers")
        return self
