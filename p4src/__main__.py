"""Compile the program with p4c: ``make p4``."""

import sys

from phb_p4 import BUILD_DIRECTORY
from phb_p4.compile import MANIFEST, compile_program, digests
from phb_switch.p4c import CompileError, write_manifest


def main() -> int:
    """Compile into ``build/``; exit code 2 with one line when p4c is missing or refuses the program."""
    try:
        version = compile_program(BUILD_DIRECTORY)
    except CompileError as error:
        print(f"{error}; the artifacts in {BUILD_DIRECTORY} stay as they are", file=sys.stderr)
        return 2
    write_manifest(MANIFEST, version, digests())
    print(f"{BUILD_DIRECTORY}: compiled with p4c {version}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
