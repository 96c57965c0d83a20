"""Entry point of `phb-switch`."""

import signal


def main() -> None:
    """Run the command; until it holds something to clean up, Ctrl-C ends it at once."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Imported here so that the line above counts for the time that the imports take.
    from phb_switch.cli import main as command

    command()


if __name__ == "__main__":
    main()
