"""What belongs to the program's artifacts, and how p4c makes them."""

import json
from pathlib import Path
from typing import Any

from phb_p4 import BUILD_DIRECTORY, SOURCE_DIRECTORY, artifact_path, p4info_path
from phb_switch import p4c

MANIFEST = BUILD_DIRECTORY / "manifest.json"


def compile_program(destination: Path) -> str:
    """Compile ``phb.p4`` into ``destination``; returns p4c's version.

    The JSON goes to every switch, so it has neither blanks nor the places in the sources where p4c found something: two
    thirds of its bytes.

    Raises:
        CompileError: p4c is not on the PATH, or refuses the program.

    """
    artifact, p4info = destination / artifact_path().name, destination / p4info_path().name
    version = p4c.compile_program(SOURCE_DIRECTORY / "phb.p4", artifact, p4info)
    program = _without_sources(json.loads(artifact.read_text()))
    artifact.write_text(json.dumps(program, separators=(",", ":")) + "\n")
    return version


def _without_sources(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: _without_sources(value) for name, value in part.items() if name != "source_info"}
    return [_without_sources(value) for value in part] if isinstance(part, list) else part


def digests() -> dict[str, str]:
    """SHA-256 of every source and artifact, by path below ``p4src/``."""
    return p4c.digests(SOURCE_DIRECTORY, [*SOURCE_DIRECTORY.glob("*.p4"), artifact_path(), p4info_path()])
