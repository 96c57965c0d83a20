"""Errors of a policy file in words for its author."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from pydantic_core import ErrorDetails

from phb.errors import InputError
from phb.formats.yaml_format import document, shape
from phb.origin import Origin

# Characters of a wrong value that an error shows.
SHOWN = 100


def explain(
    details: Sequence[ErrorDetails], data: document.Mapping, file: str, root: shape.Root = shape.POLICY
) -> InputError:
    """Give the first error. A misspelt key is also a missing one; of the two, the misspelling is told."""
    details = [detail for detail in details if not _follows(detail, details)]
    misspelt = [detail for detail in details if detail["type"] == "extra_forbidden"]
    return min(
        (_explain(detail, data, file, root) for detail in misspelt or details), key=lambda error: error.origin.line
    )


def _follows(detail: ErrorDetails, others: Sequence[ErrorDetails]) -> bool:
    """Whether a list is too short only because an item is wrong: pydantic doesn't count that one."""
    place = detail["loc"]
    return detail["type"] == "too_short" and any(
        len(other["loc"]) > len(place) and other["loc"][: len(place)] == place for other in others
    )


def nothing(data: document.Mapping, file: str, root: shape.Root = shape.POLICY) -> InputError | None:
    """Give an error if some key has no value: in a file, the model's None is a missing key."""
    location = _first_nothing(data)
    if location is None:
        return None
    line, statement = _place(data, location, "")
    return InputError(Origin(file, line, statement), "nothing", shape.expected_at(location, root))


def _first_nothing(data: document.Mapping | document.Sequence) -> shape.Location | None:
    entries = data.items() if isinstance(data, document.Mapping) else enumerate(data)
    for key, value in entries:
        if value is None:
            return (key,)
        if isinstance(value, document.Mapping | document.Sequence):
            inner = _first_nothing(value)
            if inner is not None:
                return (key, *inner)
    return None


def _explain(detail: ErrorDetails, data: document.Mapping, file: str, root: shape.Root) -> InputError:
    location: shape.Location = tuple(detail["loc"])
    context = detail.get("ctx") or {}
    found = show(detail["input"])
    key = ""
    match detail["type"]:
        case "extra_forbidden":
            found, expected = _unknown(location, root)
        case "missing" if isinstance(location[-1], int):
            expected = shape.expected_at(location[:-1], root)
        case "missing":
            found, expected = f"no '{location[-1]}'", f"'{location[-1]}': {shape.expected_at(location, root)}"
        case "unexpected":
            found, expected, key = context["found"], context["expected"], context["field"]
        case "value_error":
            expected = str(context["error"])
        case "union_tag_invalid":
            found, key = f"'{context['tag']}'", "kind"
            expected = f"one of {context['expected_tags']}"
        case "union_tag_not_found":
            found, expected = "no 'kind'", shape.expected_at(location, root)
        case "string_too_long":
            expected = f"text of at most {context['max_length']} characters"
        case "string_too_short":
            expected = "text that isn't empty"
        case "too_short" if not detail["input"]:
            found, expected = "an empty list", "one that isn't"
        case "greater_than":
            expected = f"a number greater than {context['gt']}"
        case "greater_than_equal":
            expected = f"a number of at least {context['ge']}"
        case "less_than":
            expected = f"a number less than {context['lt']}"
        case "less_than_equal":
            expected = f"a number of at most {context['le']}"
        case _:
            expected = shape.expected_at(location, root)
    line, statement = _place(data, location, key)
    return InputError(Origin(file, line, statement), found, expected)


def _unknown(location: shape.Location, root: shape.Root) -> tuple[str, str]:
    """Find an unknown key, with the one that was perhaps meant, or the place."""
    key, known = str(location[-1]), shape.keys_at(location[:-1], root)
    near = [f"'{name}'" for name in get_close_matches(key.replace("_", "-").lower(), known, n=1)]
    meant = near or list(shape.homes(location[:-1], key, root))
    found = f"unknown key '{key}'"
    return f"{found} ({meant[0]}?)" if meant else found, f"one of {', '.join(known)} here"


def show(value: Any) -> str:
    """Give a value as in a file, not longer than a line."""
    text = _show(value, 0)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _show(value: Any, depth: int) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"'{value}'"
    if isinstance(value, dict | list | tuple) and depth == 3:
        return "..."
    # An alias may repeat a value many times; ten of a collection fill a line.
    if isinstance(value, dict):
        inner = [f"{key}: {_show(entry, depth + 1)}" for key, entry in list(value.items())[:10]]
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_show(entry, depth + 1) for entry in value[:10]) + "]"
    return str(value)


def _place(data: document.Mapping, location: shape.Location, key: str) -> tuple[int, str]:
    """Give line and statement of `location`; parts that the file lacks (tags, missing keys) are skipped."""
    here: Any = data
    line, statement = data.line, ""
    for part in (*location, key):
        if isinstance(here, document.Mapping) and part in here:
            line, here = here.lines[str(part)], here[str(part)]
            statement += f".{part}" if statement else str(part)
        elif isinstance(here, document.Sequence) and isinstance(part, int) and part < len(here):
            line, here = here.lines[part], here[part]
            name = here.get("name") if isinstance(here, document.Mapping) else None
            statement += f"[{name if isinstance(name, str) else part}]"
    return line, statement
