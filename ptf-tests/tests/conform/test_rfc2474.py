"""The checks of RFC 2474: phb passes, and each finds what it is there to find."""

import pytest

from phb_conform import rfc2474  # noqa: F401

from .broken import Misread, Swapping, Tampering, octet
from .checks import must_fail, must_pass, of

NAMES = of("RFC 2474")


@pytest.mark.parametrize("name", NAMES)
def test_it_is_there(any_device, name):
    must_pass(any_device, name)


BROKEN = {
    # One row looks at the upper three bits alone.
    "each_code_point_chooses_its_behaviour": lambda device: Misread(device, r"dscp: 0,", "precedence: 0,"),
    # ECN bits go with the code point.
    "bits_beside_the_code_point_do_not_count": lambda device: Misread(device, r"set-dscp: 13}", "set-tos: 52}"),
    # The lowest bits of IPv6's traffic class are lost.
    "ipv6_has_the_same_field": lambda device: Tampering(
        device, lambda frame: frame[:15] + bytes([frame[15] & 0xCF]) + frame[16:] if frame[14] >> 4 == 6 else frame
    ),
    "unknown_code_points_pass_unchanged": lambda device: Tampering(
        device, octet(lambda tos: 0 if tos == 0xD8 else tos)
    ),
    "unknown_code_points_share_the_default_queue": lambda device: Misread(device, "dscp: 46", "dscp: 63"),
    "there_is_a_default_behaviour": Swapping,
    "class_selectors_are_served_in_order": lambda device: Misread(
        device, r"level-(2|3), level: (2|3)", lambda at: f"level-{at[1]}, level: {5 - int(at[2])}"
    ),
    "class_selectors_make_independent_classes": lambda device: Misread(device, "dscp: CS1", "dscp: CS4"),
    "routing_is_preferred": lambda device: Misread(device, "dscp: 48", "dscp: 33"),
    "the_mapping_can_be_configured": lambda device: Misread(device, "set-dscp: 13", "set-dscp: 11"),
    "a_boundary_sets_code_points": lambda device: Misread(device, "16384-", "0-"),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_switch_fails(device, name):
    must_fail(BROKEN[name](device), name)
