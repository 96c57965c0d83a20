"""Policy maps at interfaces -> rules, actions and classes of the model.

An input policy becomes rules of the input policy with the interface as ingress port, an output policy rules of the
output policy of the interface; their order is that of the classes. An access list on an interface becomes rules that
block the packets it denies, before those of the classes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from phb.errors import InputError
from phb.formats.ios.boxes import IosBox, Region, intersection, region, versions
from phb.formats.ios.building.attachments import Attachment, whole_rate
from phb.formats.ios.building.classes import ClassRegions
from phb.formats.ios.building.meters import class_meter
from phb.formats.ios.building.ports import rate_basis
from phb.formats.ios.building.subinterfaces import at, groups
from phb.formats.ios.configuration import Configuration, Interface, PolicyClass
from phb.model import DEFAULT_CLASS, Action, Permission, Rule, TrafficClass
from phb.origin import Origin
from phb.values import UNTAGGED, PriorityCodePoint

_IPV4, _IPV6 = region(IosBox(version=4)), region(IosBox(version=6))
_LONGEST_NAME = 64


@dataclass
class Rules:
    """The model's objects of the attachments."""

    classes: dict[str, TrafficClass] = field(default_factory=dict)
    actions: list[Action] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)


def build_rules(configuration: Configuration, attached: Sequence[Attachment]) -> Rules:
    """Build rules, actions and classes of all attachments.

    A missing class, or one that asks for something that phb can't do, is an error of the configuration.
    """
    regions = ClassRegions(configuration)
    result = Rules()
    uses = Counter(attachment.classes.name for attachment in attached)
    both = Counter((attachment.classes.name, attachment.interface.name) for attachment in attached)
    for group in groups(configuration):
        for direction in ("input", "output"):
            for interface in group:
                with configuration.collecting(interface):
                    _blocked(configuration, regions, interface, direction, result, alone=len(group) == 1)
            _check_one_policy(configuration, group, direction)
            for interface in group:
                for attachment in attached:
                    if attachment.interface is interface and attachment.direction == direction:
                        name = attachment.classes.name
                        where = f"@{interface.name}" if uses[name] > 1 else ""
                        where += "-output" if direction == "output" and both[name, interface.name] > 1 else ""
                        with configuration.collecting(interface, *attachment.policy_maps):
                            _policy(configuration, regions, attachment, where, result)
    return result


def _check_one_policy(configuration: Configuration, group: Sequence[Interface], direction: str) -> None:
    """Refuse a policy map at a port beside others at its subinterfaces: IOS has one for all VLANs, or one for each."""
    named = [(each, *each.policies[direction]) for each in group if direction in each.policies]
    if len(named) > 1 and named[0][0].parent is None:
        (main, _, first), (other, name, second) = named[:2]
        found = f"policy map '{name}' for {direction} of {other.name}, beside that of {main.name} ({first})"
        with configuration.collecting(main, other):
            raise InputError(second, found, "one of them: that of the port is for all its VLANs")


def _blocked(
    configuration: Configuration,
    regions: ClassRegions,
    interface: Interface,
    direction: str,
    result: Rules,
    *,
    alone: bool,
) -> None:
    side = {"input": "in", "output": "out"}[direction]
    for version, key in ((4, side), (6, f"ipv6 {side}")):
        if key not in interface.access_groups:
            continue
        name, origin = interface.access_groups[key]
        base = f"access-list {name} {side}@{interface.name}"
        if len(base) > _LONGEST_NAME - len("/10000"):
            # An interface has one list of each version and direction.
            base = (
                f"access-list {side}@{interface.name}" if version == 4 else f"ipv6 access-list {side}@{interface.name}"
            )
        known = configuration.access_lists.get(name)
        if known is not None and known.version == version and not known.entries:
            # The denial at its end comes with the first entry ("ipv6 access-list" in the Cisco IOS IPv6 Command
            # Reference).
            configuration.note(origin, f"access list '{name}' filters nothing: it has no entries")
            continue
        denied = regions.denied(name, origin, version)
        if interface.parent is None and not alone:
            # Beside subinterfaces an interface's own packets are those without a tag.
            denied = intersection([region(IosBox(vlan=UNTAGGED)), denied])
        for rule in _rules(base, denied, interface, direction, origin):
            said = {**rule, "permission": Permission.BLOCKED}
            result.rules.append(Rule.model_validate(said).at(origin))


