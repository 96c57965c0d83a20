"""The lab's data files: adapter parameters, and the schemas of results."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from yaml import CSafeLoader, load

_DIRECTORY = Path(__file__).resolve().parent / "data"


@cache
def adapters() -> dict[str, dict[str, int]]:
    """Parameters of the host adapters, by kind; the file names the source of each."""
    return _yaml("adapters.yaml")


@cache
def adapter_sources() -> dict[str, dict[str, str]]:
    """Source of each adapter parameter, by kind and parameter: the comments of the data file."""
    found: dict[str, dict[str, str]] = {}
    of_kind: dict[str, str] = {}
    name = ""
    for line in (_DIRECTORY / "adapters.yaml").read_text().splitlines():
        if kind := re.match(r"([\w-]+):", line):
            of_kind = found.setdefault(kind[1], {})
            name = ""
        elif parameter := re.match(r"  (\w+): *[^#]*(?:# *(.*))?$", line):
            name = parameter[1]
            of_kind[name] = parameter[2] or ""
        elif (more := re.match(r"  +# *(.*)$", line)) and name:
            of_kind[name] = f"{of_kind[name]} {more[1]}".strip()
    return found


@cache
def results_schema() -> dict[str, Any]:
    """Read the JSON schema that every results file follows."""
    return _json("lab-results.schema.json")


@cache
def run_results_schema() -> dict[str, Any]:
    """Read the JSON schema of all that ``phb-lab run --json`` writes."""
    return _json("run-results.schema.json")


def _json(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((_DIRECTORY / name).read_text())
    return data


def _yaml(name: str) -> dict[str, Any]:
    data: dict[str, Any] = load((_DIRECTORY / name).read_text(), CSafeLoader)
    return data
