"""Entry point of ``phb-lab``."""

import os
import signal
import sys


def main() -> None:
    """Run the command; until it holds something to clean up, Ctrl-C ends it at once."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # A letter that the terminal lacks is written as its number, as on standard error.
    if sys.stdout is not None:
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    # gRPC's lines on standard error would break up the progress bar.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    # Imported here because it takes a second, in which Ctrl-C shall work.
    from phb_lab.cli import main as command

    command()


if __name__ == "__main__":
    main()
