"""Pages of the reference, one for each part of `phb` and `phb_lab`; mkdocstrings fills them in from docstrings."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Rust's own pages are copied beside the site afterwards, so links to them can't be checked here.
_INDEX = """# Reference

From the docstrings of the code.

- [`phb`](phb.md): the controller, from policy files to table entries and pushes.
- [`phb_lab`](phb_lab.md): the lab, from descriptions of networks to figures.
- <a href="../rust/phb_node/index.html">The switch's crates</a>, by `cargo doc`.
"""
# There are ten times as many docstrings as sections of pages: in a search they would hide the pages.
_UNSEARCHED = "---\nsearch:\n  exclude: true\n---\n"
_PACKAGES = {"phb": ROOT / "controller/phb", "phb_lab": ROOT / "topologies/phb_lab"}


def parts(package: str) -> dict[str, str]:
    """Return the modules and packages right below a package, with the first line of their docstrings."""
    found = {}
    for path in sorted(_PACKAGES[package].iterdir()):
        file = path / "__init__.py" if path.is_dir() else path
        if file.suffix == ".py" and file.exists() and not path.stem.startswith("_"):
            said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
            found[path.stem] = said.partition("\n")[0]
    return found


def reference_pages() -> dict[str, str]:
    """Return the reference's pages by name."""
    pages = {"index.md": _INDEX}
    for package in _PACKAGES:
        found = parts(package)
        listed = "".join(f"- [`{package}.{part}`]({package}.{part}.md): {said}\n" for part, said in found.items())
        alone = f"::: {package}\n    options:\n      show_submodules: false\n"
        pages[f"{package}.md"] = f"# {package}\n\n{listed}\n{alone}"
        for part in found:
            pages[f"{package}.{part}.md"] = f"{_UNSEARCHED}# {package}.{part}\n\n::: {package}.{part}\n"
    return pages
