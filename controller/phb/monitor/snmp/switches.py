"""What the agent knows of one switch: its newest observation, and a numbered row for each subject that it counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Final
from zlib import crc32

from phb.device.session import CounterValue
from phb.model import PolicySet
from phb.monitor.changes import subject
from phb.monitor.observation import Change, Judgement, Observation, Subject, SubjectKind
from phb.monitor.sample import ClassCount, PolicyCount, Sample, StreamCount
from phb.monitor.snmp.configured import Configured

Counted = ClassCount | PolicyCount | StreamCount

_HIGHEST: Final = (1 << 31) - 1
MOST_GONE: Final = 10_000
"""Rows of one switch that are kept for a last poll after their rule went; the oldest go first."""


def number_of(words: str, taken: Collection[int]) -> int:
    """Give a number from 1 to 2^31 - 1 that the same words get again after a restart, unless two words share one."""
    number = crc32(words.encode()) & _HIGHEST
    while number in taken or number == 0:
        number = (number + 1) & _HIGHEST
    return number


@dataclass(slots=True, eq=False)
class Entry:
    """One subject of one switch.

    Attributes:
        number: Its row's.
        last: As counted when it was last there, once it is gone.
        activated_ns: When it was first seen, or its counters began anew.
        used_ns: When traffic of it last came; 0 is never.
        gone_ns: When it was first missing; None while it is there.
    """

    switch: KnownSwitch
    subject: Subject
    number: int
    last: Counted
    activated_ns: int
    used_ns: int = 0
    gone_ns: int | None = None

    @property
    def counted(self) -> Counted:
        """As read last."""
        sample = self.switch.sample
        found = None if sample is None else _counted(sample, self.subject)
        return found or self.last

    @property
    def change(self) -> Change | None:
        """What happened since the sample before; None where that isn't known."""
        return self.switch.changes.get(self.subject)

    @property
    def words(self) -> str:
        """What it is called: ``rule telnet``, ``rule telnet outbound``, ``class interactive``, ``action limited``."""
        return words_of(self.subject)

    @property
    def came(self) -> CounterValue:
        """What came, by frames; of a class what left or was dropped."""
        counted = self.counted
        if isinstance(counted, ClassCount):
            sent = counted.sent
            return CounterValue(sent.packets + self.dropped, sent.bytes + counted.dropped_bytes)
        colours = counted.colours.values()
        return CounterValue(sum(each.packets for each in colours), sum(each.bytes for each in colours))

    @property
    def dropped(self) -> int:
        """Packets that were dropped."""
        return sum(self.counted.drops.values())

    @property
    def sent(self) -> CounterValue:
        """What left; of rules and actions what came without what was dropped."""
        if isinstance(self.counted, ClassCount):
            return self.counted.sent
        came = self.came
        return CounterValue(max(0, came.packets - self.dropped), max(0, came.bytes - self.counted.dropped_bytes))

    def of_colour(self, colour: str) -> CounterValue:
        """What came of one colour; of a class nothing."""
        none = CounterValue(0, 0)
        return none if isinstance(self.counted, ClassCount) else self.counted.colours.get(colour, none)

    @property
    def green_bytes(self) -> int | None:
        """What came within its profile; None of a class, which has no meter."""
        return None if isinstance(self.counted, ClassCount) else self.of_colour("green").bytes

    @property
    def connection_limit(self) -> int | None:
        """TCP connections that a rule may have; 0 is any number, None is not known."""
        if self.switch.policy is None or self.subject.kind is not SubjectKind.POLICY:
            return None
        action = self.switch.configured.rules.get(self.subject.name)
        return (action and action.max_connections) or 0

    @property
    def connections(self) -> int | None:
        """Established TCP connections of a rule that has a limit; None of others."""
        counted = self.counted
        return counted.connections if isinstance(counted, PolicyCount) and self.connection_limit else None

    def drops(self, *reasons: str) -> int:
        """Packets dropped for any of these reasons."""
        drops = self.counted.drops
        return sum(drops.get(reason, 0) for reason in reasons)


_KINDS: Final = {SubjectKind.CLASS: "class", SubjectKind.POLICY: "rule", SubjectKind.STREAM: "action"}


def words_of(subject: Subject) -> str:
    """Name a subject; traffic that no rule took is ``rule (none)``."""
    direction = "" if subject.direction in ("", "any") else f" {subject.direction}"
    return f"{_KINDS[subject.kind]} {subject.name or '(none)'}{direction}"


def system_address(address: str) -> bytes:
    """Give the 4 or 16 bytes of the host in ``HOST:PORT``; none where it is a name or a path."""
    host = address.rpartition(":")[0].strip("[]")
    try:
        return ip_address(host).packed
    except ValueError:
        return b""


