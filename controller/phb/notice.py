"""Listed warnings: what a policy says without effect, or with less than it says."""

from __future__ import annotations

from dataclasses import dataclass

from phb.origin import Origin


@dataclass(frozen=True, slots=True)
class Notice:
    """A listed warning: something the policy says that has no effect, and why that is harmless, or only comes close."""

    origin: Origin
    message: str

    def __str__(self) -> str:
        return f"{self.origin}: {self.message}"
