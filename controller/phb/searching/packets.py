"""Which packets a question is about: `match` and `unless` in the words of a rule, of packets as they come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from phb.behaviour.behaviour import Step
from phb.errors import InputError
from phb.model import Conditions, PolicySet
from phb.packets.boxes import Interval, ValueBox
from phb.packets.space import NO_HEADER, UNTAGGED, Subset, Version, box_of, every, every_packet
from phb.regions.plain import first_steps
from phb.searching.conditions import number_of
from phb.values import UNTAGGED as UNTAGGED_WORD


class Meant(NamedTuple):
    """The packets that a question is about, and all others: disjoint boxes."""

    inside: tuple[ValueBox, ...]
    outside: tuple[ValueBox, ...]


def meant(match: Sequence[Conditions] | None, unless: Sequence[Conditions], policy: PolicySet, epochs: int) -> Meant:
    """Divide all packets that can come in at the policy's ports.

    As in a rule, `match` and `unless` mean IP packets. Without `match` every frame is meant.

    Raises:
        InputError: A condition names a port that the policy doesn't have, or asks what no packet has that comes in.
    """
    asked = Step(
        tuple(every_frame(epochs)) if match is None else tuple(_boxes(match, policy, epochs)),
        tuple(_boxes(unless, policy, epochs)),
        does=None,
    )
    ports = sum(1 << port.number for port in policy.ports if port.number is not None)
    inside: list[ValueBox] = []
    outside: list[ValueBox] = []
    for box in every_packet(epochs):
        subsets = list(box.subsets)
        subsets[Subset.INGRESS] = ports or subsets[Subset.INGRESS]
        for number, part in first_steps([asked], ValueBox(box.intervals, tuple(subsets))):
            (outside if number else inside).append(part)
    return Meant(tuple(inside), tuple(outside))


def every_frame(epochs: int) -> Iterator[ValueBox]:
    """Give boxes that hold every frame."""
    return (box_of(version, epochs=epochs) for version in Version)


def _boxes(conditions: Sequence[Conditions], policy: PolicySet, epochs: int) -> Iterator[ValueBox]:
    for each in conditions:
        for field in ("egress_port", "qos_group"):
            if getattr(each, field) is not None:
                key = field.replace("_", "-")
                expected = "what a packet has that comes in"
                raise InputError(each.origin(field), f"'{key}' of packets", f"{expected}; the treatment has a port")
        yield from boxes_of(each, policy, epochs)


def boxes_of(asked: Conditions, policy: PolicySet, epochs: int) -> Iterator[ValueBox]:
    """Give the boxes of what one mapping of conditions asks for, one for each IP version."""
    values: dict[str, Interval | int] = {}
    if asked.ingress_port is not None:
        values["ingress"] = 1 << number_of(policy, asked.ingress_port, asked.origin("ingress_port"))
    if asked.protocol is not None:
        values["protocol"] = 1 << asked.protocol
    for name, addresses in (("source", asked.source), ("destination", asked.destination)):
        if addresses is not None:
            values[name] = (int(addresses.first), int(addresses.last))
    for name, ports in (("source_port", asked.source_ports), ("destination_port", asked.destination_ports)):
        if ports is not None:
            values[name] = (ports.first, ports.last)
    if asked.tos_bits is not None:
        tos = asked.tos_bits
        values["tos"] = sum(1 << octet for octet in range(256) if octet & tos.mask == tos.value)
    if asked.pcp is not None:
        values["tag"] = sum(1 << each for each in range(UNTAGGED) if each & asked.pcp.mask == asked.pcp.value)
    if asked.vlan == UNTAGGED_WORD:
        values["tag"] = 1 << UNTAGGED
    elif asked.vlan is not None:
        values.setdefault("tag", every(UNTAGGED))
        values["vlan"] = (int(asked.vlan), int(asked.vlan))
    if asked.tcp_flags is not None:
        flags = asked.tcp_flags
        values["flags"] = sum(1 << octet for octet in range(NO_HEADER) if octet & flags.mask == flags.value)
    if asked.icmp_type is not None:
        value, mask = asked.icmp_type.bits
        values["message"] = (value, value | ~mask & 0xFFFF)
    for version, number in ((Version.IPV4, 4), (Version.IPV6, 6)):
        if asked.version in (None, number):
            yield box_of(version, epochs=epochs, **values)
