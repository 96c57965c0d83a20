"""Entries of tables in words, and why one that matches has lost against the one that won."""

from __future__ import annotations

from typing import Any

from phb.trace.values import match, named


def matches(entry: dict[str, Any], key: list[dict[str, Any]]) -> str:
    """Write what an entry asks for, without fields where any value will do."""
    names = [each.get("name", "") for each in key]
    asked = entry.get("matches", [])
    words = []
    for position, each in enumerate(asked):
        name = names[position] if position < len(names) else ""
        wanted = match(each, name)
        if wanted is not None:
            words.append(f"{name} {wanted}".strip())
    return ", ".join(words) or "anything"


def action(name: str, parameters: list[dict[str, Any]]) -> str:
    """Write an action with its parameters: ``set_class(policy 3, stream 0)``."""
    return f"{name}({named(parameters)})" if parameters else name


def entry(told: dict[str, Any], key: list[dict[str, Any]]) -> str:
    """Write an entry without its action."""
    priority = f" of priority {told['priority']}" if "priority" in told else ""
    return f"entry {told.get('number', 0)}{priority}, {matches(told, key)}"


def why_lost(other: dict[str, Any], winner: dict[str, Any]) -> str:
    """Say why `other`, which matches as well, isn't the one: ``priority 20 < 30``, ``/8 shorter than /24``."""
    if "priority" in other and "priority" in winner:
        mine, won = other["priority"], winner["priority"]
        return f"priority {mine} < {won}" if mine < won else f"priority {mine} as well"
    for mine, won in zip(other.get("matches", []), winner.get("matches", []), strict=False):
        if mine.get("kind") == won.get("kind") == "prefix":
            shorter, longer = mine.get("length", 0), won.get("length", 0)
            if shorter < longer:
                return f"/{shorter} shorter than /{longer}"
    return "found second"
