"""The scheduling checks pass on phb-switch, and fail where the policy isn't what they think."""

import pytest

from phb_conform import rfc3246, scheduling
from phb_conform.check import CHECKS, Verdict
from phb_device import CONNECTED

MODULES = [scheduling, rfc3246]
LOOKS = [each for each in CHECKS if each.look.__module__ in {module.__name__ for module in MODULES}]


@pytest.mark.parametrize("check", LOOKS, ids=lambda check: check.name)
def test_it_passes(device, check):
    device.reset()
    finding = check.look(device)
    assert finding.verdict is Verdict.PASS, finding.measured
    assert all(isinstance(figure, int | float) for figure in finding.figures.values())


def first_come(policy):
    return CONNECTED + "queueing:\n  - {port: line, schedule: {kind: fifo}, hold-queue: 4096}\n"


def swapped_levels(policy):
    return policy.replace("level: 0}", "level: x}").replace("level: 1}", "level: 0}").replace("level: x}", "level: 1}")


def other_weights(policy):
    return (
        policy.replace("ios-11.3", "ios-hqf").replace("percent: 30", "percent: 10").replace("weight: 90", "weight: 50")
    )


@pytest.mark.parametrize(
    ("look", "change"),
    [
        (scheduling.pifo_order_is_exact, first_come),
        (scheduling.pifo_order_is_exact, other_weights),
        (scheduling.strict_levels_are_exact, first_come),
        (scheduling.strict_levels_are_exact, swapped_levels),
        (scheduling.fair_service_is_within_the_bound, other_weights),
        (scheduling.tags_are_in_order, other_weights),
        (scheduling.fair_delay_is_within_the_bound, first_come),
    ],
    ids=lambda each: each.__name__,
)
def test_it_fails_on_a_switch_that_does_something_else(wrongly_programmed, device, look, change):
    device.reset()
    assert look(wrongly_programmed(change)).verdict is Verdict.FAIL


def test_error_terms_fail_where_ef_has_no_level(wrongly_programmed, device):
    device.reset()
    shared = wrongly_programmed(lambda policy: policy.replace("level: 0", "bandwidth: {percent: 30}"))
    assert rfc3246.ef_error_terms(shared).verdict is Verdict.FAIL


def test_losses_of_ef_are_seen(wrongly_programmed, device):
    device.reset()
    short = wrongly_programmed(lambda policy: policy.replace("level: 0", "level: 0, queue-limit: 1"))
    assert rfc3246.ef_loses_nothing(short).verdict is Verdict.FAIL
