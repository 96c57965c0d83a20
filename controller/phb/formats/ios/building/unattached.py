"""What is no port of a switch, for questions that no switch is asked: it counts all the same, as if it were one.

Lists and policy maps of a file without interfaces get ports of their names; VLANs, tunnels and so on are ports.
"""

from __future__ import annotations

from phb.formats.ios.configuration import Configuration, Interface
from phb.formats.ios.language.interface_names import PHYSICAL
from phb.origin import Origin

_KIND, _OTHER_KIND = "GigabitEthernet", "Channel"
"""Of what is made up; and of another interface, whose bandwidth and header aren't known."""
_LONGEST = 32
"""Characters of a name."""
_ENDS = ("Loopback", "Null")
"""Through which no packets go."""


def attach(configuration: Configuration) -> None:
    """Give ports to what has none."""
    for interface in configuration.interfaces.values():
        asked = interface.policies or interface.access_groups
        if interface.kind in (*PHYSICAL, *_ENDS) or "." in interface.name or interface.shut_down:
            continue
        if asked or interface.address is not None:
            message = f"{interface.name} is no port of a switch: it is asked as if it were one"
            (configuration.note if asked else configuration.aside)(interface.origin, message)
            interface.kind = _OTHER_KIND
    if configuration.interfaces:
        return
    maps, lists = configuration.policy_maps.values(), configuration.access_lists.values()
    children = {each.child[0] for policy_map in maps for each in policy_map.classes.values() if each.child is not None}
    in_classes = {term.access_list for class_map in configuration.class_maps.values() for term in class_map.terms}
    names: dict[str, str] = {}
    for policy_map in maps:
        if policy_map.name not in children:
            port = _port(configuration, names, policy_map.name, policy_map.origin)
            port.policies["output"] = (policy_map.name, policy_map.origin)
    for access_list in lists:
        if access_list.name not in in_classes:
            port = _port(configuration, names, access_list.name, access_list.origin)
            side = "in" if access_list.version == 4 else "ipv6 in"
            port.access_groups[side] = (access_list.name, access_list.origin)


def _port(configuration: Configuration, names: dict[str, str], name: str, origin: Origin) -> Interface:
    # A dot would make it a subinterface; and rules are called by it, too, in so many characters.
    called = short = name.replace(".", "-")[:_LONGEST]
    number = 1
    while names.setdefault(called, name) != name:
        number += 1
        called = f"{short}-{number}"
    if called not in configuration.interfaces:
        configuration.note(origin, f"there is no interface: '{name}' is asked at a port '{called}' made up for it")
    return configuration.interfaces.setdefault(called, Interface(called, _KIND, origin))
