"""Lines of the P4 program, by the places that steps have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from phb.errors import InputError
from phb.files import read_text
from phb.origin import Origin


class Sources:
    """The program's files below a folder. A trace has the names that the compiler was given, whose ends are looked for.

    Raises:
        InputError: There is no such folder.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise InputError(Origin(str(folder)), "no folder", "the one with the program's P4 files")
        self._folder = folder
        self._files: dict[str, list[str]] = {}

    def line(self, source: dict[str, Any]) -> str | None:
        """Give the text of a line; None where the folder doesn't have it."""
        lines = self._lines(source.get("file", ""))
        at = source.get("line", 0)
        return lines[at - 1].strip() if 0 < at <= len(lines) else None

    def _lines(self, name: str) -> list[str]:
        if name not in self._files:
            found = self._find(name)
            self._files[name] = [] if found is None else read_text(found, "a readable P4 file").split("\n")
        return self._files[name]

    def _find(self, name: str) -> Path | None:
        # Compiled in another folder, on another machine: as much of the end of the path as there is below this one. A
        # trace may come from anybody, so nothing outside of the folder is opened.
        parts = [part for part in Path(name).parts if part not in ("/", "..")]
        for first in range(len(parts)):
            path = self._folder.joinpath(*parts[first:])
            if path.is_file() and path.resolve().is_relative_to(self._folder.resolve()):
                return path
        return None
