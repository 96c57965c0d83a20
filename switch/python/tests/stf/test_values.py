"""Keys as STF writes them match what p4c's runner has them match."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phb_switch.stf.statements import StatementError
from phb_switch.stf.values import KeyMatch, match_key, number, to_bytes

NUMBERS = [
    ("10", None, 10),
    ("010", None, 10),
    ("0x1F", None, 31),
    ("0o17", None, 15),
    ("0b101", None, 5),
    ("10.0.1.2", 32, 0x0A000102),
    ("::1", 128, 1),
    ("02:00:00:00:00:ff", 48, 0x0200000000FF),
    ("255", 8, 255),
    (hex(2**2048 - 1), 2048, 2**2048 - 1),
]


@pytest.mark.parametrize(("text", "bits", "value"), NUMBERS, ids=[text[:20] for text, *_ in NUMBERS])
def test_numbers(text, bits, value):
    assert number(text, bits) == value


@pytest.mark.parametrize(
    ("text", "bits"), [("256", 8), ("-1", 8), ("x", 8), ("0x", 8), ("10.0.1.2", 48), ("::1", 32), ("", 8), ("1_0x", 9)]
)
def test_what_is_no_number_of_that_width_is_refused(text, bits):
    with pytest.raises(StatementError, match="expected a number"):
        number(text, bits)


MATCHES = [
    ("exact", 9, "7", KeyMatch("exact", b"\x07")),
    ("exact", 9, None, KeyMatch("exact", b"\x00")),
    ("ternary", 16, None, None),
    ("ternary", 16, "0x12**", KeyMatch("ternary", b"\x12\x00", b"\xff\x00")),
    ("ternary", 16, "0x**12", KeyMatch("ternary", b"\x12", b"\xff")),
    ("ternary", 16, "0x12", KeyMatch("ternary", b"\x12", b"\xff")),
    ("ternary", 16, "0b1*0", KeyMatch("ternary", b"\x04", b"\x05")),
    ("ternary", 16, "0o7*", KeyMatch("ternary", b"\x38", b"\x38")),
    ("ternary", 9, "0x1ff", KeyMatch("ternary", b"\x01\xff", b"\x01\xff")),
    ("ternary", 16, "0x****", None),
    ("ternary", 16, "18", KeyMatch("ternary", b"\x12", b"\xff\xff")),
    ("ternary", 16, "0x1234&&&0xff00", KeyMatch("ternary", b"\x12\x00", b"\xff\x00")),
    ("lpm", 32, None, None),
    ("lpm", 32, "0x0a01****", KeyMatch("lpm", b"\x0a\x01\x00\x00", 16)),
    ("lpm", 32, "0x0a010203", KeyMatch("lpm", b"\x0a\x01\x02\x03", 32)),
    ("lpm", 32, "10.1.2.3/15", KeyMatch("lpm", b"\x0a\x00\x00\x00", 15)),
    ("lpm", 9, "0x1**", KeyMatch("lpm", b"\x01\x00", 1)),
    ("lpm", 32, "0x********", None),
    ("lpm", 32, "0/0", None),
    ("range", 16, "0x10->0x20", KeyMatch("range", b"\x10", b"\x20")),
    ("range", 16, "16..32", KeyMatch("range", b"\x10", b"\x20")),
    ("range", 16, "16", KeyMatch("range", b"\x10", b"\x10")),
    ("range", 16, None, None),
    ("optional", 16, "16", KeyMatch("optional", b"\x10")),
    ("optional", 16, None, None),
]


@pytest.mark.parametrize(("kind", "bits", "text", "expected"), MATCHES)
def test_keys(kind, bits, text, expected):
    assert match_key(kind, bits, text) == expected


REFUSED = [
    ("exact", 8, "256", "expected a number from 0 to"),
    ("ternary", 16, "0x", "expected a number|expected 0x"),
    ("ternary", 9, "0x3ff", "expected a value of 9 bits"),
    ("ternary", 16, "0x12*g", "expected a number"),
    ("lpm", 32, "10.0.0.0/33", "expected a prefix of at most 32 bits"),
    ("lpm", 32, "0x0a**01**", r"expected digits for 32 bits, then only \*"),
    ("lpm", 32, "0x0a*", r"expected digits for 32 bits, then only \*"),
    ("range", 16, "5->4", "expected the lower end first"),
]


@pytest.mark.parametrize(("kind", "bits", "text", "message"), REFUSED)
def test_keys_that_mean_nothing_are_refused(kind, bits, text, message):
    with pytest.raises(StatementError, match=message):
        match_key(kind, bits, text)


@given(st.integers(min_value=0, max_value=2**2048 - 1))
def test_bytes_are_the_number(value):
    assert int.from_bytes(to_bytes(value), "big") == value
