"""Neighbour solicitations and advertisements (RFC 4861 sections 4.3, 4.4 and 7.2). No router advertisements."""

from __future__ import annotations

from phb.router.wire import IPV6, frame, ipv6

SOLICITATION, ADVERTISEMENT = 135, 136
_HOPS = 255
_ALL_NODES = bytes.fromhex("ff02" + "0" * 27 + "1")
_SOURCE, _TARGET = 1, 2
_ROUTER, _SOLICITED, _OVERRIDE = 0x80, 0x40, 0x20


def target(datagram: bytes) -> bytes | None:
    """Whom a message is about; None where it isn't valid (sections 7.1.1 and 7.1.2)."""
    message = datagram[40:]
    valid = datagram[7] == _HOPS and len(message) >= 24 and message[1] == 0 and message[8] != 0xFF
    return message[8:24] if valid else None


def link_address(datagram: bytes) -> bytes | None:
    """The MAC address that a message gives for its sender or its target."""
    message = datagram[40:]
    wanted, at = _SOURCE if message[0] == SOLICITATION else _TARGET, 24
    while at + 8 <= len(message) and message[at + 1]:
        if message[at] == wanted and message[at + 1] == 1 and not message[at + 2] & 1:
            return message[at + 2 : at + 8]
        at += 8 * message[at + 1]
    return None


def advertisement(asked: bytes, asker_mac: bytes, mac: bytes, address: bytes) -> bytes:
    """The answer to a solicitation; to all nodes where its sender has no address yet (section 7.2.4)."""
    asker = asked[8:24]
    unknown = not any(asker)
    flags = _ROUTER | _OVERRIDE | (0 if unknown else _SOLICITED)
    to = _ALL_NODES if unknown else asker
    body = bytes((ADVERTISEMENT, 0, 0, 0, flags, 0, 0, 0)) + address + bytes((_TARGET, 1)) + mac
    return frame(_group(to) if unknown else asker_mac, mac, IPV6, ipv6(address, to, body, _HOPS))


def solicitation(mac: bytes, sender: bytes, wanted: bytes) -> bytes:
    """Who has `wanted`? To its solicited-node group (RFC 4291 section 2.7.1)."""
    to = bytes.fromhex("ff0200000000000000000001ff") + wanted[13:]
    body = bytes((SOLICITATION, 0, 0, 0, 0, 0, 0, 0)) + wanted + bytes((_SOURCE, 1)) + mac
    return frame(_group(to), mac, IPV6, ipv6(sender, to, body, _HOPS))


def _group(address: bytes) -> bytes:
    """RFC 2464 section 7."""
    return b"\x33\x33" + address[12:]
