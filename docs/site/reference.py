"""Pages of the reference, one for each part of `phb` and `phb_lab`; mkdocstrings fills them in from docstrings."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Rust's own pages are copied beside the site when it is done, so no link to them can be checked before.
_INDEX = """# Reference

From the docstrings of the code.

- [`phb`](phb.md): the controller, from policy files to table entries and pushes.
- [`phb_lab`](phb_lab.md): the lab, from descriptions of networks to figures.
- <a href="../rust/phb_node/index.html">The switch's crates</a>, by `cargo doc`.
"""
_PACKAGES = {"phb": ROOT / "controller/phb", "phb_lab": ROOT / "topologies/phb_lab"}


def parts(package: str) -> list[str]:
    """Return the modules and packages right below a package."""
    found = [path for path in _PACKAGES[package].iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    return sorted(path.stem for path in found if not path.stem.startswith("_"))


def reference_pages() -> dict[str, str]:
    """Return the reference's pages by name."""
    pages = {"index.md": _INDEX}
    for package in _PACKAGES:
        listed = "".join(f"- [`{package}.{part}`]({package}.{part}.md)\n" for part in parts(package))
        pages[f"{package}.md"] = f"# {package}\n\n{listed}\n::: {package}\n"
        for part in parts(package):
            pages[f"{package}.{part}.md"] = f"# {package}.{part}\n\n::: {package}.{part}\n"
    return pages
