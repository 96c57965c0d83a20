"""An installation has every package of the tree, and its Rust is built once."""

import subprocess
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


def features(package: str) -> dict[str, set[str]]:
    """Return the features of each crate that a package of the workspace is built from, by crate and version."""
    command = ["cargo", "tree", "--locked", "--package", package, "--edges", "normal,build"]
    command += ["--prefix", "none", "--no-dedupe", "--format", "{p}\t{f}"]
    found: dict[str, set[str]] = {}
    for line in subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        crate, _, its = line.partition("\t")
        found.setdefault(crate, set()).add(its)
    return found


def test_what_module_and_program_share_is_built_once():
    module, program = features("phb-python"), features("phb-switch")
    shared = module.keys() & program.keys()
    assert len(shared) > 100
    assert {crate.partition(" ")[0] for crate in shared if module[crate] != program[crate]} == set()
