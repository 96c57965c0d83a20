"""Addresses that a router doesn't forward from or to."""

from __future__ import annotations

from phb.values.addresses import AnyNetwork, parse_network

# RFC 1812 section 5.3.7, RFC 4291; the constant tables of p4src/interface.p4.
MARTIAN_SOURCES: tuple[AnyNetwork, ...] = tuple(
    map(parse_network, ("0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/3", "::/127", "::ffff:0:0/96", "fe80::/10", "ff00::/8"))
)
MARTIAN_DESTINATIONS: tuple[AnyNetwork, ...] = tuple(
    map(parse_network, ("0.0.0.0/8", "127.0.0.0/8", "240.0.0.0/4", "::/127", "::ffff:0:0/96", "fe80::/10"))
)
