"""ptf's process asks the runner, which has started the switch, to restart it: two pipes between them.

bmv2 keeps the memory of every program that it has run, so a case gets a new process instead of a new program.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from phb_device import ControlError
from phb_device.processes import SwitchProcess

_VARIABLE = "PHB_PTF_RESTARTS"


class Restarts:
    """The runner's side; ptf's process has the `environment`, and inherits the `descriptors`."""

    def __init__(self, process: SwitchProcess) -> None:
        self._process = process
        self._asked, ask = os.pipe()
        answered, self._answers = os.pipe()
        self.descriptors = (ask, answered)
        self.environment = {_VARIABLE: f"{ask},{answered}"}

    def serve(self) -> None:
        """Restart the switch as often as ptf's process asks; ends with it."""
        while os.read(self._asked, 1):
            try:
                self._process.restart()
                answer = "\n"
            except ControlError as error:
                answer = f"{error}\n"
            os.write(self._answers, answer.encode())


@contextmanager
def restarts(process: SwitchProcess) -> Iterator[Restarts]:
    """Serve restarts of a process while the body runs."""
    served = Restarts(process)
    thread = threading.Thread(target=served.serve, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        for descriptor in served.descriptors:
            os.close(descriptor)
        thread.join()


def can_restart() -> bool:
    """Whether this is a process of ptf whose runner restarts the switch."""
    return _VARIABLE in os.environ


def restart() -> None:
    """Have the switch restarted; returns when it answers, without a program.

    Raises:
        ControlError: It doesn't start.
    """
    ask, answered = (int(descriptor) for descriptor in os.environ[_VARIABLE].split(","))
    os.write(ask, b"r")
    if answer := os.read(answered, 4096).decode().strip():
        raise ControlError(answer)
