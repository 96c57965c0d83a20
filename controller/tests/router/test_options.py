"""RFC 791's options: route options with their pointers, and what can't be."""

from ipaddress import ip_address

import pytest

from phb.router import options
from phb.router.options import BadOptionError
from phb.router.wire import finished

OWN, NEXT = ip_address("10.0.2.254").packed, ip_address("10.0.2.1").packed


def header(octets):
    """An IPv4 header with these options."""
    octets += bytes(-len(octets) % 4)
    return finished(bytes((0x40 | 5 + len(octets) // 4,)) + bytes(11) + bytes((10, 0, 1, 1, 10, 0, 1, 254)) + octets)


def route(kind, pointer, *addresses):
    body = b"".join(addresses)
    return bytes((kind, 3 + len(body), pointer)) + body


RECORD, LOOSE, STRICT = 7, 131, 137


@pytest.mark.parametrize(
    ("octets", "stop"),
    [
        (route(LOOSE, 4, NEXT), (NEXT, 20, False)),
        (route(STRICT, 4, NEXT), (NEXT, 20, True)),
        (b"\x01\x01" + route(LOOSE, 8, OWN, NEXT), (NEXT, 22, False)),
        (route(LOOSE, 8, NEXT), None),
        (route(RECORD, 4, bytes(4)), None),
        (b"\0" + route(LOOSE, 4, NEXT), None),
        (b"\x88\x04\0\x07", None),
    ],
)
def test_where_a_source_route_goes_next(octets, stop):
    assert options.next_stop(header(octets)) == stop


@pytest.mark.parametrize(
    ("octets", "after"),
    [
        (route(RECORD, 4, bytes(4), bytes(4)), route(RECORD, 8, OWN, bytes(4))),
        (route(RECORD, 8, NEXT, bytes(4)), route(RECORD, 12, NEXT, OWN)),
        (route(RECORD, 12, NEXT, NEXT), route(RECORD, 12, NEXT, NEXT)),
        # Two octets aren't room enough.
        (b"\x07\x05\x04\0\0", b"\x07\x05\x04\0\0"),
        (route(LOOSE, 4, NEXT), route(LOOSE, 4, NEXT)),
    ],
)
def test_a_record_route_takes_an_address_where_there_is_room(octets, after):
    assert options.record_route(header(octets), OWN)[20:] == header(after)[20:]


def test_a_source_route_records_where_it_was():
    assert options.recorded(header(route(LOOSE, 4, NEXT)), 20, OWN)[20:27] == route(LOOSE, 8, OWN)


@pytest.mark.parametrize(
    ("octets", "at"),
    [
        (b"\x07\x00\x04\0", 21),
        (b"\x07\x01\x04\0", 21),
        (b"\x07\x09\x04\0", 21),
        (b"\x01\x01\x01\x83", 23),
        (route(LOOSE, 3, NEXT), 22),
        (b"\x83\x02\0\0", 22),
    ],
)
def test_what_can_not_be_is_named_by_its_octet(octets, at):
    with pytest.raises(BadOptionError) as caught:
        options.found(header(octets))
    assert caught.value.at == at
