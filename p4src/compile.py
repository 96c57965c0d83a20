"""The files that belong to the program, and their compilation with p4c."""

from pathlib import Path

from phb_p4 import BUILD_DIRECTORY, SOURCE_DIRECTORY, artifact_path, p4info_path
from phb_switch import p4c

MANIFEST = BUILD_DIRECTORY / "manifest.json"


def compile_program(destination: Path) -> str:
    """Compile ``phb.p4`` into ``destination``; returns p4c's version.

    Raises:
        CompileError: p4c is not on the PATH, or refuses the program.
    """
    artifact, p4info = destination / artifact_path().name, destination / p4info_path().name
    return p4c.compile_program(SOURCE_DIRECTORY / "phb.p4", artifact, p4info, positions=True)


def digests() -> dict[str, str]:
    """SHA-256 of every source and artifact, by path below ``p4src/``."""
    return p4c.digests(SOURCE_DIRECTORY, [*SOURCE_DIRECTORY.glob("*.p4"), artifact_path(), p4info_path()])
