"""Pages of the site, from `docs` and from the files of the tree that they link to."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from docs.site.reference import reference_pages

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
# Copied as they are; all other linked files are shown as a page.
_IMAGES = (".png", ".svg")
_LANGUAGES = {".p4": "c", ".rs": "rust", ".py": "python", ".toml": "toml", ".yaml": "yaml", ".json": "json"}
_UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n"
_LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)#\s]+)")
_FENCE = re.compile(r"(^ *```.*?^ *```$)", flags=re.MULTILINE | re.DOTALL)


def tracked() -> list[str]:
    """Return the paths of all files of the tree, and of its folders, in order."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )  # fmt: skip
    files = {path for path in listed.stdout.splitlines() if (ROOT / path).exists()}
    return sorted(files | {str(parent) for path in files for parent in Path(path).parents if parent != Path()})


def linked(text: str, replace: Callable[[str], str]) -> str:
    """Replace the targets of a page's links; code blocks have none."""
    parts = _FENCE.split(text)
    parts[::2] = [_LINK.sub(lambda match: replace(match[0]), part) for part in parts[::2]]
    return "".join(parts)


def page_of(path: str) -> str:
    """Return the page that shows a file or folder of the tree."""
    inside = Path(path).is_relative_to("docs")
    if inside and Path(path).suffix in (".md", *_IMAGES):
        return str(Path(path).relative_to("docs"))
    return f"source/{path}" if Path(path).suffix in _IMAGES else f"source/{path.removesuffix('.md')}.md"


class Staging:
    """Pages in work: the targets of a page's links become pages, too."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tracked = tracked()
        self._done: set[str] = set()

    def add(self, path: str) -> None:
        """Write the page of a file or folder, and those of all that it links to.

        Raises:
            ValueError: It isn't part of the tree.
        """
        if path in self._done:
            return
        self._done.add(path)
        if path not in self._tracked:
            raise ValueError(f"{path}: linked to, and no file or folder of the tree")
        source, page = ROOT / path, self._folder / page_of(path)
        page.parent.mkdir(parents=True, exist_ok=True)
        if source.suffix in _IMAGES:
            shutil.copyfile(source, page)
            return
        if source.is_dir():
            below = [Path(each).name for each in self._tracked if str(Path(each).parent) == path]
            text = f"{_UNSEARCHED}# {path}\n\n" + "".join(f"- [{name}]({name})\n" for name in below)
        else:
            text = source.read_text(encoding="utf-8")
        if source.is_dir() or source.suffix == ".md":
            text = linked(text, lambda target: self._follow(path, target))
        else:
            text = f"{_UNSEARCHED}# {path}\n\n````{_LANGUAGES.get(source.suffix, 'text')}\n{text.rstrip()}\n````\n"
        page.write_text(text, encoding="utf-8")

    def _follow(self, path: str, target: str) -> str:
        folder = Path(path) if (ROOT / path).is_dir() else Path(path).parent
        found = os.path.normpath(folder / target)
        self.add(found)
        return os.path.relpath(page_of(found), Path(page_of(path)).parent)


def stage(folder: Path) -> None:
    """Write all pages into a folder, which is emptied before."""
    shutil.rmtree(folder, ignore_errors=True)
    staging = Staging(folder)
    for path in [ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]:
        staging.add(str(path.relative_to(ROOT)))
    (folder / "assets").mkdir()
    for name in ("iframe-worker.js", "site.css"):
        shutil.copy(Path(__file__).with_name(name), folder / "assets")
    for name, text in reference_pages().items():
        page = folder / "reference" / name
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
