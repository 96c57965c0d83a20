"""The policy model: what a policy file says, whatever its format.

Words are the field's: a *rule* has *conditions* and *actions* (RFC 3060, RFC 3198); a port has a *schedule* and a *hold
queue* (Cisco IOS). Items are frozen, and each remembers where it was said.

    base > rates > forwarding, scheduling, objectives > actions, rules, applicability > policy_set
"""

from phb.model.actions import MARKS, Action, Copied, Marking, Meter, MeterKind, Treatment
from phb.model.applicability import Applicability
from phb.model.base import LAST_PORT, Item, Name, PortReference
from phb.model.forwarding import CrossConnect, Port, Role, Route
from phb.model.objectives import DelayObjective, Objectives
from phb.model.policy_set import JUDGED, Image, Judged, PolicySet, PriorityMapping, SubnetPriority, TrafficClass
from phb.model.rates import Rate, RateBasis, RateUnit
from phb.model.rules import BehaviourAggregate, CodePoints, Conditions, Day, Direction, Permission, Rule, Validity
from phb.model.scheduling import (
    DEFAULT_CLASS,
    Bandwidth,
    Buffers,
    ClassBased,
    ClassQueue,
    Colour,
    Dialect,
    DropProfile,
    EarlyDetection,
    FairQueue,
    Fifo,
    FlowQueueing,
    LengthBasis,
    PrivateBuffer,
    Queueing,
    Schedule,
    Shaper,
)

__all__ = [
    "DEFAULT_CLASS",
    "JUDGED",
    "LAST_PORT",
    "MARKS",
    "Action",
    "Applicability",
    "Bandwidth",
    "BehaviourAggregate",
    "Buffers",
    "ClassBased",
    "ClassQueue",
    "CodePoints",
    "Colour",
    "Conditions",
    "Copied",
    "CrossConnect",
    "Day",
    "DelayObjective",
    "Dialect",
    "Direction",
    "DropProfile",
    "EarlyDetection",
    "FairQueue",
    "Fifo",
    "FlowQueueing",
    "Image",
    "Item",
    "Judged",
    "LengthBasis",
    "Marking",
    "Meter",
    "MeterKind",
    "Name",
    "Objectives",
    "Permission",
    "PolicySet",
    "Port",
    "PortReference",
    "PriorityMapping",
    "PrivateBuffer",
    "Queueing",
    "Rate",
    "RateBasis",
    "RateUnit",
    "Role",
    "Route",
    "Rule",
    "Schedule",
    "Shaper",
    "SubnetPriority",
    "TrafficClass",
    "Treatment",
    "Validity",
]
