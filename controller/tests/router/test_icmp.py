"""What is told about a packet, and what never is."""

from ipaddress import ip_address

import pytest
from scapy.layers.inet import ICMP, IP, UDP, ICMPerror, IPerror, IPOption_LSRR, IPOption_RR, IPOption_SSRR
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6ND_Redirect,
    ICMPv6PacketTooBig,
    ICMPv6ParamProblem,
    ICMPv6TimeExceeded,
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
)

from phb.router import icmp
from phb.router.icmp import Error

HOST, FAR, OWN = "10.0.1.1", "10.0.2.1", "10.0.1.254"
HOST6, FAR6, OWN6 = "2001:db8:1::1", "2001:db8:2::1", "2001:db8:1::fe"


def of4(payload=None, **fields):
    return bytes(IP(**{"src": HOST, "dst": FAR} | fields) / (payload or UDP()))


def of6(payload=None, **fields):
    return bytes(IPv6(**{"src": HOST6, "dst": FAR6} | fields) / (payload or UDP()))


def checked(packet, layer, field):
    """The packet, whose checksum is the one that scapy finds."""
    again = packet.copy()
    delattr(again[layer], field)
    assert bytes(again) == bytes(packet)
    return packet


@pytest.mark.parametrize(
    ("what", "value", "kind", "rest"),
    [
        (Error.NO_ROUTE, 0, (3, 0), 0),
        (Error.HOST_UNREACHABLE, 0, (3, 1), 0),
        (Error.PROTOCOL_UNREACHABLE, 0, (3, 2), 0),
        (Error.PORT_UNREACHABLE, 0, (3, 3), 0),
        (Error.TOO_BIG, 1300, (3, 4), 1300),
        (Error.SOURCE_ROUTE_FAILED, 0, (3, 5), 0),
        (Error.TIME_EXCEEDED, 0, (11, 0), 0),
        (Error.PARAMETER_PROBLEM, 21, (12, 0), 21 << 24),
    ],
)
def test_errors_of_rfc_792(what, value, kind, rest):
    about = of4(UDP() / bytes(1000))
    error = checked(IP(icmp.error(ip_address(OWN).packed, about, what, value)), ICMP, "chksum")
    data = bytes(error[ICMP])
    assert (error.src, error.dst, error.tos, error.len) == (OWN, HOST, 0xC0, 576)
    assert ((data[0], data[1]), int.from_bytes(data[4:8])) == (kind, rest)
    assert data[8:] == about[: 576 - 28]


@pytest.mark.parametrize(
    ("what", "value", "kind", "code", "rest"),
    [
        (Error.NO_ROUTE, 0, ICMPv6DestUnreach, 0, 0),
        (Error.HOST_UNREACHABLE, 0, ICMPv6DestUnreach, 3, 0),
        (Error.PORT_UNREACHABLE, 0, ICMPv6DestUnreach, 4, 0),
        (Error.TOO_BIG, 1300, ICMPv6PacketTooBig, 0, 1300),
        (Error.TIME_EXCEEDED, 0, ICMPv6TimeExceeded, 0, 0),
        (Error.PROTOCOL_UNREACHABLE, 6, ICMPv6ParamProblem, 1, 6),
        (Error.PARAMETER_PROBLEM, 40, ICMPv6ParamProblem, 0, 40),
    ],
)
def test_errors_of_rfc_4443(what, value, kind, code, rest):
    about = of6(UDP() / bytes(1400))
    error = checked(IPv6(icmp.error(ip_address(OWN6).packed, about, what, value)), kind, "cksum")
    assert (error.src, error.dst, error.tc, error.plen) == (OWN6, HOST6, 0xC0, 1280 - 40)
    assert (error[kind].code, int.from_bytes(bytes(error[kind])[4:8])) == (code, rest)
    assert bytes(error[kind])[8:] == about[: 1280 - 48]


ERROR4 = ICMP(type=3) / IPerror(src=FAR, dst=HOST) / ICMPerror()


