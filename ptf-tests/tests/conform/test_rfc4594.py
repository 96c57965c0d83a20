"""The checks of service classes: the example's twelve are served as they should be, and each check can fail."""

import pytest

from phb.formats import read_file
from phb_conform import rfc4594
from phb_examples import __file__ as examples

from .broken import Misread, Tampering, octet
from .checks import must_fail, must_pass, of

NAMES = of("RFC 4594", "RFC 5865", "RFC 8622")


@pytest.mark.parametrize("name", NAMES)
def test_it_is_there(any_device, name):
    must_pass(any_device, name)


BROKEN = {
    "each_service_class_gets_its_rate": lambda device: Misread(device, "weight: 80", "weight: 79"),
    "telephony_is_served_first": lambda device: Misread(
        device, "class: telephony, level: 0", "class: telephony, bandwidth: {weight: 200}"
    ),
    # CS7 in the queue of the default.
    "network_control_is_kept": lambda device: Misread(device, "dscp: CS7", "dscp: 57"),
    "the_order_of_classes": lambda device: Misread(device, "dscp: VOICE-ADMIT", "dscp: 45"),
    # One meter for both kinds of calls.
    "admitted_calls_are_kept": lambda device: Misread(
        device, r"VOICE-ADMIT, actions: \[admitted-telephony\]", "VOICE-ADMIT, actions: [telephony]"
    ),
    "lower_effort_yields": lambda device: Misread(device, "dscp: LE", "dscp: 2"),
    "lower_effort_takes_an_idle_line": lambda device: Misread(device, "value: 10, unit", "value: 5, unit"),
    "lower_effort_keeps_its_code_point": lambda device: Tampering(device, octet(lambda tos: 0 if tos == 4 else tos)),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_broken_switch_fails(device, name):
    must_fail(BROKEN[name](device), name)


def test_rates_are_those_of_the_example():
    path = examples.replace("__init__.py", "policies/service-classes.yaml")
    (queueing,) = read_file(path).queueing
    weights = [queue.bandwidth.weight for queue in queueing.schedule.queues if queue.bandwidth]
    # Lower effort has what is left of the line beside telephony's two meters.
    assert sorted(weights) == sorted([1, *(rate for _, rate in rfc4594._RATED.values())])
    assert sum(weights) == 800
