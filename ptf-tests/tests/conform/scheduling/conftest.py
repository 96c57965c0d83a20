"""One switch for all of these tests; checks begin with its program anew."""

import pytest

from phb_device import Ports, open_device


@pytest.fixture(scope="module")
def device():
    with open_device("phb-switch", Ports.MEMORY) as device:
        yield device


class OtherPolicy:
    """A device on which another policy is put than the one that is pushed: what a check must find out."""

    def __init__(self, device, change):
        self._device, self._change = device, change

    def push(self, policy):
        self._device.push(self._change(policy))

    def __getattr__(self, name):
        return getattr(self._device, name)


@pytest.fixture
def wrongly_programmed(device):
    return lambda change: OtherPolicy(device, change)
