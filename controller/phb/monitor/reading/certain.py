"""What a sample says for certain, though entries were written while it was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from phb.monitor.reading.subjects import Numbers, Subjects
from phb.monitor.sample import Sample

Key = TypeVar("Key")


def certain(sample: Sample, before: Subjects, after: Subjects) -> Sample:
    """Give a sample without those that had other numbers before it than after it: their cells may be another's."""
    moved = {name for _, name in before.queues.items() ^ after.queues.items()}
    classes = {
        name: replace(each, queued=None) if name in moved else each
        for name, each in sample.classes.items()
        if _same(name, before.classes, after.classes)
    }
    policies = {key: each for key, each in sample.policies.items() if _same(key, before.policies, after.policies)}
    streams = {
        name: each
        for name, each in sample.streams.items()
        if _same(name, before.streams, after.streams)
        and before.members.get(name) == after.members.get(name)
        and policies.keys() >= {*before.members.get(name, ())}
    }
    ports = sample.ports if before.ports == after.ports else {}
    queues = sample.queues if before.at_ports == after.at_ports else {}
    return replace(sample, classes=classes, policies=policies, streams=streams, ports=ports, queues=queues)


def _same(key: Key, before: Mapping[Key, Numbers], after: Mapping[Key, Numbers]) -> bool:
    then, now = before.get(key), after.get(key)
    return then is not None and now is not None and then.numbers == now.numbers
