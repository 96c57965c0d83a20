"""JSON schema of the YAML format, made from the model.

It refuses what the reader refuses, within the limits of JSON schema. It can't say that a range runs from low to high,
that a prefix has no host bits, that value bits lie inside a mask, that two rates have one basis, that 5.0 is no
integer, that a time zone or a 30th of February exists, nor anything about several items.
"""

from __future__ import annotations

import inspect
import re
from itertools import combinations
from typing import Any, TypeAlias

from phb.formats.yaml_format import shape
from phb.formats.yaml_format.reader import VERSION
from phb.model import (
    MARKS,
    Applicability,
    Bandwidth,
    ClassQueue,
    CodePoints,
    Conditions,
    DropProfile,
    FlowQueueing,
    Item,
    Marking,
    Meter,
    Objectives,
    PolicySet,
    Queueing,
    Route,
    Treatment,
)
from phb.model.applicability import MOST_PEERS

Schema: TypeAlias = dict[str, Any]


def schema() -> Schema:
    """Give the JSON schema (draft 2020-12) of a policy file."""
    return schema_of(PolicySet, shape.POLICY.version_key, "phb policy file")


def schema_of(kind: type[Item], version_key: str, title: str) -> Schema:
    """Give the JSON schema of files that are `kind`; `version_key` has the version of their format."""
    made = _tidy(kind.model_json_schema(by_alias=True))
    definitions = made.pop("$defs")
    for name, item in _items(kind, {}).items():
        _complete(made if item is kind else definitions[name], item)
    version = {"const": VERSION, "description": "Version of the format."}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        **made,
        "properties": {version_key: version, **made["properties"]},
        "required": [version_key, *made.get("required", ())],
        "$defs": definitions,
    }


def _items(item: type[Item], known: dict[str, type[Item]]) -> dict[str, type[Item]]:
    if item.__name__ not in known:
        known[item.__name__] = item
        for field in item.model_fields.values():
            for inner in shape.items_in(field.annotation):
                _items(inner, known)
    return known


def _tidy(part: Any) -> Any:
    """Remove noise from pydantic's schema: titles, nulls (a key with nothing is an error), empty defaults."""
    if isinstance(part, list):
        return [_tidy(entry) for entry in part]
    if not isinstance(part, dict):
        return part
    alternatives = part.get("anyOf")
    if alternatives is not None:
        part = {**part, "anyOf": [entry for entry in alternatives if entry != {"type": "null"}]}
        if len(part["anyOf"]) == 1:
            part |= part.pop("anyOf")[0]
    kept = {key: value for key, value in part.items() if key not in ("title", "discriminator")}
    if kept.get("default") is None or isinstance(kept["default"], dict | list):
        kept.pop("default", None)
    # The keys below are names, not words of JSON schema.
    return {
        key: {name: _tidy(value) for name, value in entry.items()} if key in ("properties", "$defs") else _tidy(entry)
        for key, entry in kept.items()
    }


def _complete(made: Schema, item: type[Item]) -> None:
    """Add the model's docstrings and validators."""
    summary, fields = _documented(item)
    made["description"] = summary
    for name, words in fields.items():
        described = made["properties"][shape.aliases(item)[name]]
        written = described.get("description")
        described["description"] = f"{words} Written as {written}." if written else words
    rules = [rule for kind in item.__mro__ for rule in _RULES.get(kind, [])]
    if rules:
        made["allOf"] = rules
    for kind in item.__mro__:
        for key, said in _KEYS.get(kind, {}).items():
            described = made["properties"][key]
            described.pop("anyOf", None)
            described |= said


def _documented(item: type[Item]) -> tuple[str, dict[str, str]]:
    text, _, attributes = (inspect.getdoc(item) or "").partition("\nAttributes:\n")
    fields: dict[str, str] = {}
    for entry in re.split(r"\n {4}(?=\w+:)", "\n" + attributes.rstrip())[1:]:
        name, _, words = entry.partition(":")
        fields[name] = " ".join(words.split())
    return " ".join(text.split()), {name: words for name, words in fields.items() if name in item.model_fields}


# ---------------------------------------------------------------------------
# What the model's validators check
# ---------------------------------------------------------------------------


def _given(*keys: str) -> Schema:
    return {"required": list(keys)}


def _at_most_one(*keys: str) -> list[Schema]:
    return [{"not": _given(one, other)} for one, other in combinations(keys, 2)]


def _is(key: str, value: Any) -> Schema:
    return {"properties": {key: {"const": value}}, "required": [key]}


def _none_of(*keys: str) -> Schema:
    return {"not": {"anyOf": [_given(key) for key in keys]}}


def _if(condition: Schema, then: Schema, otherwise: Schema | None = None) -> Schema:
    return {"if": condition, "then": then} | ({} if otherwise is None else {"else": otherwise})


_BOUNDS = ("minimum-rate", "maximum-rate", "maximum-delays", "maximum-loss-percent")
_V6 = {"properties": {"source": {"pattern": ":"}}}

_RULES: dict[type, list[Schema]] = {
    Marking: _at_most_one("set-tos", "set-dscp", "set-precedence"),
    Treatment: [_if(_is("drop", True), _none_of(*(name.replace("_", "-") for name in MARKS)))],
    Meter: [
        _if(_is("kind", "single-rate"), _none_of("peak-rate", "peak-burst-bytes")),
        _if(
            _is("kind", "two-rate"),
            {"allOf": [_given("peak-rate", "peak-burst-bytes"), _none_of("excess-burst-bytes")]},
        ),
        _if(_is("kind", "two-rate-separate"), {"allOf": [_given("peak-rate"), _none_of("peak-burst-bytes")]}),
    ],
    CodePoints: _at_most_one("tos", "dscp", "precedence"),
    Conditions: [
        _if(
            _given("source", "destination"),
            _if(
                _V6,
                {"properties": {"destination": {"pattern": ":"}}},
                {"properties": {"destination": {"not": {"pattern": ":"}}}},
            ),
        )
    ],
    Route: [
        _if(
            {"anyOf": [_is("discard", True), _given("next-hop")]},
            _none_of("port", "source-mac", "destination-mac"),
            _given("port", "source-mac", "destination-mac"),
        ),
        _if(_is("discard", True), _none_of("next-hop")),
    ],
    Objectives: [{"anyOf": [_given(key) for key in _BOUNDS]}],
    DropProfile: _at_most_one("dscp", "precedence", "colour"),
    Bandwidth: [
        *_at_most_one("rate", "percent", "remaining-percent", "weight"),
        {"anyOf": [_given(key) for key in ("rate", "percent", "remaining-percent", "weight")]},
    ],
    ClassQueue: [_if(_given("level"), _none_of("bandwidth", "fair-queue", "shaper"))],
    Queueing: [
        _if({"properties": {"schedule": _is("kind", "classes")}, "required": ["schedule"]}, _none_of("early-detection"))
    ],
}

# Keys whose values pydantic doesn't describe as they are written.
_KEYS: dict[type, dict[str, Schema]] = {
    Applicability: {"peers": {"maxItems": MOST_PEERS}},
    FlowQueueing: {"dynamic-conversations": {"enum": [2**power for power in range(4, 13)]}},
}
