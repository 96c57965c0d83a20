"""The checks of RFC 2597: assured forwarding is there, and each finds a switch at fault that lacks it."""

import pytest

from phb_conform import rfc2597  # noqa: F401

from .broken import Misread, Swapping
from .checks import must_fail, must_pass, of

NAMES = of("RFC 2597")


@pytest.mark.parametrize("name", NAMES)
def test_it_is_there(any_device, name):
    must_pass(any_device, name)


BROKEN = {
    "recommended_code_points_are_known": lambda device: Misread(device, "dscp: AF23", "dscp: 23"),
    "drop_precedences_are_ordered": lambda device: Misread(device, "AF(.)1, minimum: 30", r"AF\g<1>1, minimum: 5"),
    "three_precedences_two_levels": lambda device: Misread(
        device, r"minimum: \d+, maximum: \d+", "minimum: 10, maximum: 30"
    ),
    "each_class_gets_its_bandwidth": lambda device: Misread(device, "percent: 30", "percent: 29"),
    # Two classes in one queue.
    "excess_does_not_hurt_other_classes": lambda device: Misread(
        device, "name: to-af2, class: af2", "name: to-af2, class: af1"
    ),
    # What nobody may use goes to nobody.
    "excess_resources_can_be_used": lambda device: Misread(
        device, "- port: line", "- port: line\n    shaper: {rate: {value: 500, unit: kbit/s, basis: ethernet}}"
    ),
    "no_reordering_inside_a_class": Swapping,
    "no_reordering_among_fair_flows": Swapping,
    "order_is_kept_behind_a_shaper": Swapping,
    "short_bursts_are_queued": lambda device: Misread(device, "average-weight: 6", "average-weight: 1"),
    "long_congestion_is_dropped": lambda device: Misread(device, "maximum: 50", "maximum: 4096"),
    # The queue itself instead of its average, and a threshold instead of a slope.
    "bursts_lose_as_much_as_steady_flows": lambda device: Misread(
        device, "average-weight: 6(.*)minimum: 20, maximum: 40", r"average-weight: 1\g<1>minimum: 30, maximum: 30"
    ),
}


def test_each_is_seen_to_fail():
    assert set(BROKEN) == set(NAMES)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_switch_fails(device, name):
    must_fail(BROKEN[name](device), name)
