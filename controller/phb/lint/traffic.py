"""Facts for several checks: the traffic of actions and of code points."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from phb.lint.finding import Context
from phb.model import (
    DEFAULT_CLASS,
    Action,
    Bandwidth,
    BehaviourAggregate,
    ClassBased,
    ClassQueue,
    Conditions,
    Meter,
    PolicySet,
    Port,
    Queueing,
    Rate,
    Rule,
    Treatment,
)
from phb.model.rules import CodePoints
from phb.values import TypeOfService

DSCP_MASK = 0xFC  # RFC 2474: the upper six bits of the octet
MTU_BYTES = 1500  # IP packet of a full Ethernet frame (IEEE 802.3), the basis of most published bursts


def asked(item: Rule | BehaviourAggregate) -> tuple[CodePoints, ...]:
    """Give the code points a rule or aggregate asks for, one for each alternative."""
    return item.match if isinstance(item, Rule) else (item,)


def dscp(tos: TypeOfService | None) -> int | None:
    """Give the DSCP, where all of its bits are given."""
    return None if tos is None or tos.mask & DSCP_MASK != DSCP_MASK else tos.value >> 2


def carries(context: Context, action: Action, code_point: int) -> bool:
    """Whether traffic with this DSCP leaves under the action: marked so by it, or asked for and left as it is."""
    if blocks(action.meter):
        return False
    if action.mark is not None and action.mark.mask & DSCP_MASK:
        return dscp(action.mark) == code_point
    return any(dscp(asks.tos_bits) == code_point for item in context.users[action.name] for asks in asked(item))


def drops(meter: Meter | None) -> bool:
    """Whether there is a meter, and it drops above its rates."""
    return meter is not None and meter.red.drop


def blocks(meter: Meter | None) -> bool:
    """Whether there is a meter that drops everything: `convert` writes blocking rules so for IOS."""
    return meter is not None and all(each.drop for each in (meter.green, meter.yellow, meter.red))


def treatments(action: Action) -> Iterator[Treatment]:
    """Give the treatments of the action's meter by colour."""
    if action.meter is not None:
        yield from (action.meter.green, action.meter.yellow, action.meter.red)


def class_of(action: Action) -> str:
    """Give the class of its traffic."""
    return action.traffic_class or DEFAULT_CLASS


def class_queues(policy: PolicySet) -> Iterator[tuple[Queueing, ClassQueue]]:
    """Give every queue of a class, with the queueing statement of its port."""
    for queueing in policy.queueing:
        if isinstance(queueing.schedule, ClassBased):
            for queue in queueing.schedule.queues:
                yield queueing, queue


def feeding(policy: PolicySet, traffic_class: str) -> list[Action]:
    """Give the actions whose traffic gets the class."""
    return [action for action in policy.actions if class_of(action) == traffic_class]


def port_of(policy: PolicySet, queueing: Queueing) -> Port | None:
    """Give the port that a queueing statement is about."""
    return policy.find_port(queueing.port)


def line_rate(policy: PolicySet, queueing: Queueing) -> Rate | None:
    """Give the rate that a port's classes share: its shaper's, else its own."""
    if queueing.shaper is not None:
        return queueing.shaper.rate
    port = port_of(policy, queueing)
    return port.rate if port is not None else None


def booked(bandwidth: Bandwidth, line: Rate | None) -> Decimal | None:
    """Give a class's guaranteed rate in bit/s; None for a share of the rest, or of a rate that isn't given."""
    if bandwidth.rate is not None:
        return bandwidth.rate.bits_per_second
    if bandwidth.percent is not None and line is not None:
        return line.bits_per_second * bandwidth.percent / 100
    return None


def kilobits(bits_per_second: Decimal) -> str:
    """Write a rate."""
    return f"{bits_per_second / 1000:f} kbit/s".replace(".0 ", " ")


def is_tcp(conditions: Conditions) -> bool | None:
    """Whether only TCP is asked for; None where TCP is among other traffic."""
    return None if conditions.protocol is None else conditions.protocol == 6
