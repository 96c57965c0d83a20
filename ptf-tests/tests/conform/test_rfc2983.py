"""The checks of RFC 2983: what is inside a tunnel doesn't matter, and each finds a switch at fault that looks there."""

import pytest

from phb_conform import rfc2983
from phb_conform.check import Verdict

from .broken import Misread, Tampering
from .checks import found, must_fail, must_pass, of

NAMES = of("RFC 2983")
ELSEWHERE = ("tunnels_begin", "tunnels_end")


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ELSEWHERE])
def test_it_is_there(any_device, name):
    must_pass(any_device, name)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_tunnels_neither_begin_nor_end_here(any_device, name):
    assert found(any_device, name).verdict is Verdict.NOT_APPLICABLE


def inside(frame):
    """The octet inside IPv4 in IPv4 is changed."""
    return frame[:35] + b"\0" + frame[36:] if frame[23] == 4 and frame[14] == 0x45 else frame


BROKEN = {
    "the_outer_code_point_counts": lambda device: Misread(device, "outer, dscp: AF11", "outer, dscp: AF12"),
    "the_packet_inside_is_left_alone": lambda device: Tampering(device, inside),
    "congestion_is_marked_outside": lambda device: Tampering(device, inside),
}


def test_each_is_seen_to_fail():
    assert {*BROKEN, *ELSEWHERE} == set(NAMES)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_switch_fails(device, name):
    must_fail(BROKEN[name](device), name)


def test_the_frames_are_what_their_names_say():
    kinds = rfc2983.tunnelled()
    assert {name: (frame[14] >> 4, frame[23 if frame[14] >> 4 == 4 else 20]) for name, frame in kinds.items()} == {
        "IPv4 in IPv4": (4, 4),
        "IPv6 in IPv4": (4, 41),
        "IPv4 in IPv6": (6, 4),
        "IPv6 in IPv6": (6, 41),
        "IPv4 in GRE": (4, 47),
        "IPv6 in GRE over IPv6": (6, 47),
        "ESP": (4, 50),
    }
