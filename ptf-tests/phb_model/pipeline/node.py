"""The stages one after the other: the fate of a packet in a node, and the node's counts."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from phb.model import DEFAULT_CLASS, MARKS, PolicySet
from phb_model.pipeline.admit import Connections
from phb_model.pipeline.classify import INPUT, OUTPUT, Classifier, Taken
from phb_model.pipeline.counters import Counters, count
from phb_model.pipeline.forward import forward
from phb_model.pipeline.mark import mark
from phb_model.pipeline.packet import ParsedFrame, parse
from phb_model.pipeline.police import buckets_of, colour_of_code_point, counted_bytes
from phb_model.pipeline.queues import PortQueue
from phb_model.pipeline.reasons import Reason
from phb_model.pipeline.user_priority import set_user_priority
from phb_model.token_buckets import Colour, TokenBuckets

PACKET_OUT_HEADER = 2
"""Bytes."""


@dataclass(frozen=True)
class PacketFate:
    """The fate of a packet.

    It is dropped or goes to the controller if `port` is None, for `reason`. `frame` leaves, or goes to the controller
    behind the packet-in header; it is None if the packet is dropped. `steps` tell what each stage found, in words.
    """

    port: int | None
    frame: bytes | None
    reason: Reason | None
    waits: bool = False
    steps: tuple[str, ...] = ()

    @property
    def to_controller(self) -> bool:
        """Whether the controller gets it."""
        return self.port is None and self.frame is not None


@dataclass
class _Verdict:
    """The state of one packet on its way through the stages."""

    taken: dict[str, Taken | None]
    colour: Colour = Colour.GREEN
    metered: bool = False
    stream: tuple[str, str] | None = None
    traffic_class: str = DEFAULT_CLASS
    steps: list[str] = field(default_factory=list)


class Node:
    """A node that follows a policy; times don't decrease from packet to packet.

    Rules are those valid `at` a moment. Ports of the numbers `stalled` send one packet and no more. For `reported`
    reasons the controller gets the packet instead of its being dropped (`forward.exception`).
    """

    def __init__(
        self,
        policy: PolicySet,
        at: datetime,
        *,
        stalled: Collection[int] = (),
        reported: Collection[Reason] = (),
    ) -> None:
        self.counters = Counters()
        self._policy = policy
        self._reported = reported
        self._classifier = Classifier(policy, at)
        self._connections = Connections()
        self._meters: dict[tuple[str, str], TokenBuckets] = {}
        self._queues = {port.number: PortQueue(None, stalled=port.number in stalled) for port in policy.ports}
        self._buffered = set()
        for queueing in policy.queueing:
            port = policy.find_port(queueing.port)
            assert port is not None
            self._queues[port.number] = PortQueue(queueing, stalled=port.number in stalled)
            if queueing.buffers is not None:
                self._buffered |= {private.action for private in queueing.buffers.private}

    def arrive(self, now_us: int, ingress: int, frame: bytes) -> PacketFate:
        """Take a frame that comes in at a port.

        Raises:
            UndeterminedError: Its fate depends on a random draw.
        """
        packet, verdict = parse(frame), _Verdict({})
        reason = self._apply_policy(INPUT, now_us, packet, verdict, ingress, None)
        if reason is not None:
            return self._drop(packet, verdict, reason)
        egress = forward(self._policy, packet, ingress, verdict.steps)
        if isinstance(egress, Reason):
            if egress in self._reported:
                return PacketFate(None, packet.finish(), egress, steps=tuple(verdict.steps))
            return self._drop(packet, verdict, egress)
        return self._send(now_us, packet, verdict, ingress, egress)

    def packet_out(self, now_us: int, egress: int, frame: bytes) -> PacketFate:
        """Send a frame of the controller's by a port: it passes the port's output policy and queue, and nothing else.

        The header with the port is no part of the frame, but counts in its length (docs/operate/limits.md).
        """
        packet = parse(frame)
        packet.length += PACKET_OUT_HEADER
        return self._send(now_us, packet, _Verdict({}), None, egress)

    def _send(
        self, now_us: int, packet: ParsedFrame, verdict: _Verdict, ingress: int | None, egress: int
    ) -> PacketFate:
        reason = self._apply_policy(OUTPUT, now_us, packet, verdict, ingress, egress)
        if reason is not None:
            return self._drop(packet, verdict, reason)
        set_user_priority(self._policy, packet, egress)
        port = self._queues[egress]
        key = (egress, port.queue_of(verdict.traffic_class))
        reason, at_once = port.join(packet, verdict.traffic_class, verdict.colour, verdict.stream)
        if reason is not None:
            cells = {
                Reason.HOLD_QUEUE: self.counters.queue_tail_drops,
                Reason.QUEUE_LIMIT: self.counters.queue_tail_drops,
                Reason.CONGESTIVE_DISCARD: self.counters.queue_discards,
                Reason.WRED: self.counters.queue_early_drops,
            }.get(reason)
            if cells is not None:
                count(cells, packet.length, *key)
            return self._drop(packet, verdict, reason)
        count(self.counters.queue_enqueued, packet.length, *key)
        if at_once:
            count(self.counters.port_transmit, packet.length, egress)
            count(self.counters.class_transmit, packet.length, verdict.traffic_class)
        verdict.steps.append(port.kind)
        return PacketFate(egress, packet.finish(), None, not at_once, tuple(verdict.steps))

    def _apply_policy(
        self, hook: str, now_us: int, packet: ParsedFrame, verdict: _Verdict, ingress: int | None, egress: int | None
    ) -> Reason | None:
        """Apply the input policy, or that of the egress port; return the reason if it drops the packet."""
        taken = self._classifier.classify(packet, ingress, egress)
        verdict.taken[hook] = taken
        reason = None
        if taken is not None:
            verdict.steps.append(f"{hook} {taken.kind} of {packet.kind}")
            verdict.steps.append(f"{hook} direction {taken.direction}")
            verdict.stream = self._stream(hook, taken)
            verdict.traffic_class = DEFAULT_CLASS
            if taken.action is not None and taken.action.traffic_class is not None:
                verdict.traffic_class = taken.action.traffic_class
            if taken.blocked:
                reason = Reason.BLOCKED
        if hook == INPUT and reason is None and not self._connections.admits(packet, taken):
            reason = Reason.CONNECTION_LIMIT
        if reason is None:
            reason = self._police(now_us, hook, packet, verdict, taken)
        if taken is not None or hook == INPUT:
            count(self.counters.policy_traffic, packet.length, *_rule(taken), verdict.colour.word)
        return reason

    def _stream(self, hook: str, taken: Taken) -> tuple[str, str] | None:
        """Return the stream of an action's packets at a hook, if it has a meter or a buffer of its own."""
        action = taken.action
        if action is None:
            return None
        metered = action.meter is not None and taken.outgoing
        return (action.name, hook) if metered or action.name in self._buffered else None

    def _police(
        self, now_us: int, hook: str, packet: ParsedFrame, verdict: _Verdict, taken: Taken | None
    ) -> Reason | None:
        """Meter and mark: by the action, and above that by the packet's colour."""
        action = taken.action if taken is not None else None
        treatment = None
        if taken is not None and action is not None and action.meter is not None and taken.outgoing:
            buckets = self._meters.setdefault((action.name, hook), buckets_of(action.meter))
            incoming = verdict.colour if verdict.metered else colour_of_code_point(packet.tos)
            size = counted_bytes(action.meter.committed_rate.basis, packet.length, packet.ip_bytes)
            verdict.colour = buckets.colour(now_us * 1000, size, incoming)
            verdict.metered = True
            aware = "aware" if action.meter.colour_aware else "blind"
            verdict.steps.append(f"{hook} {action.meter.kind.value} {aware} {verdict.colour.word}")
            treatment = getattr(action.meter, verdict.colour.word)
        if taken is not None and verdict.stream is not None:
            count(self.counters.stream_traffic, packet.length, *verdict.stream, verdict.colour.word)
        if treatment is not None and treatment.drop:
            return Reason.POLICED
        if taken is not None and action is not None and taken.outgoing:
            before = packet.tos, packet.pcp
            mark(packet, action, before)
            verdict.steps += [f"{hook} mark {name}" for name in action.model_fields_set if name in MARKS]
            if treatment is not None:
                mark(packet, treatment, before)
                given = [name for name in treatment.model_fields_set if name in MARKS]
                verdict.steps += [f"{hook} mark by colour {name}" for name in given]
        return None

    def _drop(self, packet: ParsedFrame, verdict: _Verdict, reason: Reason) -> PacketFate:
        count(self.counters.drops, packet.length, reason)
        count(self.counters.class_drops, packet.length, verdict.traffic_class, reason)
        for hook in (INPUT, OUTPUT):
            taken = verdict.taken.get(hook)
            if taken is not None or hook == INPUT:
                count(self.counters.policy_drops, packet.length, *_rule(taken), reason)
        return PacketFate(None, None, reason, steps=tuple(verdict.steps))


def _rule(taken: Taken | None) -> tuple[str | None, str]:
    return (None, "any") if taken is None else (taken.name, taken.direction)
