"""What a policy configures of rules and classes, as CISCO-CLASS-BASED-QOS-MIB and SLAPM-MIB tell it.

Classes are told for all ports together: a class whose queue differs from port to port has no one configuration.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Self

from phb.model import Action, BehaviourAggregate, PolicySet, Rule
from phb.model.actions import Meter, Treatment
from phb.model.scheduling import Bandwidth, ClassBased, ClassQueue, DropProfile, EarlyDetection

# QueueingBandwidthUnits, REDMechanism and PoliceAction of the MIB.
_KBPS, _PERCENT, _REMAINING_PERCENT, _RATIO = 1, 2, 3, 4
_PRECEDENCE, _DSCP, _DEFAULT = 1, 2, 7
_TRANSMIT, _SET_DSCP, _SET_PRECEDENCE, _SET_QOS_GROUP, _DROP, _SET_PCP, _UNCONFIGURED = 1, 2, 3, 4, 5, 9, 15
_HIGHEST_LEVEL: Final = 7


@dataclass(frozen=True, slots=True)
class Configured:
    """What a policy configures.

    Attributes:
        rules: By the name of a rule or behaviour aggregate, its action, if it has one.
        queues: By class.
    """

    rules: Mapping[str, Action | None] = field(default_factory=dict)
    queues: Mapping[str, ClassQueue] = field(default_factory=dict)

    @classmethod
    def of(cls, policy: PolicySet) -> Self:
        """Look it up."""
        actions = {action.name: action for action in policy.actions}
        items: tuple[Rule | BehaviourAggregate, ...] = (*policy.rules, *policy.behaviour_aggregates)
        queues: dict[str, list[ClassQueue]] = {}
        for queueing in policy.queueing:
            if isinstance(queueing.schedule, ClassBased):
                for queue in queueing.schedule.queues:
                    queues.setdefault(queue.traffic_class, []).append(queue)
        return cls(
            {item.name: policy.action_of(item, actions) for item in items},
            {name: found[0] for name, found in queues.items() if all(each == found[0] for each in found)},
        )

    def meter(self, rule: str) -> Meter | None:
        """The meter of a rule's action."""
        action = self.rules.get(rule)
        return None if action is None else action.meter

    def early_detection(self, traffic_class: str) -> EarlyDetection | None:
        """That of a class's queue."""
        queue = self.queues.get(traffic_class)
        return None if queue is None else queue.early_detection


def bandwidth(given: Bandwidth | None) -> tuple[int, int] | None:
    """Give a bandwidth and its unit."""
    if given is None:
        return None
    if given.rate is not None:
        return round(given.rate.bits_per_second / 1000), _KBPS
    for value, unit in (
        (given.percent, _PERCENT),
        (given.remaining_percent, _REMAINING_PERCENT),
        (given.weight, _RATIO),
    ):
        if value is not None:
            return value, unit
    return None


def priority_level(level: int) -> int:
    """Give a level of strict priority, of which the MIB has the highest first."""
    return _HIGHEST_LEVEL - level


def mechanism(early: EarlyDetection) -> int | None:
    """Give by what a queue's packets are told apart; None by colour, for which the MIB has no word."""
    if any(profile.colour is not None for profile in early.profiles):
        return None
    if any(profile.dscp is not None for profile in early.profiles):
        return _DSCP
    return _PRECEDENCE if any(profile.precedence is not None for profile in early.profiles) else _DEFAULT


def profiles(early: EarlyDetection) -> dict[int, DropProfile]:
    """Give the thresholds by code point or precedence; those of all others have no number, but alone they are 0."""
    found = {
        value: profile
        for profile in early.profiles
        for value in (profile.dscp, profile.precedence)
        if value is not None and profile.colour is None
    }
    return found or ({0: early.profiles[0]} if mechanism(early) == _DEFAULT else {})


def police_actions(meter: Meter) -> list[tuple[tuple[int, int], ...]]:
    """Give rows of what happens to packets that conform, exceed, violate: each an action and its value."""
    by_colour = [_actions(treatment) for treatment in (meter.green, meter.yellow, meter.red)]
    rows = max(len(actions) for actions in by_colour)
    return [
        tuple(actions[row] if row < len(actions) else (_UNCONFIGURED, 0) for actions in by_colour)
        for row in range(rows)
    ]


def _actions(treatment: Treatment) -> list[tuple[int, int]]:
    if treatment.drop:
        return [(_DROP, 0)]
    marks = (
        (_SET_DSCP, treatment.set_dscp),
        (_SET_PRECEDENCE, treatment.set_precedence),
        (_SET_QOS_GROUP, treatment.set_qos_group),
    )
    found = [(action, int(value)) for action, value in marks if value is not None]
    if treatment.set_pcp is not None and treatment.set_pcp.mask == 7:
        found.append((_SET_PCP, treatment.set_pcp.value))
    return found or [(_TRANSMIT, 0)]
