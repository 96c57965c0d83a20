"""What treatments and routes of a behaviour come to, as values that are equal only where everything that counts is."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Any, TypeAlias

from phb.behaviour.behaviour import Behaviour, Route, Step, Treatment
from phb.behaviour.deciding import Decided
from phb.packets.space import Version

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Effects: TypeAlias = Callable[[int, Treatment | Route], Hashable]
"""Gives what a treatment or a route of a behaviour, by its number, comes to."""
Apart: TypeAlias = Callable[[Step[Any]], Hashable]
"""What tells steps apart beside what they do."""
Wanted: TypeAlias = Callable[[tuple[Decided, ...], Version], "NDArray[np.bool_] | bool"]
"""Whether packets that some steps take are asked for: of shape (256, 9) where it depends on ToS octet and TAG. It is
the same for all steps of equal effects."""

_BLOCKED = "blocked"


def effects(*behaviours: Behaviour) -> Effects:
    """Give effects by content; queues, streams and counters are equal if their keys are.

    They hold what a treatment's class and stream mean at every port, so that equal ones are alike wherever packets go.
    """
    ports = sorted({port for each in behaviours for port in (*each.services, *(port for port, _ in each.buffers))})

    def effect(number: int, does: Treatment | Route) -> Hashable:
        behaviour = behaviours[number]
        if isinstance(does, Route):
            return does, None if does.port is None else behaviour.user_priorities.get(does.port)
        if does.blocked:
            return _BLOCKED
        return (
            does,
            tuple(behaviour.service(port, does.traffic_class) for port in ports),
            tuple(behaviour.buffers.get((port, does.stream)) for port in ports),
        )

    return effect