@pytest.mark.parametrize(
    ("datagram", "told"),
    [
        (of4(), True),
        (of4(ICMP(type=8)), True),
        (of4(frag=0, flags="MF"), True),
        *((of4(ICMP(type=kind)), False) for kind in (3, 4, 5, 11, 12)),
        (of4(ERROR4), False),
        (of4(frag=1), False),
        (of4(frag=0x1F00), False),
        (of4(dst="224.0.0.1"), False),
        (of4(dst="255.255.255.255"), False),
        *((of4(src=each), False) for each in ("0.0.0.0", "127.0.0.1", "224.0.0.9", "255.255.255.255")),
        (of6(), True),
        (of6(ICMPv6EchoRequest()), True),
        (of6(IPv6ExtHdrDestOpt() / UDP()), True),
        (of6(IPv6ExtHdrFragment(nh=17, offset=3) / bytes(8)), True),
        *(
            (of6(kind()), False)
            for kind in (ICMPv6DestUnreach, ICMPv6PacketTooBig, ICMPv6TimeExceeded, ICMPv6ND_Redirect)
        ),
        (of6(IPv6ExtHdrDestOpt() / ICMPv6DestUnreach()), False),
        (of6(IPv6ExtHdrFragment() / ICMPv6DestUnreach()), False),
        (of6(IPv6ExtHdrFragment(nh=58, offset=3) / bytes(8)), False),
        *((of6(src=each), False) for each in ("::", "::1", "ff02::1")),
        (of6(dst="ff05::1"), False),
    ],
)
def test_about_what_an_error_is_sent(datagram, told):
    assert icmp.may_be_told(datagram) is told


def test_an_echo_is_answered():
    asked = of4(ICMP(id=7, seq=3) / b"abc", tos=0x28, id=99)
    answer = checked(IP(icmp.echo_reply(ip_address(OWN).packed, asked)), ICMP, "chksum")
    assert (answer.src, answer.dst, answer.tos, answer.ttl, answer.id) == (OWN, HOST, 0x28, 64, 99)
    assert (answer[ICMP].type, answer[ICMP].id, answer[ICMP].seq, bytes(answer[ICMP].payload)) == (0, 7, 3, b"abc")
    asked = of6(ICMPv6EchoRequest(id=7, seq=3, data=b"abc"), tc=0x28)
    answer = checked(IPv6(icmp.echo_reply(ip_address(OWN6).packed, asked)), ICMPv6EchoReply, "cksum")
    assert (answer.src, answer.dst, answer.tc, answer.hlim) == (OWN6, HOST6, 0x28, 64)
    assert (answer[ICMPv6EchoReply].id, answer[ICMPv6EchoReply].data) == (7, b"abc")


@pytest.mark.parametrize(
    ("option", "to", "back"),
    [
        (IPOption_RR(pointer=8, routers=[FAR, "0.0.0.0"]), HOST, (7, 12, [FAR, OWN])),
        (IPOption_RR(pointer=8, routers=[FAR]), HOST, (7, 8, [FAR])),
        (IPOption_LSRR(pointer=4, routers=[FAR]), HOST, None),
        (IPOption_LSRR(pointer=8, routers=[FAR]), FAR, (3, 4, [HOST])),
        (IPOption_LSRR(pointer=8, routers=[OWN]), HOST, None),
        (IPOption_LSRR(pointer=12, routers=[FAR, OWN]), FAR, (3, 4, [HOST])),
        (IPOption_SSRR(pointer=12, routers=["10.0.3.1", FAR]), FAR, (9, 4, ["10.0.3.1", HOST])),
    ],
)
def test_an_echo_brings_its_routes_back(option, to, back):
    answer = checked(IP(icmp.echo_reply(ip_address(OWN).packed, of4(ICMP(id=7), options=[option]))), IP, "chksum")
    assert (answer.src, answer.dst, answer[ICMP].id) == (OWN, to, 7)
    found = [(each.option, each.pointer, each.routers) for each in answer.options if each.option]
    assert found == ([back] if back else [])


@pytest.mark.parametrize(
    "datagram",
    [
        of4(ICMP(chksum=1)),
        of4(ICMP(type=0)),
        of4(ICMP())[:24],
        of4(ICMP(), flags="MF"),
        of6(ICMPv6EchoRequest(cksum=1)),
        of6(ICMPv6EchoReply()),
        of6(),
    ],
)
def test_what_is_no_sound_echo_request_is_not(datagram):
    assert icmp.echo_reply(bytes(4 if datagram[0] >> 4 == 4 else 16), datagram) is None
