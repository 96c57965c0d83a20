"""What a reflector answers, and what it doesn't."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phb.stamp import Reply, Request
from phb.stamp.reflecting import FORGOTTEN_AFTER_NS, SESSIONS, Reflector, Refused
from phb.stamp.sockets import Datagram
from phb.stamp.timestamps import to_ntp
from phb.stamp.tlvs import ask_class, class_of, padding

KEY = b"0123456789abcdef"
SECOND = 1_000_000_000
NOW = 1_800_000_000 * SECOND


def datagram(octets, source=("192.0.2.1", 50000), tos=46 << 2, ttl=63):
    return Datagram(octets, source, NOW, tos, ttl, ())


def request(sequence=0, rest=b"", session=1, key=None):
    return Request(sequence, to_ntp(NOW - 5), 0x0101, session, rest).pack(key)


def test_a_reply():
    octets, tos = Reflector(estimate=0x8002).reflect(datagram(request(7)), NOW, NOW + 40)
    assert Reply.unpack(octets) == Reply(0, to_ntp(NOW + 40), 0x8002, 1, to_ntp(NOW), 7, to_ntp(NOW - 5), 0x0101, 63)
    assert tos == 46 << 2


def test_an_authenticated_reply():
    octets, _ = Reflector(key=KEY).reflect(datagram(request(key=KEY)), NOW, NOW)
    assert Reply.unpack(octets, KEY).sender_sequence == 0


@pytest.mark.parametrize("rest", [b"", padding(4), padding(1000), bytes(999), b"\xff" * 50, ask_class(10) + b"\1"])
@pytest.mark.parametrize("key", [None, KEY])
def test_no_reply_is_longer_than_its_request(rest, key):
    came = request(rest=rest, key=key)
    octets, _ = Reflector(key=key).reflect(datagram(came), NOW, NOW)
    assert len(octets) == len(came)


def numbers(reflector, *packets, now=NOW):
    replies = [reflector.reflect(packet, now, now) for packet in packets]
    return [Reply.unpack(octets).sequence for octets, _ in replies]


def test_each_session_is_counted():
    one, other = datagram(request(5)), datagram(request(5, session=2))
    third = datagram(request(5), ("192.0.2.1", 50001))
    assert numbers(Reflector(), one, one, other, third, one) == [0, 1, 0, 0, 2]
    assert numbers(Reflector(stateless=True), one, other) == [5, 5]


def test_a_session_is_forgotten_and_others_have_room():
    reflector = Reflector(rate=10**9)
    numbers(reflector, *(datagram(request(session=session)) for session in range(SESSIONS)))
    new = datagram(request(9, session=SESSIONS))
    assert numbers(reflector, new) == [9]
    assert numbers(reflector, datagram(request(9))) == [1]
    later = NOW + FORGOTTEN_AFTER_NS + 1
    assert numbers(reflector, new, datagram(request(9)), now=later) == [0, 0]
    assert len(reflector.sessions) <= SESSIONS


@pytest.mark.parametrize(
    ("options", "packet", "why"),
    [
        ({}, datagram(b""), Refused.SHORT),
        ({}, datagram(bytes(43)), Refused.SHORT),
        ({"key": KEY}, datagram(bytes(111)), Refused.SHORT),
        ({"key": KEY}, datagram(request() + bytes(68)), Refused.NOT_AUTHENTIC),
        ({"port": 8620}, datagram(request(), ("192.0.2.1", 8620)), Refused.PORT),
        ({}, datagram(request(), ("192.0.2.1", 862)), Refused.PORT),
        ({"allowed": [ipaddress.ip_network("198.51.100.0/24")]}, datagram(request()), Refused.NOT_ALLOWED),
        (
            {"allowed": [ipaddress.ip_network("192.0.2.0/24")]},
            datagram(request(), ("fe80::1%eth0", 50000)),
            Refused.NOT_ALLOWED,
        ),
    ],
)
def test_what_is_not_answered(options, packet, why):
    reflector = Reflector(**options)
    assert reflector.reflect(packet, NOW, NOW) is None
    assert reflector.refused == {why: 1}
    assert not reflector.sessions


def test_so_many_each_second():
    reflector = Reflector(rate=3)
    packet = datagram(request())
    answers = [reflector.reflect(packet, NOW, NOW + at * SECOND // 10) for at in range(20)]
    assert [bool(answer) for answer in answers] == ([True] * 3 + [False] * 7) * 2
    assert (reflector.answered, reflector.refused[Refused.RATE]) == (6, 14)


def rest_of(rest, tos=46 << 2 | 1, **options):
    octets, answer = Reflector(**options).reflect(datagram(request(rest=rest), tos=tos), NOW, NOW)
    return Reply.unpack(octets).rest, answer


def test_the_class_that_was_asked_for():
    rest, tos = rest_of(padding(8) + ask_class(34))
    said = class_of(rest)
    assert (said.wanted, said.came, said.ecn, said.refused, tos >> 2) == (34, 46, 1, False, 34)
    assert class_of(ask_class(34)) is None  # as a reflector sends it back that doesn't know it


@pytest.mark.parametrize(
    ("rest", "answer"),
    [
        (bytes(12), bytes(12)),
        (padding(6), b"\0\1\0\2\0\0"),
        (b"\x80\xc8\0\1x", b"\x80\xc8\0\1x"),
        (b"\0\xc8\0\1x", b"\x80\xc8\0\1x"),
        (b"\x80\1\0\x09x", b"\x40\1\0\x09x"),
        (b"\x80\4\0\2xx", b"\x80\4\0\2xx"),
        (b"\7\7\7", b"\7\7\7"),
    ],
)
def test_what_follows_goes_back(rest, answer):
    assert rest_of(rest) == (answer, 46 << 2)


@given(
    octets=st.binary(max_size=300),
    head=st.sampled_from([b"", request(), request(rest=ask_class(7)), request(key=KEY)]),
    tos=st.integers(0, 255),
    key=st.sampled_from([None, KEY]),
)
def test_whatever_strangers_send(octets, head, tos, key):
    """It is answered by as many octets, or by none and counted."""
    reflector = Reflector(key=key)
    came = head + octets
    reply = reflector.reflect(datagram(came, tos=tos), NOW, NOW)
    assert (reflector.answered, reflector.refused.total()) == ((0, 1) if reply is None else (1, 0))
    if reply is not None:
        assert len(reply[0]) == len(came)
        assert 0 <= reply[1] < 256
