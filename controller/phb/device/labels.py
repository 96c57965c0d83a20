"""Names of the numbers in an entry, kept with the entry by the switch itself.

P4Runtime has a server keep a string of bytes with each table entry (section 9.1, `metadata`). A push writes there which
rule, action and class the numbers that the entry hands out belong to. So a command that looks at the switch
knows whose counters it reads, without files or state; and a push knows which of the numbers get another meaning.

An entry without a label, of a controller that writes none, may stand for anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType

from phb.device.references import References
from phb.entries import TableRow
from phb.intent import NodeIntent

NAMED = ("policy", "stream", "traffic_class")
"""Kinds of numbers that have names: rules, actions, classes."""

DIRECTION = "direction"
_DIFFERENT_LABELS = 1 << 16


def labelled(rows: Sequence[TableRow], intent: NodeIntent, references: References) -> list[TableRow]:
    """Label the rows of a compilation with the names of the numbers that they hand out."""
    names: Mapping[str, Mapping[int, Mapping[str, str]]] = {
        "policy": {
            each.number: {"policy": each.rule} | ({} if each.direction == "any" else {DIRECTION: each.direction})
            for each in intent.policies
        },
        "stream": {each.number: {"stream": each.action} for each in intent.streams},
        "traffic_class": {number: {"traffic_class": name} for name, number in intent.classes.items() if number},
    }

    @cache
    def label(handed: tuple[tuple[str, int], ...]) -> bytes:
        words: dict[str, str] = {}
        for space, number in handed:
            words |= names[space].get(number, {})
        return json.dumps(words, separators=(",", ":")).encode() if words else b""

    result = []
    for row in rows:
        handed = tuple((space, row.parameters[at]) for at, space in references.handed[row.action] if space in names)
        result.append(row._replace(label=label(handed)) if handed else row)
    return result


@lru_cache(maxsize=_DIFFERENT_LABELS)
def said(label: bytes) -> Mapping[str, str]:
    """Read a label; it is empty where it is none of ours."""
    try:
        found = json.loads(label)
    except (ValueError, RecursionError):
        return MappingProxyType({})
    if not isinstance(found, dict):
        return MappingProxyType({})
    return MappingProxyType({name: value for name, value in found.items() if isinstance(value, str)})


def unlabelled(rows: Iterable[TableRow]) -> set[TableRow]:
    """Give the rows as packets meet them, without labels."""
    return {row._replace(label=b"") if row.label else row for row in rows}
