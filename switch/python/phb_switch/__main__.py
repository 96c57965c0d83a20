"""Entry point of `phb-switch`."""

import os
import signal
import sys


def main() -> None:
    """Run the command; until it holds something to clean up, Ctrl-C ends it at once."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _fill_closed_descriptors()
    # A letter that the terminal doesn't have is written as its number, as on stderr, and isn't an error.
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    # Lines of gRPC's own on stderr would come beside ours, which say the same.
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    # Imported here so that the line above counts for the time that the imports take.
    try:
        from phb_switch.cli import main as command
    except ImportError as error:
        if error.name is None or not error.name.startswith("phb_switch"):
            raise
        sys.exit(f"phb-switch: the native module is missing or of another version, build it by `make setup`: {error}")

    command()


def _fill_closed_descriptors() -> None:
    """Opens /dev/null where stdin, stdout or stderr are closed, lest a packet socket take the place and our lines."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115


if __name__ == "__main__":
    main()
