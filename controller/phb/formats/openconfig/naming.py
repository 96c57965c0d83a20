"""Names of rules and actions, by what OpenConfig counts them as."""

from __future__ import annotations

import hashlib

_LONGEST = 64


def matched_name(interface: str, version: str, term: str) -> str:
    """Name the rule of a classifier's term at an interface."""
    return _short(f"{interface} {version} {term}")


def policed_name(interface: str, sequence: int) -> str:
    """Name the action of a policer at an interface."""
    return _short(f"{interface} policer {sequence}")


def _short(name: str) -> str:
    if len(name) <= _LONGEST:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:12]
    return f"{name[: _LONGEST - 13]}~{digest}"
