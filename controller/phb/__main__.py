"""Entry point of ``phb`` and ``python -m phb``."""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Run the command; Ctrl-C ends it at once as long as there is nothing to clean up."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _fill_closed_descriptors()
    # Letters that the terminal doesn't have are escaped, as on standard error.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    # gRPC's own lines on standard error would only repeat ours.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    # Imported here so that Ctrl-C ends the process at once during the imports, too.
    from phb.cli import main as command

    command()


def _fill_closed_descriptors() -> None:
    """Open closed standard streams read-only: no socket gets their numbers, and output that is lost is an error."""
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
