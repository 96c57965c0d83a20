"""``phb conform`` on a switch that somebody else has started, on interfaces, in a network namespace of its own."""

import os
import subprocess
import sys

import pytest

from phb_device import Ports, missing

REASON = missing("phb-switch", Ports.VETH)
PROGRAM = """
import subprocess, sys
from phb_device import Ports, open_device, own_namespace

own_namespace()
with open_device("phb-switch", Ports.VETH) as device:
    wires = [word for port in device.ports for word in ("-i", f"{port}@{sys.argv[1]}{port}")]
    command = [sys.executable, "-m", "phb", "conform", "--address", device.address, *wires, "--only", "rfc4115_marks"]
    sys.exit(subprocess.run(command).returncode)
"""


def attached(interface):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", PROGRAM, interface]
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.skipif(bool(REASON), reason=REASON)
def test_a_switch_that_runs_already():
    done = attached("phb-tester")
    assert done.returncode == 0, done.stderr
    assert "DSCP green 34, yellow 36, red 38" in done.stdout
    assert "1 passed, 0 failed, 0 not applicable" in done.stdout


@pytest.mark.skipif(bool(REASON), reason=REASON)
def test_an_interface_that_is_not_there():
    done = attached("nothing")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "phb: --interface: found 'nothing1', expected an interface of this machine\n"
