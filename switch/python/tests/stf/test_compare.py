"""Packets against what was expected of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phb_switch.stf.compare import Difference, Sent, compare, first_difference, rows
from phb_switch.stf.statements import Expect


def expect(pattern, *, whole=False, line=1):
    return Expect(line, 1, pattern, whole)


@pytest.mark.parametrize(
    ("pattern", "whole", "frame", "byte"),
    [
        ("0102", False, "0102", None),
        ("0102", False, "010203", None),
        ("0102", True, "010203", 2),
        ("010203", False, "0102", 2),
        ("010203", True, "0102", 2),
        ("*1*2**", True, "010203", None),
        ("*1*3", False, "010203", 1),
        ("01020", False, "010203", None),
        ("01021", False, "010203", 2),
        ("", True, "", None),
        ("", True, "01", 0),
    ],
)
def test_the_first_byte_that_differs(pattern, whole, frame, byte):
    assert first_difference(expect(pattern, whole=whole), bytes.fromhex(frame)) == byte


def differences(patterns, frames):
    expected = [expect(pattern, line=10 + number) for number, pattern in enumerate(patterns)]
    sent = [Sent(20 + number, bytes.fromhex(frame)) for number, frame in enumerate(frames)]
    return [(each.line, each.expected, each.got and each.got.hex()) for each in compare(1, expected, sent)]


@pytest.mark.parametrize(
    ("patterns", "frames", "found"),
    [
        (["01", "02"], ["01", "02"], []),
        (["01", "02"], ["02", "01"], [(10, "01", "02"), (11, "02", "01")]),
        (["01", "02", "03"], ["01", "03"], [(11, "02", None)]),
        (["01", "03"], ["01", "02", "03"], [(21, None, "02")]),
        (["01", "02"], ["01"], [(11, "02", None)]),
        (["01"], ["01", "02"], [(21, None, "02")]),
        (["01", "02", "03"], ["01", "ff", "03"], [(11, "02", "ff")]),
        ([], ["01"], [(20, None, "01")]),
        ([None], ["01", "02"], []),
        ([None], [], []),
    ],
)
def test_what_came_is_told_from_what_did_not(patterns, frames, found):
    assert differences(patterns, frames) == found


@given(st.lists(st.binary(min_size=1, max_size=3), max_size=8), st.data())
def test_losing_a_packet_is_one_difference(frames, data):
    lost = data.draw(st.integers(0, len(frames)))
    kept = frames[:lost] + frames[lost + 1 :]
    expected = [expect(frame.hex(), whole=True, line=number) for number, frame in enumerate(frames)]
    found = compare(1, expected, [Sent(0, frame) for frame in kept])
    assert len(found) == (1 if lost < len(frames) else 0)


def test_messages_name_the_byte_the_length_and_the_cause():
    messages = [
        compare(7, [expect("010203", whole=whole, line=5)], [Sent(4, bytes.fromhex(frame))])[0].message
        for whole, frame in ((False, "01ff03"), (False, "0102"), (True, "01020304"))
    ]
    assert messages == [
        "port 7: byte 1 is ff, expected 02 (sent because of line 4)",
        "port 7: it ends after 2 bytes, expected 3 (sent because of line 4)",
        "port 7: it has 4 bytes, expected 3 (sent because of line 4)",
    ]


def test_rows_show_both_packets_and_mark_what_differs():
    same, wanted, found = "00" * 16, "0102**04", "01ff0305"
    difference = Difference(1, "", same + wanted, bytes.fromhex(same + found + "06"), 17, whole=False)
    assert rows(difference) == [
        "    both 0000  " + "00 " * 15 + "00",
        "expected 0010  01 02 ** 04",
        "     got 0010  01 ff 03 05 06",
        "                  ^^     ^",
    ]
    assert rows(Difference(1, "", "0102", bytes.fromhex("010203"), 2)) == [
        "expected 0000  01 02",
        "     got 0000  01 02 03",
        "                     ^^",
    ]
    assert rows(Difference(1, "", None, b"\x01")) == ["     got 0000  01"]
    assert rows(Difference(1, "", "01*", None)) == ["expected 0000  01 *"]
    assert rows(Difference(1, "")) == []