@dataclass(slots=True)
class KnownSwitch:
    """One switch.

    Attributes:
        address: Its system address in SLAPM's indices of the default context; empty where it has none of its own.
        entries: By subject, also those that are gone.
        structure: Another number means other rows.
        first_ns: When it was first observed.
        began_ns: When its counters began, as far as we know.
        changes: What happened since the sample before; empty after a gap.
        judgements: Those that `bounds` are of.
        policy: As its files say; None where nobody knows it.
        configured: What it configures.
        bounds: What it wants, by subject and bit of SLAPM's control: kbit/s or ms.
    """

    name: str
    address: bytes
    first_ns: int
    began_ns: int
    now_ns: int
    entries: dict[Subject, Entry] = field(default_factory=dict)
    structure: int = 0
    sample: Sample | None = None
    changes: Mapping[Subject, Change] = field(default_factory=dict)
    bounds: Mapping[tuple[Subject, int], float] = field(default_factory=dict)
    policy: PolicySet | None = None
    configured: Configured = field(default_factory=Configured)
    judgements: tuple[Judgement, ...] = ()
    _seen: tuple[int, int, int] | None = None
    _gone: int = 0

    def take(self, observation: Observation, purge_s: int) -> list[Entry]:
        """Take an observation; give the entries that are gone for good with it."""
        now, sample = observation.time_ns, observation.sample
        self.now_ns, self.changes = now, observation.changes
        if (sample is None) is not (self.sample is None):
            self.structure += 1
        if observation.policy is not None and observation.policy is not self.policy:
            self.policy, self.configured = observation.policy, Configured.of(observation.policy)
            self.structure += 1
        before, self.sample = self.sample, sample
        if sample is not None:
            # New names come with written entries; the counts say it where a reader learned of names later.
            seen = sample.instance, sample.generation, _size(sample)
            if before is None or seen != self._seen:
                self._compare(sample, before, self._seen is not None and seen[0] != self._seen[0])
                self._seen = seen
            for subject, change in observation.changes.items():
                if change.came_packets and (entry := self.entries.get(subject)) is not None:
                    entry.used_ns = now
        return self._purge(purge_s) if self._gone else []

    def present(self) -> Iterable[Entry]:
        """Give the entries that the switch has."""
        return (entry for entry in self.entries.values() if entry.gone_ns is None)

    def _compare(self, sample: Sample, before: Sample | None, anew: bool) -> None:
        self.structure += 1
        now = self.now_ns
        found = dict(_subjects(sample))
        taken = {entry.number for entry in self.entries.values()}
        if anew:
            self.began_ns = now
        for each, counted in found.items():
            entry = self.entries.get(each)
            if entry is None:
                number = number_of(words_of(each), taken)
                taken.add(number)
                self.entries[each] = Entry(self, each, number, counted, now)
                continue
            if anew or entry.gone_ns is not None or entry.last.number != counted.number:
                entry.activated_ns, entry.gone_ns = now, None
            entry.last = counted
        for each, entry in self.entries.items():
            if entry.gone_ns is None and each not in found:
                entry.gone_ns = now
                entry.last = (before and _counted(before, each)) or entry.last
        self._gone = sum(entry.gone_ns is not None for entry in self.entries.values())

    def _purge(self, purge_s: int) -> list[Entry]:
        gone = [entry for entry in self.entries.values() if entry.gone_ns is not None]
        gone.sort(key=lambda entry: entry.gone_ns or 0)
        latest = self.now_ns - purge_s * 10**9
        purged = [
            entry for place, entry in enumerate(gone) if (entry.gone_ns or 0) <= latest or len(gone) - place > MOST_GONE
        ]
        for entry in purged:
            del self.entries[entry.subject]
        self._gone -= len(purged)
        self.structure += bool(purged)
        return purged


def _counted(sample: Sample, subject: Subject) -> Counted | None:
    if subject.kind is SubjectKind.CLASS:
        return sample.classes.get(subject.name)
    if subject.kind is SubjectKind.STREAM:
        return sample.streams.get(subject.name)
    return sample.policies.get((subject.name, subject.direction))


def _subjects(sample: Sample) -> Iterable[tuple[Subject, Counted]]:
    for name, counted in sample.classes.items():
        yield subject(SubjectKind.CLASS, name), counted
    for (rule, direction), policy in sample.policies.items():
        yield subject(SubjectKind.POLICY, rule, direction), policy
    for name, stream in sample.streams.items():
        yield subject(SubjectKind.STREAM, name), stream


def _size(sample: Sample) -> int:
    return len(sample.classes) + len(sample.policies) + len(sample.streams) + len(sample.ports)
