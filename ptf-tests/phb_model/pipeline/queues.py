"""The queue of an egress port, and which packets may join it.

A port either sends all packets of its queue at once, or it is *stalled*: the first packet stays on the line, and all
others wait. So every limit can be reached, and no order of service is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

from phb.model import (
    DEFAULT_CLASS,
    Buffers,
    ClassBased,
    ClassQueue,
    DropProfile,
    EarlyDetection,
    FairQueue,
    FlowQueueing,
    Queueing,
)
from phb_model.pipeline.classify import INPUT, OUTPUT
from phb_model.pipeline.packet import Flow, ParsedFrame
from phb_model.pipeline.reasons import Reason
from phb_model.token_buckets import Colour

AVERAGE_UNIT = 1 << 32
"""The average queue is kept in parts of a packet."""


class UndeterminedError(Exception):
    """The fate of the packet depends on a random draw, or on which streams have been found idle."""


@dataclass(frozen=True)
class Waiting:
    """A packet in the queue of a class, None where the port has one queue.

    `stream` is the action whose private buffer it uses, with its hook, None for everything else. It takes `own` bytes
    there, and `shared` ones of the pool.
    """

    traffic_class: str | None
    flow: Flow
    stream: tuple[str, str] | None
    own: int
    shared: int


class PortQueue:
    """The queue of one port, as the policy describes it; a port that it doesn't name has a queue without limits."""

    def __init__(self, queueing: Queueing | None, *, stalled: bool) -> None:
        self._queueing = queueing
        self._stalled = stalled
        self._line_is_busy = False
        self._waiting: list[Waiting] = []
        self._averages: dict[str | None, int] = {}

    @property
    def kind(self) -> str:
        """The schedule, in words."""
        return "no schedule" if self._queueing is None else f"schedule {self._queueing.schedule.kind}"

    def queue_of(self, traffic_class: str) -> str | None:
        """Return the class whose queue the packets of a class take; None where the port has one queue."""
        if self._queueing is None or not isinstance(self._queueing.schedule, ClassBased):
            return None
        named = {queue.traffic_class for queue in self._queueing.schedule.queues}
        return traffic_class if traffic_class in named else DEFAULT_CLASS

    def join(
        self, packet: ParsedFrame, traffic_class: str, colour: Colour, stream: tuple[str, str] | None
    ) -> tuple[Reason | None, bool]:
        """Return why the packet may not join, and, if it may, whether it is sent at once.

        Raises:
            UndeterminedError: Early detection draws, or the packet has room only if idle streams lend theirs.
        """
        queue = self.queue_of(traffic_class)
        waiting = Waiting(queue, packet.flow, stream, *self._bytes(packet.length, stream))
        reason = self._refusal(packet, colour, waiting)
        if reason is not None:
            return reason, False
        if not self._stalled:
            return None, True
        if not self._line_is_busy:
            self._line_is_busy = True
            return None, True
        self._waiting.append(waiting)
        return None, False

    def _refusal(self, packet: ParsedFrame, colour: Colour, waiting: Waiting) -> Reason | None:
        queueing = self._queueing
        if queueing is None:
            return None
        same_queue = [each for each in self._waiting if each.traffic_class == waiting.traffic_class]
        own_queue, flows, detection = self._of_queue(waiting.traffic_class)
        if queueing.hold_queue is not None and len(self._waiting) >= queueing.hold_queue:
            return Reason.HOLD_QUEUE
        if own_queue is not None and own_queue.queue_limit is not None and len(same_queue) >= own_queue.queue_limit:
            return Reason.QUEUE_LIMIT
        of_flow = sum(each.flow == waiting.flow for each in same_queue)
        if flows is not None and of_flow >= flows.congestive_discard_threshold:
            return Reason.CONGESTIVE_DISCARD
        if queueing.buffers is not None and not self._has_room(queueing.buffers, waiting):
            return Reason.NO_BUFFER
        if detection is not None and self._is_early(detection, packet, colour, waiting.traffic_class, len(same_queue)):
            return Reason.WRED
        return None

    def _of_queue(
        self, traffic_class: str | None
    ) -> tuple[ClassQueue | None, FlowQueueing | None, EarlyDetection | None]:
        """Return the class's queue, if the port has classes; the flows in it, and its early detection."""
        assert self._queueing is not None
        schedule = self._queueing.schedule
        if isinstance(schedule, ClassBased):
            own = next((queue for queue in schedule.queues if queue.traffic_class == traffic_class), None)
            return own, own.fair_queue if own else None, own.early_detection if own else None
        return None, schedule if isinstance(schedule, FairQueue) else None, self._queueing.early_detection

    def _bytes(self, length: int, stream: tuple[str, str] | None) -> tuple[int, int]:
        """Return the bytes of a packet that fit its stream's private buffer, and the rest."""
        buffers = self._queueing.buffers if self._queueing is not None else None
        private = 0
        if buffers is not None and stream is not None:
            private = next((each.bytes for each in buffers.private if each.action == stream[0]), 0)
        own = min(length, private - sum(each.own for each in self._waiting if each.stream == stream)) if private else 0
        return own, length - own

    def _has_room(self, buffers: Buffers, waiting: Waiting) -> bool:
        """Return whether the rest finds room in the pool, and the stream doesn't take too much.

        Raises:
            UndeterminedError: Only if idle streams lend theirs.
        """
        if waiting.shared == 0:
            return True
        named = {each.action for each in buffers.private}
        left = buffers.shared_bytes - sum(each.shared for each in self._waiting)
        held = sum(each.shared for each in self._waiting if _account(each, named) == _account(waiting, named))
        wanted = (held + waiting.shared) * buffers.holes
        if wanted > left and buffers.idle_timeout_ms is not None:
            waits = {each.stream for each in (*self._waiting, waiting)}
            streams = ((each, (each.action, hook)) for each in buffers.private for hook in (INPUT, OUTPUT))
            if wanted <= left + sum(each.bytes for each, stream in streams if stream not in waits):
                raise UndeterminedError
        return wanted <= left

    def _is_early(
        self, detection: EarlyDetection, packet: ParsedFrame, colour: Colour, queue: str | None, queued: int
    ) -> bool:
        """Return whether the average queue is beyond the packet's maximum; it moves with each packet that comes so far.

        The queue is never idle once it had an average above zero: a stalled port's doesn't get shorter.
        """
        average, now = self._averages.get(queue, 0), queued * AVERAGE_UNIT
        step = abs(now - average) >> detection.average_weight
        average += step if now > average else -step
        self._averages[queue] = average
        profile = _profile(detection, packet, colour)
        if profile is None:
            return False
        if average >= profile.maximum * AVERAGE_UNIT:
            return True
        if average > profile.minimum * AVERAGE_UNIT:
            raise UndeterminedError
        return False


def _account(waiting: Waiting, named: set[str]) -> tuple[str, str] | None:
    """Return the stream of a packet: all without a private buffer are one."""
    return waiting.stream if waiting.stream is not None and waiting.stream[0] in named else None


def _profile(detection: EarlyDetection, packet: ParsedFrame, colour: Colour) -> DropProfile | None:
    """Return the first profile that names the packet's code point, precedence or colour; else that for all others."""
    for profile in detection.profiles:
        if profile.dscp is not None and profile.dscp == packet.tos >> 2:
            return profile
        if profile.precedence is not None and profile.precedence == packet.tos >> 5:
            return profile
        if profile.colour is not None and profile.colour.value == colour.word:
            return profile
    others = (each for each in detection.profiles if (each.dscp, each.precedence, each.colour) == (None, None, None))
    return next(others, None)
