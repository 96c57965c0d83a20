"""Listed warnings: what a policy says without effect, or with less than it says."""

from __future__ import annotations

from dataclasses import dataclass

from phb.origin import Origin


@dataclass(frozen=True, slots=True)
class Notice:
    """A listed warning: a statement without effect, and why that is harmless, or one that is only nearly met.

    An `aside` is a note on a line that doesn't bear on packets: commands only count these unless asked.
    """

    origin: Origin
    message: str
    aside: bool = False

    def __str__(self) -> str:
        return f"{self.origin}: {self.message}"
