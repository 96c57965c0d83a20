"""The intersection of two sets of conditions."""

from __future__ import annotations

from typing import Any

from phb.model import Conditions
from phb.values import AddressRange


def intersection(one: Conditions, other: Conditions) -> Conditions | None:
    """Intersect addresses, ports and protocol of two conditions; None where no packet meets both."""
    common: dict[str, Any] = {}
    for name in ("protocol", "source", "destination", "source_ports", "destination_ports"):
        asked = [value for value in (getattr(one, name), getattr(other, name)) if value is not None]
        both = asked[0] if len(asked) == 1 else _common(*asked) if asked else None
        if asked and both is None:
            return None
        common[name] = both
    if len({each.version for each in (common["source"], common["destination"]) if each is not None}) > 1:
        return None
    return Conditions(**common).at(one.origin(), {**other.origins(), **one.origins()})


def _common(one: Any, other: Any) -> Any:
    """Intersect two protocols or ranges; None where they have nothing in common."""
    if isinstance(one, int):
        return one if one == other else None
    if isinstance(one, AddressRange) and one.version != other.version:
        return None
    first, last = max(one.first, other.first), min(one.last, other.last)
    return type(one)(first, last) if first <= last else None
