"""Reflectors as processes of their own."""

import json
import os
import signal
import subprocess
import sys
from contextlib import ExitStack

import pytest

ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}


class Reflector:
    """`phb stamp reflect` on a free port."""

    def __init__(self, stack, *options, inside=(), bind="127.0.0.1"):
        # Free ports: low numbers aren't for everybody, and the command takes no 0.
        command = [*inside, sys.executable, "-m", "phb", "stamp", "reflect", "--json", *options]
        for port in range(20000 + os.getpid() % 9000, 65000, 9001):
            place = f"[{bind}]:{port}" if ":" in bind else f"{bind}:{port}"
            started = [*command, "--bind", place]
            self.process = subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
            line = self.process.stdout.readline()
            if line:
                break
            assert b"in use" in self.process.communicate()[1]
        self.address = json.loads(line)["address"]
        stack.callback(self.stop)

    def stop(self):
        """What it says when it ends."""
        if self.process.stdout.closed:
            return None
        self.process.send_signal(signal.SIGTERM)
        said, errors = self.process.communicate(timeout=30)
        assert (self.process.returncode, errors) == (0, b"")
        return json.loads(said)


@pytest.fixture(scope="module")
def reflect():
    with ExitStack() as stack:
        yield lambda *options, **where: Reflector(stack, *options, **where)
