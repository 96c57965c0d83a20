"""Listed warnings: what a policy says without effect."""

from __future__ import annotations

from dataclasses import dataclass

from phb.origin import Origin


@dataclass(frozen=True, slots=True)
class Notice:
    """Something the policy says that has no effect, and why that is harmless: a listed warning."""

    origin: Origin
    message: str

    def __str__(self) -> str:
        return f"{self.origin}: {self.message}"
