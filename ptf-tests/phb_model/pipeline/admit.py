"""How many TCP connections of a rule there are.

A connection counts from its handshake's third segment until the first FIN that is acknowledged, or a RST, for the rule
that took its SYN, in both directions, if that rule has a limit. Only segments that a receiver would act on (RFC 9293,
RFC 5961) count; a RST whose receiver may wait for another number leaves the connection open.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from phb_model.pipeline.classify import Taken
from phb_model.pipeline.packet import ParsedFrame
from phb_model.pipeline.segment import ACK, FIN, RST, SYN, Segment, read_segment

End: TypeAlias = tuple[int, int]

_CIRCLE = 1 << 32
_PLAIN_WINDOW = 65535


@dataclass
class _Side:
    """One end. Its numbers don't wrap: each is the one nearest to the number it is compared with.

    `sent` is behind the last number that it has sent, None before its SYN. It has acknowledged and takes numbers up to
    `acknowledged` and `takes`. `shift` is that of its windows, None where its SYN had none.
    """

    sent: int | None = None
    acknowledged: int = 0
    takes: int = 0
    shift: int | None = None


@dataclass
class _Connection:
    """One connection.

    It counts for the limit of `rule` (None: no limit) once it is `established`. `opener` sent the SYN, with `window`.
    `finished` is the end that sent a FIN, and the number that acknowledges it; `doubted` the end that sent a RST which
    the other may have taken.
    """

    rule: str | None
    limit: int | None
    opener: End
    window: int
    sides: dict[End, _Side]
    established: bool = False
    finished: tuple[End, int] | None = None
    doubted: End | None = None


@dataclass
class Connections:
    """All connections of a node."""

    _known: dict[frozenset[End], _Connection] = field(default_factory=dict)

    def admits(self, packet: ParsedFrame, taken: Taken | None) -> bool:
        """Return whether the packet may pass; it may open, establish or close its connection."""
        segment = read_segment(packet)
        # The node drops packets with a damaged IP header, so they never reach a receiver.
        if segment is None or not packet.checksum_is_right:
            return True
        source, destination = (packet.source, packet.source_port), (packet.destination, packet.destination_port)
        key = frozenset([source, destination])
        connection = self._known.get(key)
        answered = connection is not None and connection.sides[connection.opener].acknowledged != 0
        if not segment.is_taken:
            return True
        if segment.flags & (FIN | SYN | RST | ACK) == SYN and not answered:
            return self._open(key, source, destination, segment, taken)
        if connection is None:
            return True
        here, there = connection.sides[source], connection.sides[destination]
        if segment.flags & RST:
            if segment.is_certain and _resets(segment, connection, source, here, there):
                del self._known[key]
            return True
        if segment.flags & SYN:
            if segment.flags & ACK and not connection.established and source != connection.opener:
                _answer(segment, connection, here, there)
            return True
        if not segment.flags & ACK or not answered or not _is_acceptable(segment, connection, here, there):
            return True
        if not connection.established and source == connection.opener:
            if connection.limit is not None and self._count(connection.rule) >= connection.limit:
                return False
            connection.established = True
        if self._continue(segment, connection, source, here, there):
            del self._known[key]
        return True

    def _count(self, rule: str | None) -> int:
        return sum(each.established and each.rule == rule for each in self._known.values())

    def _open(self, key: frozenset[End], source: End, destination: End, segment: Segment, taken: Taken | None) -> bool:
        limit = taken.action.max_connections if taken is not None and taken.action is not None else None
        name = taken.name if taken is not None and limit is not None else None
        if limit is not None and self._count(name) >= limit:
            return False
        # Numbers begin so high that none of them is 0 or below.
        first = segment.sequence + 4 * _CIRCLE
        opener = _Side(sent=first + segment.length, shift=segment.shift)
        other = _Side(acknowledged=first + 1, takes=first + segment.length)
        # The ends are the same where a host sends to itself from and to the same port.
        self._known[key] = _Connection(name, limit, source, segment.window, {destination: other, source: opener})
        return True

    def _continue(self, segment: Segment, connection: _Connection, source: End, here: _Side, there: _Side) -> bool:
        """Follow an acceptable segment; return whether it closes the connection."""
        assert here.sent is not None
        begin = _nearest(segment.sequence, there.takes)
        end = begin + segment.length
        acknowledged = _nearest(segment.acknowledgement, here.acknowledged)
        shift = here.shift if here.shift is not None and there.shift is not None else 0
        here.sent = max(here.sent, end)
        here.acknowledged = max(here.acknowledged, acknowledged)
        here.takes = max(here.takes, acknowledged + (segment.window << shift))
        if connection.doubted not in (None, source):
            connection.doubted = None
        if connection.finished is not None:
            who, finish = connection.finished
            if who != source and acknowledged >= finish:
                return True
            if who == source and end > finish:
                connection.finished = None
        may_finish = connection.established and connection.finished is None and connection.doubted is None
        if segment.flags & FIN and segment.is_certain and may_finish:
            connection.finished = source, end
        return False


def _nearest(number: int, to: int) -> int:
    """Return the number, of all that a sequence number stands for, that is nearest."""
    return to + (number - to + _CIRCLE // 2) % _CIRCLE - _CIRCLE // 2


def _answer(segment: Segment, connection: _Connection, here: _Side, there: _Side) -> None:
    """Take a SYN that acknowledges the one that opened the connection."""
    assert there.sent is not None
    acknowledged = _nearest(segment.acknowledgement, here.acknowledged)
    if not here.acknowledged <= acknowledged <= there.sent:
        return
    first = segment.sequence + 4 * _CIRCLE
    here.sent, here.shift = first + segment.length, segment.shift
    here.acknowledged, here.takes = acknowledged, acknowledged + segment.window
    there.acknowledged, there.takes = first + 1, first + 1 + connection.window


def _resets(segment: Segment, connection: _Connection, source: End, here: _Side, there: _Side) -> bool:
    """Return whether a RST is sure to be at the number that the receiver waits for."""
    if here.sent is None:
        assert there.sent is not None
        acknowledged = _nearest(segment.acknowledgement, there.sent)
        return bool(segment.flags & ACK) and here.acknowledged <= acknowledged <= there.sent
    if there.acknowledged <= _nearest(segment.sequence, here.sent) <= here.sent:
        if there.acknowledged == here.sent:
            return True
        if connection.established:
            connection.finished, connection.doubted = None, source
    return False


def _is_acceptable(segment: Segment, connection: _Connection, here: _Side, there: _Side) -> bool:
    assert there.sent is not None
    begin = _nearest(segment.sequence, there.takes)
    acknowledged = _nearest(segment.acknowledgement, here.acknowledged)
    oldest = here.acknowledged
    if connection.established:
        oldest -= here.takes - here.acknowledged + _PLAIN_WINDOW
    # RFC 9293, sections 3.10.7.4 and 3.8.4; RFC 5961, section 5.2.
    in_window = begin + segment.length >= there.acknowledged - 1 and begin <= there.takes
    return in_window and oldest <= acknowledged <= there.sent
