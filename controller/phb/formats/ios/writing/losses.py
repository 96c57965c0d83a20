"""The losses of a policy that is written in IOS's statements."""

from __future__ import annotations

from phb.formats.format import Loss
from phb.model import Item
from phb.origin import Origin


class Losses:
    """A list without repetitions: one rule may be written at several interfaces."""

    def __init__(self) -> None:
        self._found: dict[tuple[Origin, str], Loss] = {}

    def add(self, item: Item, field: str, what: str, why: str, *, kept: bool = False) -> None:
        """Add a loss at the place of the item's field; packets are treated as before if it is `kept`."""
        origin = item.origin(field)
        self._found.setdefault((origin, what), Loss(origin, what, why, item, field, kept))

    def all(self) -> tuple[Loss, ...]:
        """Give the losses in the order of their discovery."""
        return tuple(self._found.values())
