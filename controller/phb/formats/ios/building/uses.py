"""The parts of a configuration in use: policy maps at ports, their classes, the access lists and groups of both.

An unused part has no effect, so its errors are only listed: a router has policy maps for its control plane, class maps
for its firewall, and access lists for much else, with conditions that no packet here is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from phb.formats.ios.building.subinterfaces import takes_packets
from phb.formats.ios.configuration import AccessList, ClassMap, Configuration, ObjectGroup, PolicyMap

_Named = TypeVar("_Named", AccessList, ClassMap, ObjectGroup, PolicyMap)


def settle(configuration: Configuration) -> None:
    """Make errors of used parts errors of the configuration; list unused parts with their errors."""
    up = [each for each in configuration.interfaces.values() if takes_packets(each)]
    policy_maps = _reached(
        configuration.policy_maps, (name for each in up for name, _ in each.policies.values()), _policy_maps_in
    )
    class_maps = _reached(
        configuration.class_maps, (name for each in policy_maps.values() for name in each.classes), _class_maps_in
    )
    lists = [name for each in up for name, _ in each.access_groups.values()]
    lists += [term.access_list for each in class_maps.values() for term in each.terms if term.access_list is not None]
    access_lists = _reached(configuration.access_lists, lists, lambda access_list: ())
    named = (use.name for each in access_lists.values() for entry in each.entries for use in entry.groups)
    object_groups = _reached(configuration.object_groups, named, lambda group: (name for name, _ in group.groups))
    _sort(configuration, configuration.policy_maps, policy_maps, "policy map '{}'", "no port has it")
    _sort(configuration, configuration.class_maps, class_maps, "class map '{}'", "no policy map at a port has it")
    _sort(configuration, configuration.access_lists, access_lists, "access list '{}'", "no class and no port has it")
    _sort(
        configuration, configuration.object_groups, object_groups, "object group '{}'", "no access list in use has it"
    )
    asked = {each.port for each in up if each.policies or each.access_groups}
    for interface in configuration.interfaces.values():
        if not interface.shut_down:
            configuration.errors += interface.errors
        for origin, message in interface.besides:
            # Without conditions there, none can meet other packets than on the router; but what filters does so anyway.
            filters = origin.statement.split()[0] == "zone-member"
            (configuration.note if filters or interface.port in asked else configuration.aside)(origin, message)


def _policy_maps_in(policy_map: PolicyMap) -> Iterable[str]:
    return (each.child[0] for each in policy_map.classes.values() if each.child is not None)


def _class_maps_in(class_map: ClassMap) -> Iterable[str]:
    return (term.class_map for term in class_map.terms if term.class_map is not None)


def _reached(
    known: Mapping[str, _Named], names: Iterable[str], within: Callable[[_Named], Iterable[str]]
) -> dict[str, _Named]:
    """Give the items of these names, and those that they name in turn; unknown names are errors elsewhere."""
    reached: dict[str, _Named] = {}
    pending = list(names)
    while pending:
        name = pending.pop()
        if name in known and name not in reached:
            reached[name] = known[name]
            pending += within(known[name])
    return reached


def _sort(
    configuration: Configuration, known: Mapping[str, _Named], used: Mapping[str, _Named], what: str, why: str
) -> None:
    for name, each in known.items():
        if name in used:
            configuration.errors += each.errors
            continue
        shown = what.format(name)
        configuration.aside(each.origin, f"{shown} has no effect: {why}")
        for error in each.errors:
            # Most lists of a router are for its own purposes; a class map or a policy map may be meant for later.
            note = configuration.aside if isinstance(each, AccessList | ObjectGroup) else configuration.note
            note(error.origin, f"found {error.found}, expected {error.expected}; {shown} has no effect")
