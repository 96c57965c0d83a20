"""Interfaces -> ports, and the basis of rates and percentages at an interface."""

from __future__ import annotations

from decimal import Decimal

from phb.errors import InputError
from phb.formats.ios.building.subinterfaces import takes_packets
from phb.formats.ios.configuration import Amount, Configuration, Interface
from phb.formats.ios.language.interface_names import PHYSICAL
from phb.model import LengthBasis, Port, Rate, RateBasis, RateUnit
from phb.origin import Origin
from phb.values import UNTAGGED


def is_port(interface: Interface) -> bool:
    """Whether the interface may be a port of a switch."""
    return interface.kind in PHYSICAL and "." not in interface.name and not interface.unlike


def build_ports(configuration: Configuration) -> list[Port]:
    """Build a port for each interface that is up, and notices for the others.

    Raises:
        InputError: An interface that can't be a port, or is routed by policy, and yet says something about packets.
    """
    ports = []
    for interface in configuration.interfaces.values():
        if interface.shut_down:
            configuration.aside(interface.origin, f"'{interface.name}' is shut down; what is said of it has no effect")
            continue
        with configuration.collecting(interface):
            _check_routing(configuration, interface)
        with configuration.collecting(interface):
            if is_port(interface):
                ports.append(_port(interface))
            elif takes_packets(interface) and _meets_packets(interface):
                _vlan(configuration, interface)
            else:
                _no_port(configuration, interface)
    return ports


def _port(interface: Interface) -> Port:
    given: dict[str, object] = {"name": interface.name}
    origins: dict[str, Origin] = {}
    if interface.address is not None:
        given["address"], origins["address"] = interface.address
    if interface.bandwidth is not None:
        kilobits, origins["rate"] = interface.bandwidth
        given["rate"] = Rate(value=Decimal(kilobits), unit=RateUnit.KBIT, basis=rate_basis(interface))
    return Port.model_validate(given).at(interface.origin, origins)


def _meets_packets(interface: Interface) -> bool:
    return bool(interface.policies or interface.access_groups or _queueing_statements(interface))


def _vlan(configuration: Configuration, interface: Interface) -> None:
    """Note a subinterface's address and output policies; refuse queueing without a policy map."""
    for origin in _queueing_statements(interface):
        found = f"'{origin.statement}' on {interface.name}"
        raise InputError(origin, found, f"it on {interface.port}: phb queues and shapes ports, not VLANs")
    if interface.address is not None:
        message = f"the address of {interface.name} has no effect: a port is known by that of its own interface"
        configuration.aside(interface.address[1], message)
    outputs = [interface.policies["output"]] if "output" in interface.policies else []
    outputs += [group for side, group in interface.access_groups.items() if side.endswith("out")]
    for name, origin in outputs:
        tag = "no tag" if interface.tag == UNTAGGED else f"the tag of VLAN {interface.tag}"
        message = f"'{name}' meets packets that came with {tag} and leave by {interface.port}: phb rewrites no tags"
        configuration.note(origin, message)


def _queueing_statements(interface: Interface) -> list[Origin]:
    parts = (interface.random_detect, interface.shape, interface.fair_queue or None)
    said = [part.origin for part in parts if part is not None and part is not True]
    said += [interface.hold_queue[1]] if interface.hold_queue is not None else []
    return sorted(said, key=lambda origin: origin.line)


def _no_port(configuration: Configuration, interface: Interface) -> None:
    """Note an interface that is no port; refuse one with QoS."""
    held = interface.hold_queue[1] if interface.hold_queue is not None else None
    said = [origin for _, origin in interface.policies.values()]
    said += [origin for origin in _queueing_statements(interface) if origin != held]
    if said:
        first = min(said, key=lambda origin: origin.line)
        expected = f"it on a physical interface: one of {', '.join(PHYSICAL)}"
        found = f"'{first.statement}' on {interface.name}"
        for origin, instead in interface.unlike[:1]:
            found += f", which has '{origin.statement}' ({origin})"
            expected = f"it on {instead}"
        if not interface.unlike and "." in interface.name and interface.kind in PHYSICAL:
            expected = f"'encapsulation dot1Q' in it, and interface {interface.port}"
        raise InputError(first, found, expected)
    why = interface.unlike[0][0].statement if interface.unlike else "it is no port of a switch"
    configuration.aside(interface.origin, f"'{interface.name}' has no effect: {why}; no QoS is said of it")
    if held is not None:
        # Dialers and bundles have one by default, which queues no class's packets.
        configuration.note(held, f"'{held.statement}' has no effect: {interface.name} is no port of a switch")
    for name, origin in interface.access_groups.values():
        configuration.note(origin, f"access list '{name}' filters nothing: {interface.name} is no port of a switch")


def _check_routing(configuration: Configuration, interface: Interface) -> None:
    if interface.route_map is None:
        return
    name, origin = interface.route_map
    route_map = configuration.route_maps.get(name)
    if route_map is None:
        configuration.note(origin, f"route map '{name}' is not in the file; packets are forwarded by destination")
        return
    for mark in route_map.marks:
        raise InputError(
            origin,
            f"route map '{name}', which marks packets: '{mark.statement}' ({mark})",
            "'set' in a class of an input policy: phb marks by policy maps only",
        )
    configuration.note(
        origin, f"route map '{name}' has no effect: phb doesn't route by policy; packets are forwarded by destination"
    )


def length_basis(interface: Interface) -> LengthBasis:
    """Say which bytes IOS counts as the length of a packet at this interface.

    Policers, shapers and queues count the data link header and leave out the frame check sequence ("Data Included in
    the Policing Rate" in the Cisco 10000 Series Router Quality of Service Configuration Guide); `show queue` of the
    source displays 1444 bytes for an IP packet of 1440 on PPP (its appendix E).
    """
    return PHYSICAL[interface.kind][0]


def rate_basis(interface: Interface) -> RateBasis:
    """Give `length_basis` as the basis of rates."""
    return RateBasis(length_basis(interface).value)


def maybe_bandwidth(interface: Interface) -> int | None:
    """Give the interface's bandwidth in bit/s, as configured or as its kind has it."""
    if interface.bandwidth is not None:
        return interface.bandwidth[0] * 1000
    if interface.speed is not None:
        return interface.speed * 1_000_000
    kilobits = PHYSICAL[interface.kind][1]
    return None if kilobits is None else kilobits * 1000


def bandwidth(interface: Interface, origin: Origin) -> int:
    """Give the interface's bandwidth in bit/s; refuse an interface without one."""
    known = maybe_bandwidth(interface)
    if known is None:
        raise InputError(origin, f"a percentage of {interface.name}", f"'bandwidth' in interface {interface.name}")
    return known


def bits_per_second(amount: Amount, whole: int) -> int:
    """Give the amount in bit/s; a percentage is one of `whole`."""
    if amount.bits_per_second is not None:
        return amount.bits_per_second
    assert amount.percent is not None
    return whole * amount.percent // 100


def rate(bits: int, basis: RateBasis) -> Rate:
    """Give a rate in the largest unit that makes it a whole number, up to kbit/s."""
    if bits % 1000:
        return Rate(value=Decimal(bits), unit=RateUnit.BIT, basis=basis)
    return Rate(value=Decimal(bits // 1000), unit=RateUnit.KBIT, basis=basis)
