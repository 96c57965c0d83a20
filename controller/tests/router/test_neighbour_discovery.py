"""RFC 4861's messages, and what section 7.1 says makes them invalid."""

from ipaddress import IPv6Address

import pytest
from scapy.layers.inet6 import (
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptSrcLLAddr,
    IPv6,
)

from phb.router import neighbour_discovery as nd

HOST, OWN, GROUP = "2001:db8:1::1", "2001:db8:1::fe", "ff02::1:ff00:fe"
MAC, ROUTER_MAC = "02:00:00:00:01:01", "02:00:00:00:01:fe"
SOURCE, TARGET = ICMPv6NDOptSrcLLAddr(lladdr=MAC), ICMPv6NDOptDstLLAddr(lladdr=MAC)


def octets(mac):
    return bytes.fromhex(mac.replace(":", ""))


def packet(message, source=HOST, to=GROUP, hops=255):
    return bytes(IPv6(src=source, dst=to, hlim=hops) / message)


def solicitation(target=OWN, options=SOURCE, code=0, **fields):
    return packet(ICMPv6ND_NS(tgt=target, code=code) / options, **fields)


def advertisement(solicited=1, options=TARGET, to=OWN):
    return packet(ICMPv6ND_NA(tgt=HOST, S=solicited) / options, to=to)


@pytest.mark.parametrize(
    ("message", "about"),
    [
        (solicitation(), OWN),
        (solicitation(to=OWN), OWN),
        (solicitation(options=b""), OWN),
        (solicitation(source="::", options=b""), OWN),
        (advertisement(), HOST),
        (advertisement(solicited=0, to="ff02::1"), HOST),
        # An option that nobody knows is skipped.
        (solicitation(options=b"\x0e\x01\0\0\0\0\0\0"), OWN),
        (solicitation(hops=254), None),
        (solicitation(code=1), None),
        (solicitation(target="ff02::5"), None),
        (solicitation()[:60], None),
        (solicitation(options=b"\x01\0\0\0\0\0\0\0"), None),
        (solicitation(options=b"\x01\x02\0\0\0\0\0\0"), None),
        (solicitation(options=b"\x01"), None),
        (solicitation(source="::", to=OWN, options=b""), None),
        (solicitation(source="::"), None),
        (advertisement(solicited=1, to="ff02::1"), None),
    ],
)
def test_whom_a_message_is_about(message, about):
    found = nd.target(message)
    assert (None if found is None else str(IPv6Address(found))) == about


@pytest.mark.parametrize(
    ("message", "mac"),
    [
        (solicitation(), MAC),
        (advertisement(), MAC),
        (solicitation(options=TARGET), None),
        (advertisement(options=SOURCE), None),
        (solicitation(options=ICMPv6NDOptSrcLLAddr(lladdr="33:33:00:00:00:01")), None),
    ],
)
def test_the_mac_address_that_it_gives(message, mac):
    assert nd.link_address(message) == (None if mac is None else octets(mac))


@pytest.mark.parametrize(
    ("source", "options", "anycast", "to", "flags"),
    [
        (HOST, SOURCE, False, (MAC, HOST), (1, 1, 1)),
        ("::", b"", False, ("33:33:00:00:00:01", "ff02::1"), (1, 0, 1)),
        (HOST, SOURCE, True, (MAC, HOST), (1, 1, 0)),
    ],
)
def test_the_answer(source, options, anycast, to, flags):
    asked = solicitation(source=source, options=options)
    frame = nd.advertisement(asked, octets(MAC), octets(ROUTER_MAC), asked[48:64], anycast=anycast)
    answer = IPv6(frame[14:])
    message = answer[ICMPv6ND_NA]
    assert (frame[:6], answer.src, answer.dst, answer.hlim) == (octets(to[0]), OWN, to[1], 255)
    assert flags == (message.R, message.S, message.O)
    assert (message.tgt, message[ICMPv6NDOptDstLLAddr].lladdr) == (OWN, ROUTER_MAC)
    assert bytes(answer) == rechecked(answer)


def test_a_question():
    frame = nd.solicitation(octets(ROUTER_MAC), IPv6Address(OWN).packed, IPv6Address("2001:db8:1::12:3456").packed)
    asked = IPv6(frame[14:])
    assert (frame[:6], asked.dst, asked.hlim) == (bytes.fromhex("3333ff123456"), "ff02::1:ff12:3456", 255)
    assert asked[ICMPv6NDOptSrcLLAddr].lladdr == ROUTER_MAC
    assert bytes(asked) == rechecked(asked)


def rechecked(packet):
    """With the checksum that scapy finds."""
    again = packet.copy()
    del again[1].cksum
    return bytes(again)
