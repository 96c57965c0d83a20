"""The part of `make lint` for the Python dependencies: ``python -m tests.dependencies``.

The lock files must have, for every requirement of pyproject.toml, a version that it allows, and no version that PyPI's
data, if they are available, call vulnerable. With the name of a lock file, it prints what that must contain.
"""

import json
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from release.locks import pins

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ROOT / "requirements"
# Extras that can't be built everywhere, and the groups that make documentation and releases: each is locked apart.
APART = ("ldap", "ptf", "docs", "dist")


def asked_for(project: dict[str, Any]) -> dict[str, list[str]]:
    """Return the requirements of a pyproject.toml, by the lock file that has to hold them."""
    extras = project["project"]["optional-dependencies"]
    together = [each for name, extra in extras.items() if name not in APART for each in extra]
    together += project["project"]["dependencies"] + project["build-system"]["requires"]
    groups = project["dependency-groups"]
    together += [each for name, group in groups.items() if name not in APART for each in group]
    return {"setup": together} | {name: (extras | groups)[name] for name in APART}


def disagreements(asked: list[str], lock: str) -> list[str]:
    """Return the requirements that a lock file doesn't satisfy."""
    locked = [Requirement(pin) for pin in pins(lock)]
    wrong = []
    for wanted in map(Requirement, asked):
        held = [pin for pin in locked if canonicalize_name(pin.name) == canonicalize_name(wanted.name)]
        versions = [next(iter(pin.specifier)).version for pin in held]
        if not versions:
            wrong.append(f"{wanted} is not there")
        wrong += [f"{wanted} is there as {each}" for each in versions if not wanted.specifier.contains(each)]
    return wrong


def vulnerable(report: dict[str, Any]) -> tuple[list[str], str]:
    """Return the findings of pip-audit's report, and why it could not look."""
    packages = report["dependencies"]
    found = [f"{each['name']} {each['version']}: {bad['id']}" for each in packages for bad in each.get("vulns", [])]
    unknown = [each["skip_reason"] for each in packages if "skip_reason" in each]
    if len(unknown) < len(packages):
        # An index that knows others knows all: one that it doesn't know counts as a finding.
        return found + unknown, ""
    return [], unknown[0] if unknown else "no package"


def audit(lock: Path) -> tuple[list[str], str]:
    """Return :func:`vulnerable` of a lock file."""
    with tempfile.NamedTemporaryFile() as report:
        command = [sys.executable, "-m", "pip_audit", "--requirement", str(lock), "--require-hashes", "--disable-pip"]
        command += ["--vulnerability-service", "pypi", "--progress-spinner", "off"]
        command += ["--format", "json", "--output", report.name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if text := Path(report.name).read_text():
            return vulnerable(json.loads(text))
    said = (done.stderr.strip() or "pip-audit said nothing").splitlines()[-1]
    return ([], said) if "ConnectionError" in done.stderr or "Could not connect" in done.stderr else ([said], "")


def main(arguments: list[str]) -> int:
    """Return 1 where something is wrong, after a line for each."""
    asked = asked_for(tomllib.loads((ROOT / "pyproject.toml").read_text()))
    if arguments:
        print("\n".join(asked[arguments[0]]))
        return 0
    wrong = []
    for name, requirements in asked.items():
        lock = LOCKS / f"{name}.lock"
        wrong += [f"{lock}: {words} (`make lock`)" for words in disagreements(requirements, lock.read_text())]
        found, why = audit(lock)
        wrong += [f"{lock}: {words}" for words in found]
        if why:
            print(f"pip-audit: PyPI's data can't be had, {lock.name} not looked at: {why}")
    print("\n".join(wrong), end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
