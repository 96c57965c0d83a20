"""The checks of RFC 3168: phb marks as a router should, and each finds one at fault that doesn't."""

import pytest

from phb_conform import rfc3168  # noqa: F401
from phb_conform.check import Verdict

from .broken import Misread, Tampering, octet
from .checks import found, must_fail, must_pass, of

NAMES = of("RFC 3168")
ELSEWHERE = "tunnels_combine_both_fields"


@pytest.mark.parametrize("name", [name for name in NAMES if name != ELSEWHERE])
def test_it_is_there(any_device, name):
    must_pass(any_device, name)


def test_tunnels_are_not_ours(any_device):
    assert found(any_device, ELSEWHERE).verdict is Verdict.NOT_APPLICABLE


def third(change):
    """For `octet`: change each third one of AF11."""
    counted = iter(range(1 << 30))
    return lambda tos: change(tos) if tos >> 2 == 10 and next(counted) % 3 == 0 else tos


WITHOUT_ECN = "ecn: true", "ecn: false"
BROKEN = {
    "not_capable_packets_are_dropped": lambda device: Tampering(device, octet(third(lambda tos: tos | 3))),
    "both_capable_codepoints_are_alike": lambda device: Tampering(
        device, octet(lambda tos: tos | 3 if tos & 3 == 1 else tos)
    ),
    "marks_have_the_probability_of_drops": lambda device: Misread(device, "denominator: 2", "denominator: 3"),
    "nothing_is_marked_without_congestion": lambda device: Misread(device, "minimum: 3", "minimum: 1"),
    "marks_are_never_taken_away": lambda device: Tampering(device, octet(third(lambda tos: tos & ~1))),
    "overload_drops_capable_packets": lambda device: Misread(device, "maximum: 11", "maximum: 100"),
    # The code point beside the field changes with a mark.
    "marks_change_nothing_else": lambda device: Tampering(
        device, octet(lambda tos: tos ^ 0x20 if tos & 3 == 3 else tos)
    ),
    "remarking_keeps_the_field": lambda device: Misread(device, "set-dscp: EF", "set-tos: 184"),
}


def test_each_is_seen_to_fail():
    assert {*BROKEN, ELSEWHERE} == set(NAMES)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_switch_fails(device, name):
    must_fail(BROKEN[name](device), name)


def test_a_switch_that_drops_instead_of_marking_fails(device):
    must_fail(Misread(device, *WITHOUT_ECN), "both_capable_codepoints_are_alike")
    must_fail(Misread(device, *WITHOUT_ECN), "marks_have_the_probability_of_drops")


def test_a_wrong_checksum_fails(device):
    def damaged(frame):
        return frame[:24] + bytes([frame[24] ^ 1]) + frame[25:]

    must_fail(Tampering(device, damaged), "marks_change_nothing_else")
