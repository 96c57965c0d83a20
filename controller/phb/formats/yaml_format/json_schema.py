"""JSON schema of the YAML format, made from the model."""

from __future__ import annotations

from typing import Any

from phb.formats.yaml_format.reader import VERSION
from phb.model import PolicySet


def schema() -> dict[str, Any]:
    """JSON schema (draft 2020-12) of a policy file."""
    result = PolicySet.model_json_schema(by_alias=True)
    version = {"const": VERSION, "description": "Version of the format."}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **result,
        "title": "phb policy file",
        "properties": {"phb": version, **result["properties"]},
        "required": ["phb", *result.get("required", ())],
    }
