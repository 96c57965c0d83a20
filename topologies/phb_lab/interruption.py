"""Ctrl-C, noticed where a run can stop cleanly."""

import signal
from types import FrameType
from typing import Self

from phb_lab.errors import LabError


class InterruptedRunError(LabError):
    """The user asked to stop; exit code 130."""


class Interruption:
    """While it is open, Ctrl-C and SIGTERM are only remembered; :meth:`check` raises the error.

    A KeyboardInterrupt in the middle of a push would break the states of gRPC's threads.
    """

    def __init__(self) -> None:
        self._asked = False

    def __enter__(self) -> Self:
        self._before = {number: signal.signal(number, self._remember) for number in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Stop here if the user asked to.

        Raises:
            InterruptedRunError: Ctrl-C was pressed.
        """
        if self._asked:
            raise InterruptedRunError("interrupted")

    def _remember(self, number: int, frame: FrameType | None) -> None:
        self._asked = True
