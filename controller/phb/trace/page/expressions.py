"""Expressions of an artifact in words."""

from __future__ import annotations

from typing import Any, Final

# What compilers add between bits and truth.
_UNSPOKEN: Final = frozenset({"d2b", "b2d"})
_WORDS: Final = {"and": "&&", "or": "||", "not": "!"}
# An artifact may be anybody's: what lies deeper is not shown.
_DEEPEST: Final = 60


def text_of(expression: Any, depth: int = 0) -> str:
    """Write an expression as P4 has it, as far as the artifact tells; empty where there is none."""
    if expression is None:
        return ""
    if depth > _DEEPEST:
        return "..."
    if not isinstance(expression, dict):
        return str(expression)
    kind, value = expression.get("type"), expression.get("value")
    if kind == "expression" and isinstance(value, dict):
        return text_of(value, depth + 1)
    if "op" in expression:
        return _operation(expression, depth)
    if kind == "field" and isinstance(value, list):
        header, field = (str(part) for part in value[:2])
        return f"{header}.isValid()" if field == "$valid$" else f"{header}.{field}"
    if isinstance(value, list):
        return ".".join(str(part) for part in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def _operation(operation: dict[str, Any], depth: int) -> str:
    op = str(operation["op"])
    left, right = (_operand(operation.get(side), depth + 1) for side in ("left", "right"))
    if op in _UNSPOKEN:
        return text_of(operation.get("right"), depth + 1)
    if op == "?":
        return f"{_operand(operation.get('cond'), depth + 1)} ? {left} : {right}"
    word = _WORDS.get(op, op)
    if not left:
        return f"{word}{right}" if not word.isalnum() else f"{word}({right})"
    return f"{left} {word} {right}"


def _operand(expression: Any, depth: int) -> str:
    text = text_of(expression, depth)
    return f"({text})" if " " in text else text


def fields_of(expression: Any, depth: int = 0) -> list[str]:
    """Give the fields that an expression reads, each once, in order."""
    found: list[str] = []
    if depth <= _DEEPEST and isinstance(expression, dict):
        value = expression.get("value")
        if expression.get("type") == "field" and isinstance(value, list):
            return [".".join(str(part) for part in value[:2])]
        for member in ("value", "cond", "left", "right"):
            found += fields_of(expression.get(member), depth + 1)
    return list(dict.fromkeys(found))
