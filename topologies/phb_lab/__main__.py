"""Entry point of ``phb-lab``."""

import signal


def main() -> None:
    """Run the command; until it holds something to clean up, Ctrl-C ends it at once."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Imported here so that the line above counts for the second that the imports take.
    from phb_lab.cli import main as command

    command()


if __name__ == "__main__":
    main()
