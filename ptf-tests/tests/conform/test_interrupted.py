"""Ctrl-C: the switch that was started is ended, its interfaces are gone, and the exit code says so."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from phb_device import Ports, missing

PHB = [sys.executable, "-m", "phb", "conform", "--only", "RFC 2698"]
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
STARTS_WITHIN_S = 60
VETH = missing("phb-switch", Ports.VETH)
BMV2 = missing("bmv2", Ports.MEMORY)


def running(process):
    """A switch that the command has started, by its process id; None while there is none."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for child in children:
        try:
            command = Path(f"/proc/{child}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            # A program that only helped to start: it has ended since.
            continue
        if b"--grpc-server-addr" in command:
            return int(child)
    return None


@pytest.mark.parametrize(
    "options",
    [
        pytest.param(["--ports", "veth"], marks=pytest.mark.skipif(bool(VETH), reason=VETH)),
        pytest.param(["--target", "bmv2"], marks=pytest.mark.skipif(bool(BMV2), reason=BMV2)),
    ],
    ids=["veth", "bmv2"],
)
def test_ctrl_c_ends_the_switch(options):
    with subprocess.Popen(
        [*PHB, *options], env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + STARTS_WITHIN_S
        while (switch := running(process)) is None:
            assert process.poll() is None, process.stderr.read()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=STARTS_WITHIN_S)
    assert process.returncode == 130
    assert out == ""
    assert "Traceback" not in err
    assert not Path(f"/proc/{switch}").exists()
    # Interfaces were in a namespace of the command's own: none were ever here.
    assert "phb-switch1" not in Path("/proc/net/dev").read_text()
