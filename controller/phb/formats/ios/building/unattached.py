"""Lists and policy maps of a file without interfaces: each gets a port of its name, so that questions can be asked."""

from __future__ import annotations

from phb.formats.ios.configuration import Configuration, Interface
from phb.origin import Origin

_KIND = "GigabitEthernet"


def attach(configuration: Configuration) -> None:
    """Give ports to what nothing refers to if there is no interface: for what comes in to lists, out to policy maps."""
    if configuration.interfaces:
        return
    maps, lists = configuration.policy_maps.values(), configuration.access_lists.values()
    children = {each.child[0] for policy_map in maps for each in policy_map.classes.values() if each.child is not None}
    asked = {term.access_list for class_map in configuration.class_maps.values() for term in class_map.terms}
    for policy_map in maps:
        if policy_map.name not in children:
            port = _port(configuration, policy_map.name, policy_map.origin)
            port.policies["output"] = (policy_map.name, policy_map.origin)
    for access_list in lists:
        if access_list.name not in asked:
            port = _port(configuration, access_list.name, access_list.origin)
            side = "in" if access_list.version == 4 else "ipv6 in"
            port.access_groups[side] = (access_list.name, access_list.origin)


def _port(configuration: Configuration, name: str, origin: Origin) -> Interface:
    # A dot would make it a subinterface.
    called = name.replace(".", "-")
    if called not in configuration.interfaces:
        configuration.note(origin, f"there is no interface: '{name}' is asked at a port '{called}' made up for it")
    return configuration.interfaces.setdefault(called, Interface(called, _KIND, origin))
