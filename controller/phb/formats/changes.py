"""The packets that a loss concerns: those of the rules that lead to what is lost."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from phb.formats.format import Loss
from phb.model import (
    Action,
    Applicability,
    BehaviourAggregate,
    ClassBased,
    Conditions,
    CrossConnect,
    Image,
    Item,
    PolicySet,
    Port,
    Route,
    Rule,
    SubnetPriority,
    TrafficClass,
    Validity,
)
from phb.values import write_protocol

# Facts about the node and its names, which another file may say: without them no packet is treated otherwise.
_OF_THE_NODE = (PolicySet, Port, CrossConnect, Route, Image, TrafficClass, Applicability)
# Exceptions: shares of a port's queueing are of its rate, windows are by the node's clock, queues of IOS have limits.
_MEANT_BY_OTHERS = ("rate", "time_zone", "queueing")
_EVERYTHING = "all packets"


def with_packets(loss: Loss, policy: PolicySet) -> Loss:
    """Give the loss with the packets that are treated otherwise by it."""
    if loss.item is None or loss.kept:
        return loss
    if isinstance(loss.item, SubnetPriority):
        return replace(loss, packets=tuple(_with_user_priority(loss.item)), concerned=(loss.item,))
    if isinstance(loss.item, _OF_THE_NODE) and loss.key not in _MEANT_BY_OTHERS:
        return loss
    if (
        isinstance(loss.item, Port)
        and loss.key == "rate"
        and not any(each.port == loss.item.name for each in policy.queueing)
    ):
        return loss
    if isinstance(loss.item, Rule | Action) and loss.key == "name":
        return loss
    found = list(_concerned(loss.item, loss.key, policy))
    return replace(loss, packets=tuple(said for _, said in found), concerned=tuple(item for item, _ in found))


def _concerned(item: Item, key: str, policy: PolicySet) -> Iterator[tuple[Item, str]]:
    """Give the rules and behaviour aggregates that lead to the item, else the port or the class of its queue."""
    windows = [rule.valid for rule in policy.rules if rule.valid != Validity() and rule.valid.time_zone is None]
    clocks = {id(valid) for valid in windows} if item is policy else set()
    rules = [rule for rule in policy.rules if rule is item or rule.valid is item or id(rule.valid) in clocks]
    aggregates = [aggregate for aggregate in policy.behaviour_aggregates if _stands_for(item, aggregate)]
    actions = {action.name for action in policy.actions if _has(action, item)}
    if actions:
        rules = [rule for rule in policy.rules if not actions.isdisjoint(rule.actions)]
        aggregates = [each for each in policy.behaviour_aggregates if not actions.isdisjoint(each.actions)]
    for rule in rules:
        yield rule, f"rule '{rule.name}': {'; or '.join(map(in_words, rule.match))}"
    for aggregate in aggregates:
        yield aggregate, f"behaviour aggregate '{aggregate.name}'"
    for queueing in policy.queueing:
        if _has(queueing, item):
            queues = queueing.schedule.queues if isinstance(queueing.schedule, ClassBased) else ()
            parts: list[tuple[Item, str]] = [
                (queue, f"class '{queue.traffic_class}' ") for queue in queues if _has(queue, item)
            ]
            # How flows are weighed decides what classes beside them get.
            for part, which in parts if parts and key != "dialect" else [(queueing, "")]:
                yield part, f"{which}leaving by port '{queueing.port}'"
    if isinstance(item, Port):
        yield item, f"leaving by port '{item.name}'"


def _with_user_priority(priority: SubnetPriority) -> list[str]:
    """Name tagged packets: the 802.1p priority goes out with them, while adapters' queues are the host's own."""
    if all(mapping.user_priority is None for mapping in priority.mappings):
        return []
    where = priority.port or priority.address
    return ["tagged packets" if where is None else f"tagged packets leaving by '{where}'"]


def _stands_for(item: Item, aggregate: BehaviourAggregate) -> bool:
    """Whether an item is a behaviour aggregate, or the rule as which a writer treats it."""
    like = isinstance(item, Rule) and (item.name, item.origin()) == (aggregate.name, aggregate.origin())
    return item is aggregate or like


def _has(whole: object, part: Item) -> bool:
    """Whether an item is another one, or somewhere in it."""
    if whole is part:
        return True
    if isinstance(whole, Item):
        return any(_has(value, part) for _, value in whole)
    return isinstance(whole, tuple) and any(_has(each, part) for each in whole)


def in_words(conditions: Conditions) -> str:
    """Describe the packets of conditions in a few words."""
    said = [] if conditions.version is None else [f"IPv{conditions.version}"]
    if conditions.protocol is not None:
        said.append(str(write_protocol(conditions.protocol)))
    for word, addresses, ports in (
        ("from", conditions.source, conditions.source_ports),
        ("to", conditions.destination, conditions.destination_ports),
    ):
        if addresses is not None or ports is not None:
            said += [word, *([str(addresses)] if addresses else []), *([f"port {ports}"] if ports else [])]
    if conditions.tos_bits is not None:
        said.append(f"with ToS bits {conditions.tos_bits.value:08b} under mask {conditions.tos_bits.mask:08b}")
    if conditions.pcp is not None:
        said.append(f"with 802.1p priority {conditions.pcp.value}")
    for word, asked in (
        ("with TCP flags", conditions.tcp_flags),
        ("of ICMP type", conditions.icmp_type),
        ("of VLAN", conditions.vlan),
        ("of QoS group", conditions.qos_group),
    ):
        if asked is not None:
            said.append(f"{word} {asked}")
    for word, port in (("entering by", conditions.ingress_port), ("leaving by", conditions.egress_port)):
        if port is not None:
            said.append(f"{word} {port}")
    return " ".join(said) or _EVERYTHING
