"""Entry point of ``phb-lab``."""

import os
import signal
import sys


def main() -> None:
    """Run the command; until it holds something to clean up, Ctrl-C ends it at once."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # A letter that the terminal doesn't have is written as its number, as on standard error, and isn't an error.
    if sys.stdout is not None:
        sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    # Lines of gRPC's own on standard error would come between those of the progress bar.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    # Imported here so that the first line counts for the second that the imports take.
    from phb_lab.cli import main as command

    command()


if __name__ == "__main__":
    main()
