"""Which packets a question is about: `match` and `unless` in the words of a rule, of packets as they come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from phb.behaviour.behaviour import Step
from phb.behaviour.policy.conditions import boxes
from phb.behaviour.policy.references import Node
from phb.errors import InputError
from phb.model import Conditions, PolicySet
from phb.packets.boxes import ValueBox
from phb.packets.space import Subset, Version, box_of, every_packet
from phb.regions.plain import first_steps
from phb.searching.conditions import number_of


class Meant(NamedTuple):
    """The packets that a question is about, and all others: disjoint boxes."""

    inside: tuple[ValueBox, ...]
    outside: tuple[ValueBox, ...]


def meant(match: Sequence[Conditions], unless: Sequence[Conditions], policy: PolicySet, epochs: int) -> Meant:
    """Divide all packets that can come in at the policy's ports.

    As in a rule, `match` and `unless` mean IP packets. Without `match` every frame is meant.

    Raises:
        InputError: A condition names a port that the policy doesn't have, or asks what no packet has that comes in.
    """
    whole = tuple(box_of(version, epochs=epochs) for version in Version)
    asked = Step(tuple(_boxes(match, policy, epochs)) if match else whole, tuple(_boxes(unless, policy, epochs)), None)
    inside: list[ValueBox] = []
    outside: list[ValueBox] = []
    for box in every_frame(policy, epochs):
        for number, part in first_steps([asked], box):
            (outside if number else inside).append(part)
    return Meant(tuple(inside), tuple(outside))


def every_frame(policy: PolicySet, epochs: int) -> Iterator[ValueBox]:
    """Give all frames that can come in at the policy's ports, IP packets first."""
    ports = sum(1 << port.number for port in policy.ports if port.number is not None)
    for box in sorted(every_packet(epochs), key=lambda each: each.subsets[Subset.VERSION]):
        subsets = list(box.subsets)
        subsets[Subset.INGRESS] = ports or subsets[Subset.INGRESS]
        yield ValueBox(box.intervals, tuple(subsets))


def _boxes(conditions: Sequence[Conditions], policy: PolicySet, epochs: int) -> Iterator[ValueBox]:
    node = Node(policy)
    for each in conditions:
        for field in ("egress_port", "qos_group"):
            if getattr(each, field) is not None:
                found = f"'{field.replace('_', '-')}' of packets that come in"
                raise InputError(each.origin(field), found, "what they have then; treatment has 'egress-port'")
        if each.ingress_port is not None:
            number_of(policy, each.ingress_port, each.origin("ingress_port"))
        yield from boxes(node, each, epochs)
