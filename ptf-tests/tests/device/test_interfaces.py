"""The tests of devices once more, on virtual Ethernet pairs, in a process with a network namespace of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from phb_device import Ports, missing

from .conftest import ON_INTERFACES, PORTS


@pytest.mark.skipif(PORTS is Ports.VETH, reason="this is that process")
@pytest.mark.skipif(bool(missing("phb-switch", Ports.VETH)), reason=missing("phb-switch", Ports.VETH))
def test_devices_on_interfaces():
    devices = Path(__file__).with_name("test_devices.py")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(devices)]
    done = subprocess.run(command, env=os.environ | {ON_INTERFACES: "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
