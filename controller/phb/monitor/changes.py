"""What happened between two samples of one switch: no rate from a counter that began anew, none across a gap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeVar

from phb.device.session import CounterValue
from phb.monitor.observation import Change, Event, EventKind, Subject, SubjectKind
from phb.monitor.sample import ClassCount, PolicyCount, Sample, StreamCount

_FEW: Final = 5
"""Subjects that one event names."""

Key = TypeVar("Key", str, int)


@dataclass(frozen=True, slots=True)
class Between:
    """What two samples say.

    Attributes:
        changes: By subject. Without those that one of the samples doesn't have, that have got another number, or whose
            counters began anew.
        gap_s: Seconds between the two, where these are too many for a rate; else 0.
        events: Counters that began anew, ports whose link went or came.
    """

    changes: Mapping[Subject, Change] = field(default_factory=dict)
    gap_s: float = 0.0
    events: tuple[Event, ...] = ()


@lru_cache(maxsize=1 << 17)
def subject(kind: SubjectKind, name: str, direction: str = "") -> Subject:
    """Give a subject, the same object each time."""
    return Subject(kind, name, direction)


def changes_between(before: Sample | None, after: Sample, longest_s: float) -> Between:
    """Compare two samples of a switch, of which the first may be missing; what is longer than `longest_s` is a gap."""
    if before is None:
        return Between()
    if before.instance != after.instance:
        began = Event(
            after.time_ns, after.switch, EventKind.COUNTERS_ANEW, "all counters began anew: it was started anew"
        )
        return Between({}, max(0.0, (after.time_ns - before.time_ns) / 1e9), (began, *_links(before, after)))
    seconds = (after.switch_time_ns - before.switch_time_ns) / 1e9
    if not 0 < seconds <= longest_s:
        return Between({}, max(0.0, seconds), _links(before, after))
    compared = _Compared(seconds)
    classes, policies, streams = SubjectKind.CLASS, SubjectKind.POLICY, SubjectKind.STREAM
    for name, of_class in after.classes.items():
        if (was := before.classes.get(name)) is not None and was.number == of_class.number:
            same = was is of_class
            compared.take(subject(classes, name), same, None if same else _of_class(was, of_class, seconds))
    for key, policy in after.policies.items():
        if (had := before.policies.get(key)) is not None and had.number == policy.number:
            compared.rule(subject(policies, *key), had, policy)
    for name, stream in after.streams.items():
        if (held := before.streams.get(name)) is not None and held.number == stream.number:
            compared.rule(subject(streams, name), held, stream)
    return Between(compared.changes, 0.0, (*_anew(after, compared.anew), *_links(before, after)))


class _Compared:
    """Changes that were found, and the subjects whose counters began anew."""

    def __init__(self, seconds: float) -> None:
        self.changes: dict[Subject, Change] = {}
        self.anew: list[Subject] = []
        self._seconds = seconds
        # One for all that stood still: most policies of a large set do.
        self._still = Change(seconds, 0, 0, 0, 0)

    def take(self, key: Subject, same: bool, change: Change | None) -> None:
        """Take a change; None where a counter went back."""
        if same:
            self.changes[key] = self._still
        elif change is None:
            self.anew.append(key)
        else:
            self.changes[key] = change

    def rule(self, key: Subject, then: PolicyCount | StreamCount, now: PolicyCount | StreamCount) -> None:
        """Compare a policy or a stream, after all classes."""
        same = then is now
        of_class = None if same else self.changes.get(subject(SubjectKind.CLASS, now.traffic_class))
        delays = _NO_DELAYS if of_class is None else of_class.delays
        self.take(key, same, None if same else _of_rule(then, now, self._seconds, delays))


_NO_DELAYS: Mapping[int, int] = {}
_NO_COLOURS: Mapping[str, tuple[int, int]] = {}


def _of_class(then: ClassCount, now: ClassCount, seconds: float) -> Change | None:
    """Give what happened to a class; None where a counter went back."""
    sent_packets, sent_bytes = now.sent.packets - then.sent.packets, now.sent.bytes - then.sent.bytes
    dropped_bytes, marked = now.dropped_bytes - then.dropped_bytes, now.marked - then.marked
    drops = _difference(then.drops, now.drops)
    delays = _difference(then.delays, now.delays)
    if drops is None or delays is None or min(sent_packets, sent_bytes, dropped_bytes, marked) < 0:
        return None
    dropped = sum(drops.values())
    return Change(
        seconds,
        sent_packets + dropped,
        sent_bytes + dropped_bytes,
        sent_packets,
        sent_bytes,
        drops,
        _NO_COLOURS,
        marked,
        delays,
    )


def _of_rule(
    then: PolicyCount | StreamCount, now: PolicyCount | StreamCount, seconds: float, delays: Mapping[int, int]
) -> Change | None:
    """Give what happened to a policy or stream; None where a counter went back."""
    drops = _difference(then.drops, now.drops)
    colours = _coloured(then.colours, now.colours)
    dropped_bytes = now.dropped_bytes - then.dropped_bytes
    if drops is None or colours is None or dropped_bytes < 0:
        return None
    packets = octets = 0
    for coloured in colours.values():
        packets += coloured[0]
        octets += coloured[1]
    # What is pushed out of a queue may have come an interval before.
    left = max(0, packets - sum(drops.values()))
    return Change(
        seconds, packets, octets, left, max(0, octets - dropped_bytes) if left else 0, drops, colours, 0, delays
    )


def _difference(then: Mapping[Key, int], now: Mapping[Key, int]) -> Mapping[Key, int] | None:
    """Give what grew, by how much; None where something shrank."""
    if then is now or then == now:
        return {}
    result = {}
    for key, count in now.items():
        grown = count - then.get(key, 0)
        if grown > 0:
            result[key] = grown
        elif grown < 0:
            return None
    return result if then.keys() <= now.keys() else None


def _coloured(
    then: Mapping[str, CounterValue], now: Mapping[str, CounterValue]
) -> Mapping[str, tuple[int, int]] | None:
    if then is now:
        return _NO_COLOURS
    result = {}
    for colour, value in now.items():
        was = then.get(colour)
        if was is None:
            grown = value.packets, value.bytes
        elif was is value:
            continue
        else:
            grown = value.packets - was.packets, value.bytes - was.bytes
        if grown[0] < 0 or grown[1] < 0:
            return None
        if grown != (0, 0):
            result[colour] = grown
    return result if then.keys() <= now.keys() else None


def _anew(after: Sample, subjects: list[Subject]) -> tuple[Event, ...]:
    """Tell once of all counters of a switch that went back together."""
    if not subjects:
        return ()
    words = ", ".join(words_of(each) for each in subjects[:_FEW])
    more = f" and {len(subjects) - _FEW} more" if len(subjects) > _FEW else ""
    return (Event(after.time_ns, after.switch, EventKind.COUNTERS_ANEW, f"counters began anew: {words}{more}"),)


def _links(before: Sample, after: Sample) -> tuple[Event, ...]:
    if before.ports is after.ports:
        return ()
    events = []
    for name, port in after.ports.items():
        was = before.ports.get(name)
        if was is not None and was is not port and was.up is not None and port.up is not None and was.up != port.up:
            kind, word = (EventKind.PORT_UP, "up") if port.up else (EventKind.PORT_DOWN, "down")
            events.append(Event(after.time_ns, after.switch, kind, f"port {name} is {word}"))
    return tuple(events)


def words_of(subject: Subject) -> str:
    """Name a subject in a sentence."""
    direction = f" ({subject.direction})" if subject.direction else ""
    return f"{subject.kind} '{subject.name}'{direction}"
