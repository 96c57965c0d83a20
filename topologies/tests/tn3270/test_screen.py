"""The 3270 data stream."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phb_lab.tn3270 import screen


@pytest.mark.parametrize(
    # GA23-0059: the first position, the last of the first row, the second row, and the last of 24 x 80.
    ("address", "coded"),
    [(0, "4040"), (79, "c14f"), (80, "c150"), (1919, "5d7f")],
)
def test_addresses_as_the_manual_has_them(address, coded):
    assert screen.encode_address(address) == bytes.fromhex(coded)
    assert screen.decode_address(bytes.fromhex(coded)) == address


@given(st.integers(0, 4095))
def test_addresses_come_back(address):
    assert screen.decode_address(screen.encode_address(address)) == address


def test_an_address_of_14_bits():
    assert screen.decode_address(bytes([0x07, 0x7F])) == 0x77F


@given(st.integers(22, 1400), st.text("ABC 123", max_size=40))
def test_a_screen_is_as_long_as_asked(octets, text):
    written = screen.write(text, octets)
    assert len(written) == octets
    assert written[0] == screen.ERASE_WRITE
    assert written.count(bytes([screen.INSERT_CURSOR])) == 1


@pytest.mark.parametrize("octets", [10, 5000])
def test_a_screen_that_is_impossible(octets):
    with pytest.raises(ValueError, match=f"a screen of {octets} octets"):
        screen.write("", octets)


def test_what_is_entered():
    field = screen.encode_address(1770)
    data = bytes([screen.ENTER]) + screen.encode_address(1775) + bytes([screen.SET_BUFFER_ADDRESS]) + field
    assert screen.read(data + "HELLO".encode("cp037")) == screen.Entered(screen.ENTER, 1775, {1770: "HELLO"})
    assert screen.read(bytes([0x6D])) == screen.Entered(0x6D, 0, {})
    with pytest.raises(ValueError, match="of 2 octets"):
        screen.read(b"ab")
    with pytest.raises(ValueError, match="without an address"):
        screen.read(data[:5])
