"""The pipeline as a model: packets in, every stage's decisions out.

Deliberately simple, stage by stage as p4src/phb.p4 calls them, over the entries that a push would write. Tests compare
it with the switch. Chance is told: the random part of early detection is given as a probability.
"""

from __future__ import annotations

from collections.abc import Mapping

from phb.explain.line import LineRate, PortLine
from phb.explain.packet import TracedPacket
from phb.explain.stages.allowance import allow
from phb.explain.stages.applicability import count_applicability
from phb.explain.stages.buffer import buffer
from phb.explain.stages.classify import INPUT, OUTPUT, classify
from phb.explain.stages.connection import connect
from phb.explain.stages.conversation import converse
from phb.explain.stages.forward import forward
from phb.explain.stages.mark import mark
from phb.explain.stages.police import police
from phb.explain.stages.schedule import SHAPER, schedule
from phb.explain.stages.user_priority import map_user_priority
from phb.explain.stages.window import ask_clamp, clamp
from phb.explain.stages.wred import wred
from phb.explain.state import PipelineState
from phb.explain.tables import Tables
from phb.intent import NodeIntent, Notice
from phb.names import Names

_MULTI_FIELD = ("multi_field_ipv4", "multi_field_ipv6", "behaviour_aggregate", "permission")
MODELLED = frozenset(
    f"PhbIngress.{name}"
    for name in (
        *(f"classify.{table}" for table in _MULTI_FIELD[:3]),
        *(f"output.{table}" for table in _MULTI_FIELD),
        "admit.permission",
        "admit.connection_limit",
        *(f"{hook}police.{table}" for hook in ("", "output_") for table in ("stream_meter", "colour_action")),
        *(f"{hook}mark.{table}" for hook in ("", "output_") for table in ("remark", "window_clamp")),
        *(f"forward.{table}" for table in ("cross_connect", "ipv4_route", "ipv6_route", "exception")),
        "forward.arrival.receive",
        "forward.next_hop.send",
        "user_priority.map",
        *(f"applicability.{table}" for table in ("host_port", "peer_ipv4", "peer_ipv6")),
        "conversation.port_scheduler",
        "conversation.class_queue",
        "buffer.port_limit",
        "buffer.stream_buffer",
        "buffer.idle_stream",
        "wred.thresholds",
        "schedule.shaper",
        "schedule.weight",
        "schedule.sp_pifo.map_ranks",
    )
)
"""Tables whose entries the model asks as the switch does."""


class Pipeline:
    """One switch that holds compiled entries.

    Args:
        intent: The entries.
        names: Names of their numbers.
        rates: By port number; a port without one sends at once.

    Attributes:
        beyond: What the entries make a switch do that the model doesn't know.
    """

    def __init__(self, intent: NodeIntent, names: Names, rates: Mapping[int, LineRate] | None = None) -> None:
        self.tables = Tables(intent.entries)
        self.names = names
        self.beyond = _beyond(intent)
        self._track_connections = intent.track_connections
        self._rates = dict(rates or {})
        self._state = PipelineState()
        self._lines: dict[int, PortLine] = {}

    @property
    def counted(self) -> dict[tuple[str, int], int]:
        """Counters of stage applicability in packets, by name and index, without zeros."""
        return dict(self._state.applicability)

    def replace(self, intent: NodeIntent, names: Names) -> None:
        """Replace the entries, as a push does; queues and registers stay."""
        self.tables, self.names, self.beyond = Tables(intent.entries), names, _beyond(intent)
        self._track_connections = intent.track_connections

    def process(self, time_ns: int, port: int, frame: bytes, length: int | None = None) -> TracedPacket:
        """Process an arriving frame (without FCS, or its first bytes); give the packet after its last ingress stage.

        Times must not decrease. `length` is the frame's, where only its first bytes are there. `TracedPacket.taken_ns`
        is set when the packet leaves: at once on an idle port, else by a later call.
        """
        self.advance(time_ns)
        packet = TracedPacket.arrived(time_ns, port, frame, length)
        self._ingress(packet)
        if packet.is_dropped() or packet.to_controller:
            return packet
        assert packet.egress_port is not None
        line = self._line(packet.egress_port)
        packet.headers.update_checksum()
        packet.depth = self._state.queued[packet.egress_port] - 1
        self._left(line.add(packet))
        return packet

    def advance(self, time_ns: int) -> None:
        """Let lines send until this time."""
        for line in self._lines.values():
            self._left(line.advance(time_ns))

    def finish(self) -> None:
        """Let lines send all queued packets."""
        for line in self._lines.values():
            self._left(line.finish())

    def _line(self, port: int) -> PortLine:
        if port not in self._lines:
            self._lines[port] = PortLine(self._rates.get(port), self._state)
        return self._lines[port]

    @staticmethod
    def _left(taken: list[tuple[int, TracedPacket]]) -> None:
        for time_ns, packet in taken:
            packet.taken_ns = time_ns

    def _ingress(self, packet: TracedPacket) -> None:
        tables, names, state = self.tables, self.names, self._state
        classify(INPUT, packet, tables, names)
        if packet.is_dropped():
            return
        if self._track_connections:
            connect(packet, tables, state)
            if packet.is_dropped():
                return
        police("police", packet.policy, packet, tables, state)
        if packet.is_dropped():
            return
        mark("mark", packet.policy, packet, tables)
        if self._track_connections:
            ask_clamp("mark", packet.policy, packet, tables)
        forward(packet, tables, names)
        if packet.is_dropped() or packet.to_controller:
            return
        classify(OUTPUT, packet, tables, names)
        if packet.is_dropped():
            return
        if packet.output_policy:
            police("output_police", packet.output_policy, packet, tables, state)
            if packet.is_dropped():
                return
            mark("output_mark", packet.output_policy, packet, tables)
            if self._track_connections:
                ask_clamp("output_mark", packet.output_policy, packet, tables)
        map_user_priority(packet, tables)
        if packet.connection.accepted:
            allow(packet, state)
            if packet.is_dropped():
                return
            clamp(packet, state)
        if self._track_connections:
            count_applicability(packet, tables, state)
        converse(packet, tables, state)
        buffer(packet, tables, state)
        if packet.is_dropped():
            return
        wred(packet, tables, state)
        if not packet.is_dropped():
            schedule(packet, tables, state)


def _beyond(intent: NodeIntent) -> tuple[Notice, ...]:
    """Give a notice for each table, burst of a port's shaper and shaped class that the model lacks."""
    first: dict[str, Notice] = {}
    for entry in intent.entries:
        if entry.table not in MODELLED:
            stage = entry.table.partition(".")[2]
            message = f"{stage} is not part of the model: what it does to packets is not explained"
            first.setdefault(entry.table, Notice(entry.origin, message))
    bursts = [
        Notice(
            shaper.origin, f"the burst of {shaper.burst_bytes} bytes is not part of the model: it paces every packet"
        )
        for shaper in intent.shapers
        if shaper.burst_bytes
    ]
    held = "its tokens are not part of the model: packets of the class leave when their turn has come"
    shaped = [Notice(entry.origin, held) for entry in intent.entries if entry.table == SHAPER]
    return (*first.values(), *bursts, *shaped)
