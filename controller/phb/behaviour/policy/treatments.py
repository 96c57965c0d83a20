"""Actions as treatments."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from decimal import Decimal

from phb.behaviour.behaviour import NOTHING, Treatment
from phb.behaviour.marks import UNMARKED, Marks
from phb.behaviour.policy.marks import marks
from phb.behaviour.policy.meters import meter
from phb.behaviour.policy.references import Node
from phb.model import Action, Rate, RateBasis

_FULL_PAYLOAD = 1460
"""Bytes of TCP payload in a full segment, to which rates of whole packets are reduced: an IP packet of 1500 bytes."""
_CLAMP_UNIT = Decimal(8_000_000) / (1 << 20)
"""Bit/s: rates of connections are kept in bytes per 2^20 microseconds."""


class Treatments:
    """Treatments of the actions of a node, each made once.

    Attributes:
        streams: Keys of the streams that there are, and the actions that they are of.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._made: dict[tuple[str, bool, bool, bool], Treatment] = {}
        self._buffered = {
            private.action
            for queueing in node.policy.queueing
            if queueing.buffers is not None
            for private in queueing.buffers.private
        }
        self.streams: dict[Hashable, str] = {}

    def of(
        self,
        action: Action | None,
        *,
        output: bool,
        counted_as: Hashable,
        conditioned: bool = True,
        clamped: bool = True,
    ) -> Treatment:
        """Give the treatment of packets.

        Args:
            action: What is done with them.
            output: Whether a port's output policy does it: an action has a stream in each.
            counted_as: As what their connections count.
            conditioned: Whether they are metered and marked.
            clamped: Whether their connections are kept to rates.
        """
        if action is None:
            return NOTHING
        key = (action.name, output, conditioned, clamped)
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._make(action, output=output, conditioned=conditioned, clamped=clamped)
        return made if made.connections is None else replace(made, counted_as=counted_as)

    def _make(self, action: Action, *, output: bool, conditioned: bool, clamped: bool) -> Treatment:
        said = action.meter if conditioned else None
        stream: Hashable = None
        if said is not None or action.name in self._buffered:
            stream = (action.name, "output" if output else "input", said is not None)
            self.streams[stream] = action.name
        colours: tuple[Marks | None, Marks | None, Marks | None] = (UNMARKED, UNMARKED, UNMARKED)
        if said is not None:
            green, yellow, red = (
                None if each.drop else marks(action, each) for each in (said.green, said.yellow, said.red)
            )
            colours = (green, yellow, red)
        elif conditioned:
            own = marks(action)
            colours = (own, own, own)
        clamp = None
        if clamped and action.max_rate is not None:
            clamp = (_clamp(action.max_rate), 0 if action.min_rate is None else _clamp(action.min_rate))
        return Treatment(
            traffic_class=self._node.class_of(action.traffic_class, action.origin("traffic_class")),
            stream=stream,
            meter=None if said is None else meter(said),
            colours=colours,
            connections=action.max_connections,
            clamp=clamp,
        )


def _clamp(rate: Rate) -> int:
    """Give the payload that a connection may carry, in bit/s, in the steps in which it is kept."""
    # What the rate counts of a full segment in an Ethernet frame: all of it, or less by what its basis leaves out.
    counted = _FULL_PAYLOAD + RateBasis.TCP_PAYLOAD.left_out - rate.basis.left_out
    steps = (rate.bits_per_second * _FULL_PAYLOAD / counted / _CLAMP_UNIT).to_integral_value()
    return round(steps * _CLAMP_UNIT)
