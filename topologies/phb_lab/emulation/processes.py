"""Processes of a run: those that say when they are ready, and what to do when one ends too early."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from phb_lab.errors import LabError

READY = b"ready\n"

_LAST_LINES = 5


class EmulationError(LabError):
    """A process of a run failed."""


@dataclass(frozen=True)
class Process:
    """A process in a node's namespace; ``what`` names it in messages, ``log`` has its standard error."""

    what: str
    child: "subprocess.Popen[bytes]"
    log: Path

    def wait_until_ready(self) -> None:
        """Wait for its line.

        Raises:
            EmulationError: it ended, or said something else.
        """
        assert self.child.stdout is not None
        if self.child.stdout.readline() != READY:
            raise self.failed()

    def tell(self, line: str) -> None:
        """Write a line to its standard input."""
        assert self.child.stdin is not None
        self.child.stdin.write(line.encode() + b"\n")
        self.child.stdin.flush()

    def finish(self, patience_s: float) -> str:
        """End its standard input, wait for its end, and give what it has printed.

        Raises:
            EmulationError: it failed, or doesn't end.
        """
        try:
            printed, _ = self.child.communicate(timeout=patience_s)
        except subprocess.TimeoutExpired:
            raise EmulationError(f"{self.what}: doesn't end") from None
        if self.child.returncode:
            raise self.failed()
        return printed.decode()

    def wait(self, patience_s: float) -> None:
        """Wait for its end.

        Raises:
            EmulationError: it failed, or doesn't end.
        """
        try:
            self.child.wait(patience_s)
        except subprocess.TimeoutExpired:
            raise EmulationError(f"{self.what}: doesn't end") from None
        self.check()

    def check(self) -> None:
        """See that it still runs, or has done its work.

        Raises:
            EmulationError: it failed.
        """
        if self.child.poll():
            raise self.failed()

    def failed(self) -> EmulationError:
        """Make the error of a process that has ended, with its last lines."""
        self.child.wait(_LAST_LINES)
        said = self.log.read_text(errors="replace").splitlines()[-_LAST_LINES:]
        return EmulationError(f"{self.what}: ended with {self.child.returncode}: {' / '.join(said) or 'said nothing'}")
