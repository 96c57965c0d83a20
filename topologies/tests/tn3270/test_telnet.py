"""Telnet and the TN3270E negotiation, with the exchanges that RFC 2355 prints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phb_lab.tn3270.telnet import (
    DO,
    DONT,
    EOR,
    IAC,
    SB,
    SE,
    TERMINAL_TYPE,
    TN3270E,
    WILL,
    WONT,
    Command,
    Decoder,
    Negotiation,
    Record,
    Subnegotiation,
    body,
    header,
    record,
)


def events(data):
    return list(Decoder().feed(data))


def sub(text):
    return bytes([IAC, SB, TN3270E]) + text + bytes([IAC, SE])


# RFC 2355, section 10 (examples), client's and server's lines in turn; numbers of section 4 and 7.
CONNECT, DEVICE_TYPE, FUNCTIONS, IS, REJECT, REQUEST, SEND = 1, 2, 3, 4, 6, 7, 8
SCS_CTL_CODES, RESPONSES = 1, 2


def test_a_terminal_connects_as_in_the_first_example():
    negotiation = Negotiation(b"TERM1234")
    assert negotiation.begin() == bytes([IAC, DO, TN3270E])
    assert negotiation.answer(Command(WILL, TN3270E)) == sub(bytes([SEND, DEVICE_TYPE]))
    asked = bytes([DEVICE_TYPE, REQUEST]) + b"IBM-3278-2"
    granted = bytes([DEVICE_TYPE, IS]) + b"IBM-3278-2" + bytes([CONNECT]) + b"TERM1234"
    assert negotiation.answer(Subnegotiation(TN3270E, asked)) == sub(granted)
    assert not negotiation.done
    assert negotiation.answer(Subnegotiation(TN3270E, bytes([FUNCTIONS, REQUEST, RESPONSES]))) == sub(
        bytes([FUNCTIONS, REQUEST])
    )
    assert not negotiation.done
    assert negotiation.answer(Subnegotiation(TN3270E, bytes([FUNCTIONS, IS]))) == b""
    assert negotiation.done


def test_a_client_that_wants_no_functions_is_told_so():
    negotiation = Negotiation(b"X")
    assert negotiation.answer(Subnegotiation(TN3270E, bytes([FUNCTIONS, REQUEST]))) == sub(bytes([FUNCTIONS, IS]))
    assert negotiation.done


def test_a_device_that_is_no_3270_is_rejected():
    asked = bytes([DEVICE_TYPE, REQUEST]) + b"VT100"
    assert Negotiation(b"X").answer(Subnegotiation(TN3270E, asked)) == sub(bytes([DEVICE_TYPE, REJECT, 5, 4]))


def test_options_are_refused_and_a_client_without_tn3270e_ends_it():
    negotiation = Negotiation(b"X")
    assert negotiation.answer(Command(WILL, TERMINAL_TYPE)) == bytes([IAC, DONT, TERMINAL_TYPE])
    assert negotiation.answer(Command(DO, TERMINAL_TYPE)) == bytes([IAC, WONT, TERMINAL_TYPE])
    assert negotiation.answer(Command(DONT, TERMINAL_TYPE)) == b""
    assert not negotiation.ended
    negotiation.answer(Command(WONT, TN3270E))
    assert negotiation.ended


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (bytes([IAC, WILL, TN3270E]), [Command(WILL, TN3270E)]),
        (bytes([1, IAC, IAC, 2, IAC, EOR]), [Record(bytes([1, IAC, 2]))]),
        (bytes([IAC, EOR]), [Record(b"")]),
        (bytes([IAC, 241, 7, IAC, EOR]), [Record(b"\7")]),  # NOP
        (bytes([IAC, SB, TN3270E, 1, IAC, IAC, 2, IAC, SE]), [Subnegotiation(TN3270E, bytes([1, IAC, 2]))]),
        (bytes([IAC, SB, IAC, SE]), []),
        (b"not whole", []),
    ],
)
def test_what_octets_mean(data, expected):
    assert events(data) == expected


@given(st.lists(st.binary(max_size=20), max_size=5), st.data())
def test_records_come_back_however_they_are_cut(records, data):
    wire = b"".join(record(each) for each in records)
    cut = data.draw(st.integers(0, len(wire)))
    decoder = Decoder()
    assert [*decoder.feed(wire[:cut]), *decoder.feed(wire[cut:])] == [Record(each) for each in records]


def test_headers():
    assert header(0, 2, 0x1234) == bytes([0, 0, 2, 0x12, 0x34])
    assert body(header(7) + b"text") == (7, b"text")
    with pytest.raises(ValueError, match="a record of 4 octets"):
        body(b"1234")
