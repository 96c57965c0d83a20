"""Probes meet the average that the arithmetic says."""

import pytest

from phb_conform.measures import early
from phb_device import CONNECTED, open_device


@pytest.fixture(scope="module")
def device():
    with open_device("phb-switch") as device:
        yield device


@pytest.mark.parametrize("depth", [3, 8, 15])
def test_the_average_is_known_to_a_thousandth(device, depth):
    """A threshold a little below it drops every probe, one a little beyond it none; thresholds are whole packets."""
    average = early.average_at(depth)
    assert depth - 3 < average < depth - 1
    for maximum, dropped in ((int(average), 50), (int(average) + 1, 0)):
        device.reset()
        device.push(early.policy(f"{{dscp: 0, minimum: {maximum}, maximum: {maximum}}}"))
        assert early.probe(device, depth, 50).dropped == dropped


def test_packets_that_should_be_spared_are_counted(device):
    device.reset()
    device.push(CONNECTED + "queueing: [{port: line, schedule: {kind: fifo}, hold-queue: 2}]\n")
    with pytest.raises(ValueError, match="that no profile is for"):
        early.probe(device, 8, 5)
