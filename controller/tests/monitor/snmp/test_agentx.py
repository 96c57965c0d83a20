"""AgentX' messages: what is written is read again, and what isn't one is refused."""

import contextlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phb.monitor.snmp.agentx import (
    HEADER_BYTES,
    MalformedError,
    Message,
    Payload,
    Range,
    Syntax,
    VarBind,
    message,
    open_payload,
    read_header,
    write_bindings,
    write_oid,
)

WORDS = st.integers(0, 2**32 - 1)
OIDS = st.one_of(
    st.lists(WORDS, max_size=20).map(tuple), st.lists(WORDS, max_size=20).map(lambda rest: (1, 3, 6, 1, *rest))
)
BINDINGS = st.one_of(
    st.tuples(OIDS, st.just(Syntax.INTEGER), st.integers(-(2**31), 2**31 - 1)),
    st.tuples(OIDS, st.sampled_from([Syntax.COUNTER32, Syntax.GAUGE32, Syntax.TIME_TICKS]), WORDS),
    st.tuples(OIDS, st.just(Syntax.COUNTER64), st.integers(0, 2**64 - 1)),
    st.tuples(OIDS, st.sampled_from([Syntax.OCTETS, Syntax.IP_ADDRESS, Syntax.OPAQUE]), st.binary(max_size=40)),
    st.tuples(OIDS, st.just(Syntax.OBJECT_ID), OIDS),
    st.tuples(OIDS, st.sampled_from([Syntax.NULL, Syntax.NO_SUCH_OBJECT, Syntax.END_OF_VIEW]), st.none()),
).map(lambda parts: VarBind(*parts))


@given(st.lists(BINDINGS, max_size=6))
def test_bindings(bindings):
    octets = write_bindings(bindings)
    assert len(octets) % 4 == 0
    assert Payload(octets, ">").bindings() == bindings


def test_open_as_in_the_standard():
    octets = message(Message.OPEN, 0, 0, 0, open_payload(5, "phb"))
    assert octets == bytes.fromhex(
        "01011000" + "00000000" * 3 + "00000010" + "05000000" + "00000000" + "00000003" + b"phb\0".hex()
    )


@pytest.mark.parametrize(
    ("oid", "octets"),
    [
        ((), "00000000"),
        ((1, 3, 6, 1, 2, 1), "01020000 00000001"),
        ((1, 3, 6, 1, 2), "00020000"),
        ((1, 3, 6, 1), "04000000 00000001 00000003 00000006 00000001"),
        ((1, 3, 6, 1, 300), "05000000 00000001 00000003 00000006 00000001 0000012c"),
    ],
)
def test_identifiers(oid, octets):
    assert write_oid(oid) == bytes.fromhex(octets)
    assert Payload(write_oid(oid), ">").oid() == (oid, False)


def test_both_orders_of_bytes():
    little = struct.pack("<4B4I", 1, Message.GET, 0, 0, 7, 8, 9, 12)
    header = read_header(little)
    assert (header.session, header.transaction, header.packet, header.length, header.order) == (7, 8, 9, 12, "<")
    octets = struct.pack("<4BI4B", 1, 2, 1, 0, 5, 0, 0, 0, 0)
    assert Payload(octets, "<").ranges() == [Range((1, 3, 6, 1, 2, 5), True, ())]


@pytest.mark.parametrize(
    "octets",
    [
        struct.pack(">4B4I", 2, Message.GET, 16, 0, 0, 0, 0, 0),
        struct.pack(">4B4I", 1, 99, 16, 0, 0, 0, 0, 0),
        struct.pack(">4B4I", 1, Message.GET, 16, 0, 0, 0, 0, 3),
        struct.pack(">4B4I", 1, Message.GET, 16, 0, 0, 0, 0, 2**20 + 4),
    ],
    ids=["version", "message", "odd length", "too long"],
)
def test_no_header(octets):
    assert len(octets) == HEADER_BYTES
    with pytest.raises(MalformedError):
        read_header(octets)


@given(st.binary(max_size=64))
def test_no_payload(octets):
    for read in (Payload.ranges, Payload.bindings, Payload.octets):
        with contextlib.suppress(MalformedError):
            read(Payload(octets, ">"))
