"""The losses of a policy that is written in IOS's statements."""

from __future__ import annotations

from phb.formats.format import Loss
from phb.model import Item
from phb.origin import Origin


class Losses:
    """A list that says each thing once: one rule may be written at several interfaces."""

    def __init__(self) -> None:
        self._found: dict[tuple[Origin, str], Loss] = {}

    def add(self, item: Item, field: str, what: str, why: str) -> None:
        """Something of this item, at the place of its field."""
        origin = item.origin(field)
        self._found.setdefault((origin, what), Loss(origin, what, why, item, field))

    def all(self) -> tuple[Loss, ...]:
        """In the order in which they were met."""
        return tuple(self._found.values())
