"""Whether ports serve queues, keep buffers and give 802.1p priorities as the policy says: by value, port by port."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Final, NamedTuple

from phb.behaviour.behaviour import Behaviour, Service
from phb.origin import UNKNOWN, Origin
from phb.pipeline_names import COLOURS
from phb.proving.agreement import shown

_OCTETS: Final = 256
_LIMITS: Final = ("hold queue", "queue limit")


class Served(NamedTuple):
    """A thing of a port that the policy says and the tables do otherwise."""

    what: str
    says: str
    does: str
    said_at: Origin = UNKNOWN
    done_at: Origin = UNKNOWN


def served_differently(said: Behaviour, does: Behaviour, ports: Iterable[int], most: int | None) -> Iterator[Served]:
    """Give what is different at some ports; `does` has the policy's keys.

    Args:
        said: Of the policy.
        does: Of the tables.
        ports: To look at.
        most: Packets that a queue of the switch itself holds: where the policy has no limit, the tables may have one of
            at most that. None is no limit.
    """
    for port in ports:
        yield from _services(said, does, port, most)
        yield from _buffers(said, does, port)
        yield from _priorities(said, does, port)


def _services(said: Behaviour, does: Behaviour, port: int, most: int | None) -> Iterator[Served]:
    # Which classes wait together must be one to one.
    pairs: dict[Hashable, Hashable] = {}
    for key, name in said.class_names.items():
        says, other = said.service(port, key), does.service(port, key)
        where = f"service of class {name} at port {port}"
        ours, theirs = dict(says.facts), dict(other.facts)
        for word in _LIMITS:
            limit = theirs.get(word)
            if most is not None and word not in ours and isinstance(limit, int) and limit <= most:
                del theirs[word]
        if ours != theirs:
            yield Served(where, shown(tuple(ours.items())), shown(tuple(theirs.items())), says.origin, other.origin)
        yield from _early(where, says, other)
        pairs.setdefault(says.queue, other.queue)
        if pairs[says.queue] != other.queue or len(set(pairs.values())) < len(pairs):
            yield Served(f"queue of class {name} at port {port}", "its own", "another's", says.origin, other.origin)


def _early(what: str, says: Service, does: Service) -> Iterator[Served]:
    if says.early == does.early:
        return
    for colour in range(max(len(says.early), len(does.early))):
        for tos in range(_OCTETS):
            one, other = (each.early[colour][tos] if each.early else "no early detection" for each in (says, does))
            if one != other:
                where = f"{what}, early detection of {COLOURS[colour]} packets of ToS {tos:#04x}"
                yield Served(where, shown(one), shown(other), says.origin, does.origin)
                return


def _buffers(said: Behaviour, does: Behaviour, port: int) -> Iterator[Served]:
    streams = {stream for behaviour in (said, does) for of, stream in behaviour.buffers if of == port}
    for stream in sorted(streams, key=str):
        says, other = said.buffers.get((port, stream)), does.buffers.get((port, stream))
        if says != other:
            name = said.stream_names.get(stream, "all others" if stream is None else stream)
            yield Served(f"buffer of {name} at port {port}", shown(says), shown(other))


def _priorities(said: Behaviour, does: Behaviour, port: int) -> Iterator[Served]:
    none: tuple[int | None, ...] = (None,) * _OCTETS
    says, other = said.user_priorities.get(port, none), does.user_priorities.get(port, none)
    if says == other:
        return
    for tos in range(_OCTETS):
        if says[tos] != other[tos]:
            what = f"802.1p priority of ToS {tos:#04x} at port {port}"
            yield Served(what, shown(says[tos]), shown(other[tos]))
            return
