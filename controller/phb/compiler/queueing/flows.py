"""Flow-based fair queueing: conversations, and their weights by IP precedence."""

from __future__ import annotations

from collections.abc import Callable

from phb.compiler.queueing.tables import WEIGHT
from phb.device.artifact import Artifact
from phb.intent import Entry, Exact, Notice
from phb.model import Dialect, FlowQueueing

# Weight by IP precedence 0 to 7. 11.3: the source's displays show 4096/(7+1) = 512 and 4096/(6+1) = 585 (its appendix
# E). 12.0(5)T to 12.4(20)T: 32384/(precedence+1), as Cisco documents for `show queue`. Since HQF flows are equal.
WEIGHTS: dict[Dialect, Callable[[int], int]] = {
    Dialect.IOS_11_3: lambda precedence: 4096 // (precedence + 1),
    Dialect.IOS_12: lambda precedence: 32384 // (precedence + 1),
    Dialect.IOS_HQF: lambda precedence: 4096,
}


def flow_weights(schedule: FlowQueueing, profile: int, level: int, artifact: Artifact, factor: int = 1) -> list[Entry]:
    """Give one row for each precedence.

    Args:
        schedule: Names the dialect.
        profile: The port's.
        level: The strict level of the flows.
        artifact: The program.
        factor: Multiplies weights, so that those of classes beside them can be whole numbers.
    """
    weight = WEIGHTS[schedule.dialect]
    return [
        Entry(
            WEIGHT,
            {"profile": Exact(profile), "precedence": Exact(precedence)},
            "weighted",
            {"level": level, "weight": factor * weight(precedence)},
            0,
            schedule.origin("dialect"),
        )
        for precedence in range(1 << artifact.field(WEIGHT, "precedence").bits)
    ]


def notices_of_flows(schedule: FlowQueueing) -> list[Notice]:
    """List settings of a fair queue that have no effect."""
    if not schedule.reservable:
        return []
    message = (
        f"reservable conversations ({schedule.reservable}) have no effect: they are for RSVP, which phb doesn't speak"
    )
    return [Notice(schedule.origin("reservable"), message)]
