"""A switch in memory for checks, as it is and with mistakes."""

import pytest

from phb_conform.checklist import select
from phb_conform.running import run
from phb_device import TARGETS, Ports, missing, open_device


@pytest.fixture(scope="module")
def device():
    with open_device("phb-switch", Ports.MEMORY) as device:
        yield device


@pytest.fixture(scope="module", params=TARGETS)
def any_device(request):
    """Each switch that can be had here."""
    reason = missing(request.param, Ports.MEMORY)
    if reason:
        pytest.skip(reason)
    with open_device(request.param) as device:
        yield device


@pytest.fixture
def look():
    """The finding of one check on a device."""

    def find(device, name):
        (result,) = run(device, select([name]))
        return result.finding

    return find
