"""Policy files made from those that ship with phb, for options of a network."""

import tempfile
from functools import cache
from pathlib import Path


def write(name: str, text: str) -> Path:
    """Write a file of that name into a folder that is removed when the process ends."""
    path = Path(_folder().name) / name
    path.write_text(text)
    return path


def is_generated(path: Path) -> bool:
    """Whether :func:`write` made it: its name says what it is, its folder is another one each time."""
    return path.parent == Path(_folder().name)


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="phb-lab-")
