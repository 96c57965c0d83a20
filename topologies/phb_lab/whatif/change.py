"""The difference that a policy makes, seed by seed: paired, so that what all runs share cancels out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from phb_lab.intervals import Interval

Values = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Change:
    """One quantity of one class: means over the seeds; None where the class had none of it.

    ``difference`` is proposed minus current over the seeds where both have it.
    """

    traffic_class: str
    quantity: str
    current: float | None
    proposed: float | None
    difference: Interval | None

    @property
    def is_sure(self) -> bool:
        """Whether the difference is significant over the seeds."""
        return self.difference is not None and self.difference.excludes_zero


def changes(pairs: Sequence[tuple[Values, Values]]) -> list[Change]:
    """Compare (current, proposed) values of each seed; in the order of the classes and quantities."""
    names: dict[tuple[str, str], None] = {}
    for pair in pairs:
        for values in pair:
            names |= {(name, quantity): None for name, found in values.items() for quantity in found}
    order = {name: place for place, name in enumerate(dict.fromkeys(name for name, _ in names))}
    return [_change(pairs, *key) for key in sorted(names, key=lambda key: order[key[0]])]


def _change(pairs: Sequence[tuple[Values, Values]], name: str, quantity: str) -> Change:
    found = [tuple(values.get(name, {}).get(quantity) for values in pair) for pair in pairs]
    current = [before for before, _ in found if before is not None]
    proposed = [after for _, after in found if after is not None]
    both = [after - before for before, after in found if before is not None and after is not None]
    return Change(
        name,
        quantity,
        Interval.of(current).mean if current else None,
        Interval.of(proposed).mean if proposed else None,
        Interval.of(both) if both else None,
    )


def as_json(found: Sequence[Change]) -> list[dict[str, Any]]:
    """As data."""
    return [
        {
            "class": change.traffic_class,
            "quantity": change.quantity,
            "current": change.current,
            "proposed": change.proposed,
            "difference": change.difference and change.difference.mean,
            "half_width_95": change.difference and change.difference.half_width,
            "samples": change.difference.samples if change.difference else 0,
        }
        for change in found
    ]
