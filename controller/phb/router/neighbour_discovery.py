"""Neighbour solicitations and advertisements (RFC 4861 sections 4.3, 4.4 and 7.2). No router advertisements."""

from __future__ import annotations

from phb.router.wire import IPV6, frame, ipv6, is_station

SOLICITATION, ADVERTISEMENT = 135, 136
_HOPS = 255
_ALL_NODES = bytes.fromhex("ff02" + "0" * 27 + "1")
_SOLICITED_NODE = bytes.fromhex("ff0200000000000000000001ff")
_SOURCE, _TARGET = 1, 2
_ROUTER, _SOLICITED, _OVERRIDE = 0x80, 0x40, 0x20


def target(datagram: bytes) -> bytes | None:
    """Give the address that a message is about; None where it isn't valid (sections 7.1.1 and 7.1.2)."""
    message, source, to = datagram[40:], datagram[8:24], datagram[24:40]
    if datagram[7] != _HOPS or len(message) < 24 or message[1] or message[8] == 0xFF or not _has_whole_options(message):
        return None
    if message[0] == ADVERTISEMENT:
        valid = not (to[0] == 0xFF and message[4] & _SOLICITED)
    else:
        valid = any(source) or (to[:13] == _SOLICITED_NODE and link_address(datagram) is None)
    return message[8:24] if valid else None


def _has_whole_options(message: bytes) -> bool:
    at = 24
    while at < len(message):
        if at + 2 > len(message) or not message[at + 1]:
            return False
        at += 8 * message[at + 1]
    return at == len(message)


def overrides(datagram: bytes) -> bool:
    """Whether an advertisement's MAC address replaces another (section 7.2.5)."""
    return bool(datagram[44] & _OVERRIDE)


def link_address(datagram: bytes) -> bytes | None:
    """Find the MAC address that a message gives for its sender or its target."""
    message = datagram[40:]
    wanted, at = _SOURCE if message[0] == SOLICITATION else _TARGET, 24
    while at + 8 <= len(message):
        if message[at] == wanted and message[at + 1] == 1 and is_station(message[at + 2 : at + 8]):
            return message[at + 2 : at + 8]
        at += 8 * message[at + 1]
    return None


def advertisement(asked: bytes, asker_mac: bytes, mac: bytes, address: bytes, *, anycast: bool = False) -> bytes:
    """Answer a solicitation; to all nodes where its sender has no address yet (section 7.2.4).

    For an anycast address it overrides nothing, and comes from `address` all the same: it is what was asked for.
    """
    asker = asked[8:24]
    unknown = not any(asker)
    flags = _ROUTER | (0 if anycast else _OVERRIDE) | (0 if unknown else _SOLICITED)
    to = _ALL_NODES if unknown else asker
    body = bytes((ADVERTISEMENT, 0, 0, 0, flags, 0, 0, 0)) + address + bytes((_TARGET, 1)) + mac
    return frame(_group(to) if unknown else asker_mac, mac, IPV6, ipv6(address, to, body, _HOPS))


def solicitation(mac: bytes, sender: bytes, wanted: bytes) -> bytes:
    """Ask who has `wanted`, in its solicited-node group (RFC 4291 section 2.7.1)."""
    to = _SOLICITED_NODE + wanted[13:]
    body = bytes((SOLICITATION, 0, 0, 0, 0, 0, 0, 0)) + wanted + bytes((_SOURCE, 1)) + mac
    return frame(_group(to), mac, IPV6, ipv6(sender, to, body, _HOPS))


def _group(address: bytes) -> bytes:
    """Give the MAC address of an IPv6 group (RFC 2464 section 7)."""
    return b"\x33\x33" + address[12:]
