"""Files that could not be written, or read, to their ends while the switch ran.

The switch goes on without them. Each is said once, when it happens, and the exit code says that there was one.
"""

import logging
import sys
from contextlib import suppress

from phb_switch._native import RealTime
from phb_switch.command.errors import FailedError


class Failures:
    """What is wrong with the files of one run."""

    def __init__(self) -> None:
        self._some = False
        self._of_ports = 0

    def say(self, failure: str) -> None:
        """Says what is wrong with a file, on stderr, whatever becomes of the log."""
        self._some = True
        with suppress(OSError):
            print(f"phb-switch: {failure}", file=sys.stderr)

    def of_ports(self, runner: RealTime, log: logging.Logger | None) -> None:
        """Says which files of ports have failed since the last call, in a log, too, where there is one apart."""
        failures = runner.statistics()["failures"][self._of_ports :]
        self._of_ports += len(failures)
        for failure in failures:
            self.say(failure)
            if log is not None:
                log.error("%s", failure)

    def check(self) -> None:
        """Ends a run.

        Raises:
            FailedError: not all files are whole.

        """
        if self._some:
            raise FailedError("failed: not all files are whole")
