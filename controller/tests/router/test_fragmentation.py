"""RFC 791 section 3.2: offsets in units of eight octets, flags, options that are copied."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import IP, IPOption, IPOption_NOP, IPOption_RR

from phb.router.fragmentation import fragments

LOOSE = IPOption(b"\x83\x07\x04\x0a\x00\x02\x01")


def datagram(payload, **fields):
    return bytes(IP(src="10.0.1.1", dst="10.0.2.1", proto=17, id=77, **fields) / payload)


@pytest.mark.parametrize(
    ("size", "mtu", "fields", "parts"),
    [
        # Length, offset in octets, more fragments.
        (452, 280, {}, [(276, 0, 1), (216, 256, 0)]),
        (1480, 1000, {}, [(996, 0, 1), (524, 976, 0)]),
        (1480, 68, {}, [(68, 48 * each, 1) for each in range(30)] + [(60, 1440, 0)]),
        # A fragment in fragments again: the last one isn't the datagram's last.
        (976, 500, {"flags": "MF"}, [(500, 0, 1), (500, 480, 1), (36, 960, 1)]),
        (504, 500, {"frag": 122}, [(500, 976, 1), (44, 1456, 0)]),
    ],
)
def test_parts(size, mtu, fields, parts):
    made = [IP(each) for each in fragments(datagram(bytes(size), **fields), mtu)]
    assert [(each.len, 8 * each.frag, int(each.flags) & 1) for each in made] == parts
    assert {(each.id, each.ttl, each.proto) for each in made} == {(77, 64, 17)}


def test_options_are_copied_where_they_say_so():
    options = [IPOption_RR(routers=["0.0.0.0"]), LOOSE, IPOption_NOP()]
    first, second = (IP(each) for each in fragments(datagram(bytes(600), options=options), 500))
    assert [type(each) for each in first.options[:2]] == [IPOption_RR, type(first.options[1])]
    assert bytes(second)[20 : 4 * second.ihl] == bytes(LOOSE) + b"\0"
    assert [each.len for each in (first, second)] == [4 * first.ihl + 464, 4 * second.ihl + 136]


@given(payload=st.binary(min_size=1, max_size=3000), mtu=st.integers(68, 1500))
def test_together_they_are_what_was_sent(payload, mtu):
    parts = [IP(each) for each in fragments(datagram(payload), mtu)]
    assert all(part.len <= mtu and part.len == len(bytes(part)) for part in parts)
    assert b"".join(bytes(part.payload) for part in sorted(parts, key=lambda part: part.frag)) == payload
    for part in parts:
        again = part.copy()
        del again.chksum
        assert bytes(again) == bytes(part)
