"""Entry point of ``phb`` and ``python -m phb``."""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Run the command; until it holds something to clean up, Ctrl-C ends it at once, with the exit code of Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _fill_closed_descriptors()
    # A letter that the terminal doesn't have is written as its number, as on standard error, and isn't an error.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    # Lines of gRPC's own on standard error would come beside ours, which say the same.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    # Imported here so that the first line counts for the time that the imports take.
    from phb.cli import main as command

    command()


def _fill_closed_descriptors() -> None:
    """Take the place of closed standard streams, lest a socket take it and our lines.

    What replaces them can't be written to: a result that nobody gets is an error, as on a full disk.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDONLY)
    if sys.stdin is None:
        sys.stdin = open(0)  # noqa: SIM115
    for name, descriptor in (("stdout", 1), ("stderr", 2)):
        if getattr(sys, name) is None:
            setattr(sys, name, open(descriptor, "w", closefd=False))  # noqa: SIM115


if __name__ == "__main__":
    main()
