"""The policy maps at interfaces, and whether phb can do what they ask for there."""

from __future__ import annotations

from dataclasses import dataclass, replace

from phb.errors import InputError
from phb.formats.ios.building.ports import bandwidth
from phb.formats.ios.building.shapers import shaped_rate
from phb.formats.ios.building.subinterfaces import takes_packets
from phb.formats.ios.configuration import Configuration, Interface, PolicyClass, PolicyMap
from phb.model import DEFAULT_CLASS, Dialect
from phb.origin import Origin


@dataclass(frozen=True)
class Attachment:
    """A policy map at an interface, with the one whose classes count: its own, or that of a policy map inside it."""

    interface: Interface
    direction: str
    policy_map: PolicyMap
    classes: PolicyMap
    origin: Origin
    dialect: Dialect
    shaper: PolicyClass | None = None

    @property
    def policy_maps(self) -> tuple[PolicyMap, PolicyMap]:
        """The one that the interface names, and the one whose classes count."""
        return self.policy_map, self.classes


def attachments(configuration: Configuration) -> list[Attachment]:
    """Give every policy map that an interface names, in the order of the interfaces.

    A missing policy map, or one inside another in a way that phb can't do, is an error of the configuration.
    """
    found = []
    for interface in configuration.interfaces.values():
        if not takes_packets(interface):
            continue
        for direction, (name, origin) in sorted(interface.policies.items()):
            known = configuration.policy_maps.get(name)
            with configuration.collecting(interface, *(() if known is None else (known,))):
                found.append(_attachment(configuration, interface, direction, name, origin))
    return found


def _attachment(
    configuration: Configuration, interface: Interface, direction: str, name: str, origin: Origin
) -> Attachment:
    policy_map = _policy_map(configuration, name, origin)
    attachment = Attachment(interface, direction, policy_map, policy_map, origin, configuration.dialect)
    lone = policy_map.classes.get(DEFAULT_CLASS) if len(policy_map.classes) == 1 else None
    if lone is not None and (lone.child is not None or lone.shape is not None):
        return _shaped(configuration, attachment, lone)
    _check_nesting(policy_map)
    _check_direction(attachment)
    return attachment


def _shaped(configuration: Configuration, attachment: Attachment, shaper: PolicyClass) -> Attachment:
    """Give the port shaper with a policy inside it: `shape` and `service-policy` of a lone class-default."""
    if shaper.shape is None:
        assert shaper.child is not None
        raise InputError(
            shaper.child[1], "a policy map inside a class without 'shape'", f"it beside 'shape' in {DEFAULT_CLASS}"
        )
    if attachment.direction == "input":
        raise InputError(shaper.shape.origin, "'shape' in an input policy", "it in an output policy")
    if shaper.child is None:
        classes = PolicyMap(attachment.policy_map.name, attachment.policy_map.origin)
        classes.classes[DEFAULT_CLASS] = replace(shaper, shape=None)
        return replace(attachment, classes=classes, shaper=shaper)
    if shaper.marks or shaper.police or replace(shaper, shape=None).queues:
        raise InputError(
            shaper.child[1], "a policy map inside a class that also marks, polices or queues", "these in the inner one"
        )
    inner = _policy_map(configuration, *shaper.child)
    _check_nesting(inner)
    return replace(attachment, classes=inner, shaper=shaper)


def _check_nesting(policy_map: PolicyMap) -> None:
    """Refuse policy maps inside the classes of a port's policy map."""
    for each in policy_map.classes.values():
        if each.child is not None:
            found = f"a policy map inside class '{each.name}' of policy map '{policy_map.name}'"
            expected = f"it beside 'shape' in {DEFAULT_CLASS}, alone in the port's policy map"
            raise InputError(each.child[1], found, expected)


def _policy_map(configuration: Configuration, name: str, origin: Origin) -> PolicyMap:
    policy_map = configuration.policy_maps.get(name)
    if policy_map is None:
        known = ", ".join(sorted(configuration.policy_maps))
        expected = f"one of {known}" if known else "a policy map of the file; there is none"
        raise InputError(origin, f"policy map '{name}'", expected)
    return policy_map


def _check_direction(attachment: Attachment) -> None:
    if attachment.direction == "output":
        return
    for each in attachment.policy_map.classes.values():
        said = (each.priority, each.share, each.fair_queue, each.random_detect, each.queue_limit, each.shape)
        origins = [part.origin for part in said if part is not None]
        if origins:
            raise InputError(
                min(origins, key=lambda origin: origin.line),
                f"queueing in policy map '{attachment.policy_map.name}', which is an input policy at "
                f"{attachment.origin}",
                "set and police: packets queue at output ports",
            )


def whole_rate(attachment: Attachment, origin: Origin) -> int:
    """Give the rate that percentages in a class refer to, in bit/s: the shaper around it, else the interface."""
    if attachment.shaper is None or attachment.shaper.shape is None:
        return bandwidth(attachment.interface, origin)
    return shaped_rate(attachment.shaper.shape, attachment.interface, attachment.dialect)
