"""The data plane: P4_16 sources and what p4c made of them.

A user of the package needs only the two artifacts: :func:`artifact_path` for a switch, :func:`p4info_path` for a
controller. ``python -m phb_p4`` (``make p4``) compiles them anew where p4c is installed.
"""

from pathlib import Path

SOURCE_DIRECTORY = Path(__file__).resolve().parent
BUILD_DIRECTORY = SOURCE_DIRECTORY / "build"


def artifact_path() -> Path:
    """The bmv2 JSON that a v1model switch loads."""
    return BUILD_DIRECTORY / "phb.json"


def p4info_path() -> Path:
    """The P4Info (protobuf text) that belongs to :func:`artifact_path`."""
    return BUILD_DIRECTORY / "phb.p4info.txtpb"
