"""Subinterfaces: parts of a port, each of one VLAN.

"Configuring Routing Between VLANs with IEEE 802.1Q Encapsulation" in Cisco's LAN Switching Configuration Guide. A
subinterface's QoS applies at its port to frames that arrive with its tag, for the program rewrites no tags.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from phb.errors import InputError
from phb.formats.ios.boxes import IosBox, Region, intersection, region
from phb.formats.ios.configuration import Configuration, Interface
from phb.formats.ios.language.interface_names import PHYSICAL


def place_subinterfaces(configuration: Configuration) -> None:
    """Set the parent of each subinterface, and what it takes over from it.

    A second subinterface of a port with the same VLAN is an error.
    """
    known: dict[tuple[str, int | str], Interface] = {}
    for interface in configuration.interfaces.values():
        main, dot, _ = interface.name.partition(".")
        interface.parent = configuration.interfaces.get(main) if dot else None
        if interface.parent is None:
            continue
        interface.shut_down = interface.shut_down or interface.parent.shut_down
        interface.unlike = [*interface.parent.unlike, *interface.unlike]
        if interface.bandwidth is None and interface.speed is None:
            interface.bandwidth, interface.speed = interface.parent.bandwidth, interface.parent.speed
        if interface.tag is not None:
            other = known.setdefault((main, interface.tag), interface)
            if other is not interface:
                found = f"VLAN {interface.tag} of {interface.name}, which {other.name} has"
                interface.errors.append(InputError(interface.origin, found, "another one"))


def takes_packets(interface: Interface) -> bool:
    """Whether the interface is a port of a switch, or a VLAN of one."""
    if interface.shut_down or interface.unlike or interface.kind not in PHYSICAL:
        return False
    return "." not in interface.name or (interface.parent is not None and interface.tag is not None)


def groups(configuration: Configuration) -> Iterator[list[Interface]]:
    """Give each port's interface with its subinterfaces, of those that take packets."""
    by_port: dict[str, list[Interface]] = {}
    for interface in configuration.interfaces.values():
        if "." not in interface.name:
            by_port.setdefault(interface.name, []).insert(0, interface)
        else:
            by_port.setdefault(interface.port, []).append(interface)
    for group in by_port.values():
        yield [interface for interface in group if takes_packets(interface)]


def at(interface: Interface, packets: Region, *, ingress: bool) -> Region:
    """Limit packets to the interface: all of a port's, or those of a subinterface's VLAN."""
    place = IosBox(ingress=interface.port if ingress else None, vlan=interface.tag)
    return packets if place == IosBox() else intersection([region(place), packets])


def entered(configuration: Configuration, box: IosBox) -> IosBox:
    """Replace a subinterface in a condition by its port and its VLAN."""
    interface = configuration.interfaces.get(box.ingress or "")
    if interface is None or interface.parent is None or interface.tag is None:
        return box
    return replace(box, ingress=interface.port, vlan=interface.tag)
