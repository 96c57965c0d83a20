"""Frames in words."""

import pytest

from phb_lab.following.headers import describe

MAC = "0200000000bb0200000000aa"
IP = "450000{:02x}00010000401100000a0000010a000002"
IP6 = "6000000000190640" + "20010db8" + "00" * 11 + "01" + "20010db8" + "00" * 11 + "02"


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (f"{MAC}0800{IP.format(33)}0007000800090000aa", "udp 10.0.0.1:7 > 10.0.0.2:8, 5 bytes"),
        (f"{MAC}8100a0070800{IP.format(33)}0007000800090000", "udp 10.0.0.1:7 > 10.0.0.2:8, 5 bytes"),
        (f"{MAC}86dd{IP6}0001000200000003", "tcp [2001:db8::1]:1 > [2001:db8::2]:2"),
        (
            f"{MAC}86dd{IP6}000100020000000300000000500210000000",
            "tcp [2001:db8::1]:1 > [2001:db8::2]:2",
        ),
        (
            f"{MAC}86dd{IP6}0001000200000003000000005002100000000000",
            "tcp [2001:db8::1]:1 > [2001:db8::2]:2, SYN, sequence 3, 5 bytes",
        ),
        (f"{MAC}0806", "frame of type 0x0806"),
        (f"{MAC}0800", "frame of type 0x0800"),
        ("", "frame of type 0x0000"),
    ],
)
def test_frames_in_words(frame, words):
    assert describe(bytes.fromhex(frame)) == words