def _policy(
    configuration: Configuration, regions: ClassRegions, attachment: Attachment, where: str, result: Rules
) -> None:
    ordered = sorted(attachment.classes.classes.values(), key=lambda each: each.name == DEFAULT_CLASS)
    for each in ordered:
        taken = regions.class_map(each.name, each.origin)
        name = f"{attachment.classes.name}/{each.name}{where}"
        if each.queues and each.name != DEFAULT_CLASS:
            result.classes.setdefault(each.name, TrafficClass(name=each.name).at(each.origin))
        if not taken:
            configuration.note(each.origin, f"class '{each.name}' takes no packet: its class map asks for none")
            continue
        _class(configuration, attachment, each, name, taken, result)


def _class(
    configuration: Configuration,
    attachment: Attachment,
    policy_class: PolicyClass,
    name: str,
    taken: Region,
    result: Rules,
) -> None:
    interface, direction, origin = attachment.interface, attachment.direction, policy_class.origin
    marks = {mark.field: mark for mark in policy_class.marks}
    said: dict[str, Any] = {field: mark.value for field, mark in marks.items()}
    if "copy_marks" in said:
        said["copy_marks"] = tuple(mark.copied for mark in policy_class.marks if mark.copied is not None)
    origins = {field: mark.origin for field, mark in marks.items()}
    if "set_pcp" in said:
        said["set_pcp"] = PriorityCodePoint(said["set_pcp"])
    if policy_class.queues and policy_class.name != DEFAULT_CLASS:
        said["traffic_class"] = policy_class.name
    meter = class_meter(
        configuration, policy_class, rate_basis(interface), lambda: whole_rate(attachment, policy_class.origin)
    )
    if meter is not None:
        said["meter"], origins["meter"] = meter, meter.origin()
    narrow = {mark.field for mark in policy_class.marks if mark.ipv4_only}
    parts = [(name, taken, said)]
    if narrow and 6 in versions(taken):
        # `set ip` leaves IPv6 packets as they are.
        if meter is not None:
            mark = next(mark for mark in policy_class.marks if mark.ipv4_only)
            raise InputError(
                mark.origin,
                f"'{mark.origin.statement}' beside a policer in a class that takes IPv6 packets",
                f"'set {mark.field.removeprefix('set_')}'",
            )
        other = {field: value for field, value in said.items() if field not in narrow}
        parts = [
            (name, intersection([_IPV4, taken]), said),
            (f"{name}/ipv6", intersection([_IPV6, taken]), other),
        ]
    for part, packets, does in parts:
        if not does and policy_class.name == DEFAULT_CLASS:
            # Packets that no rule takes are of class-default anyway.
            continue
        if does:
            result.actions.append(_action(part, does, origin, origins))
        for rule in _rules(part, packets, interface, direction, origin):
            result.rules.append(Rule.model_validate({**rule, "actions": (part,) if does else ()}).at(origin))


def _action(name: str, does: dict[str, Any], origin: Origin, origins: dict[str, Origin]) -> Action:
    _check_name(name, origin)
    return Action.model_validate({"name": name, **does}).at(origin, origins)


def _rules(
    base: str, packets: Region, interface: Interface, direction: str, origin: Origin
) -> Iterator[dict[str, Any]]:
    egress = interface.port if direction == "output" else None
    if direction == "input":
        _check_ingress(packets)
    else:
        _check_egress(packets)
    packets = at(interface, packets, ingress=egress is None)
    for number, piece in enumerate(packets, start=1):
        name = base if len(packets) == 1 else f"{base}/{number}"
        _check_name(name, origin)
        said: dict[str, Any] = {"name": name, "match": tuple(box.conditions(egress) for box in piece.match)}
        if piece.unless:
            said["unless"] = tuple(box.conditions(egress) for box in piece.unless)
        yield said


def _check_ingress(packets: Region) -> None:
    for piece in packets:
        for box in (*piece.match, *piece.unless):
            if box.qos_group is not None:
                raise InputError(
                    box.origin, f"'match qos-group {box.qos_group}' in an input policy", "it in an output policy"
                )


def _check_egress(packets: Region) -> None:
    for piece in packets:
        for box in (*piece.match, *piece.unless):
            if box.ingress is not None:
                raise InputError(
                    box.origin,
                    f"'match input-interface {box.ingress}' in an output policy",
                    "it in an input policy that marks them: an output policy of phb doesn't know where packets entered",
                )


def _check_name(name: str, origin: Origin) -> None:
    if len(name) > _LONGEST_NAME:
        found = f"'{name}', which has {len(name)} characters"
        raise InputError(origin, found, f"names of policy map and class that give at most {_LONGEST_NAME} together")
