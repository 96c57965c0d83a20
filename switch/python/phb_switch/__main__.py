"""`python -m phb_switch` becomes the program `phb-switch` of this package."""

import os
import sys
import sysconfig
from pathlib import Path


def main() -> None:
    """Replaces the process by the program."""
    program = Path(sysconfig.get_path("scripts")) / "phb-switch"
    try:
        os.execv(program, ["phb-switch", *sys.argv[1:]])
    except OSError as error:
        print(f"phb-switch: {program}: {error.strerror}; `make setup` builds it", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
