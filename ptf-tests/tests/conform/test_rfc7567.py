"""The checks of RFC 7567: phb's early detection is what is recommended, and each finds one at fault that isn't."""

import pytest

from phb_conform import rfc7567  # noqa: F401
from phb_conform.check import Verdict

from .broken import Misread
from .checks import found, must_fail, must_pass, of

NAMES = of("RFC 2309", "RFC 7567")
LACKING = "it_works_without_tuning"


@pytest.mark.parametrize("name", [name for name in NAMES if name != LACKING])
def test_it_is_there(any_device, name):
    must_pass(any_device, name)


def test_thresholds_have_to_be_said(any_device):
    finding = found(any_device, LACKING)
    assert finding.verdict is Verdict.FAIL
    assert "found no 'profiles'" in finding.measured


EARLY = r"early-detection:(\n {6}.*)*"
BROKEN = {
    "drops_have_the_probability_of_the_average": lambda device: Misread(device, "denominator: 2", "denominator: 3"),
    "a_standing_queue_is_kept_short": lambda device: Misread(device, "minimum: 5,", "minimum: 50,"),
    # Nothing but a limit.
    "no_flow_is_locked_out": lambda device: Misread(device, EARLY, "hold-queue: 60"),
    "ecn_is_supported": lambda device: Misread(device, "ecn: true", "ecn: false"),
    # Other probabilities for some of the packets.
    "sizes_do_not_matter": lambda device: Misread(device, "denominator: 2", "denominator: 1"),
    "transports_do_not_matter": lambda device: Misread(
        device, "queueing:", "actions: [{name: other, set-dscp: 1}]\n"
        "rules: [{name: tcp, match: {protocol: tcp}, actions: [other]}]\nqueueing:"
    ),
    "each_queue_has_its_own": lambda device: Misread(device, "dscp: CS1", "dscp: CS4"),
}  # fmt: skip


def test_each_is_seen_to_fail():
    assert {*BROKEN, LACKING} == set(NAMES)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_switch_fails(device, name):
    must_fail(BROKEN[name](device), name)
