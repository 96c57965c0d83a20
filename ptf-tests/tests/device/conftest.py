"""Every switch under test that can be had here."""

import os

import pytest

from phb_device import TARGETS, Ports, missing, open_device, own_namespace

# Interfaces live in a namespace of a process of its own: test_interfaces.py starts it.
ON_INTERFACES = "PHB_TEST_ON_INTERFACES"
PORTS = Ports.VETH if ON_INTERFACES in os.environ else Ports.MEMORY

if PORTS is Ports.VETH:
    own_namespace()


@pytest.fixture(scope="module", params=TARGETS)
def device(request):
    reason = missing(request.param, PORTS)
    if reason:
        pytest.skip(reason)
    with open_device(request.param, PORTS) as device:
        yield device
