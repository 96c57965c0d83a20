"""The lab's data files: published figures, adapter parameters, the schema of results."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from yaml import CSafeLoader, load

_DIRECTORY = Path(__file__).resolve().parent / "data"


@cache
def published() -> dict[str, Any]:
    """Figures of the five source documents, by network."""
    return _yaml("published.yaml")


@cache
def adapters() -> dict[str, dict[str, int]]:
    """Parameters of the host adapters, by kind; the file names the source of each."""
    return _yaml("adapters.yaml")


@cache
def results_schema() -> dict[str, Any]:
    """JSON schema of what ``phb-lab run --json`` writes."""
    schema: dict[str, Any] = json.loads((_DIRECTORY / "lab-results.schema.json").read_text())
    return schema


def _yaml(name: str) -> dict[str, Any]:
    data: dict[str, Any] = load((_DIRECTORY / name).read_text(), CSafeLoader)
    return data
