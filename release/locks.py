"""Lock files, as `make lock` writes them."""

from __future__ import annotations


def pins(lock: str) -> list[str]:
    """Return the requirements in a lock file's text without their hashes: with those, pip takes nothing else beside."""
    return [line.rstrip(" \\") for line in lock.splitlines() if line[:1].isalnum()]
