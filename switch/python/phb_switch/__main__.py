"""`python -m phb_switch`: goes on as the program `phb-switch` that was installed with this package."""

import os
import sys
import sysconfig
from pathlib import Path


def main() -> None:
    """Becomes the program; nothing of Python stays in the process."""
    program = Path(sysconfig.get_path("scripts")) / "phb-switch"
    try:
        os.execv(program, ["phb-switch", *sys.argv[1:]])
    except OSError as error:
        print(f"phb-switch: {program}: {error.strerror}; `make setup` builds it", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
