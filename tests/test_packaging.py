"""An installation has every package of the tree."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_package_is_installed():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    there = [
        ".".join([name, *source.parent.relative_to(folder).parts])
        for name, folder in ((name, ROOT / folder) for name, folder in settings["package-dir"].items())
        for source in folder.rglob("__init__.py")
        if "tests" not in source.relative_to(folder).parts
    ]
    assert sorted(there) == settings["packages"]
