"""Whether an example shows a difference: the model of the pipeline that `phb explain` asks is asked on both sides.

It reads compiled table entries, so it shares nothing with what found the difference. One packet shows whether it is
dropped, where it goes and how it is marked. What only many packets would show, such as a burst or a weight, is compared
by the entries that the packet meets: they have to differ.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import product
from typing import Final, TypeAlias, cast

from phb.compiler import compile_policy
from phb.device.artifact import Artifact
from phb.explain import Arrival, Explanation, ingress_port
from phb.explain.explanation import explanation
from phb.explain.packet import TracedPacket
from phb.explain.pipeline import Pipeline
from phb.explain.promises import Promises
from phb.explain.stages.conversation import CLASS_QUEUE, PORT_SCHEDULER
from phb.explain.tables import Tables
from phb.explain.words import tos_words
from phb.intent import Entry, Exact, NodeIntent
from phb.model import PolicySet
from phb.names import Names
from phb.targets import DEFAULT_TARGET

Seen: TypeAlias = Mapping[str, Hashable]
"""By its name, something that a packet shows or meets."""

_HOOKS: Final = (("", "input_entry"), ("output_", "output_entry"))
_METER: Final = ".stream_meter"
_COLOURS: Final = tuple(product(range(3), range(3)))
"""That the meters of both hooks may give."""
_ENOUGH: Final = 1 << 31
"""Bytes of a bucket that no example empties."""
_ALSO: Final = "with each colour"
"""Of what is seen: the same with each pair of colours."""
_KEPT: Final = 4
"""Moments for which a compiled policy is kept: examples go from one to another and back."""
_ALLOCATED: Final = frozenset({"slot", "base", "profile", "account", "pool", "traffic_class", "stream", "policy"})
"""Parameters by which a compiler numbers what it has: they differ also where nothing else does."""


class Explaining:
    """One policy, ready to explain packets one at a time, each as if no other had come before."""

    def __init__(self, policy: PolicySet, artifact: Artifact, target: str = DEFAULT_TARGET) -> None:
        self._policy, self._artifact, self._target = policy, artifact, target
        self._compiled = lru_cache(_KEPT)(self._compile)
        self._time_ns = 0

    def compile(self, at: datetime) -> NodeIntent:
        """Compile the policy as it counts at a moment.

        Raises:
            InputError: The compiler refuses it.
        """
        return self._compiled(at)[0]

    def _compile(self, at: datetime) -> tuple[NodeIntent, Pipeline, Pipeline | None, Shares]:
        intent = compile_policy(self._policy, self._artifact, at=at, target=self._target)
        names = Names.of(intent, self._policy)
        metered = any(entry.table.endswith(_METER) for entry in intent.entries)
        return intent, Pipeline(intent, names), Pipeline(intent, names) if metered else None, _shares(intent)

    def explain(self, arrival: Arrival, at: datetime) -> Explanation:
        """Explain a packet that names its port, as `phb explain` does."""
        pipeline, port = self._compiled(at)[1], ingress_port(self._policy, arrival, None)
        packet = self._sent(pipeline, arrival, port)
        return explanation(1, packet, pipeline.names, pipeline.tables, self._promises, why=False)

    @cached_property
    def _promises(self) -> Promises:
        return Promises(self._policy)

    def _sent(self, pipeline: Pipeline, arrival: Arrival, port: int) -> TracedPacket:
        # Buckets are full and queues empty again by then, whatever came before.
        self._time_ns += 10**15
        return pipeline.process(self._time_ns, port, arrival.frame, arrival.length)

    def see(self, arrival: Arrival, port: int, at: datetime) -> Seen:
        """Send a packet through the pipeline, and give what it shows and which entries it meets."""
        intent, pipeline, coloured_pipeline, shares = self._compiled(at)
        tables = pipeline.tables

        def meets(table: str, **key: int) -> Entry | None:
            return tables.lookup(f"PhbIngress.{table}", key)

        def seen(pipeline: Pipeline) -> dict[str, Hashable]:
            return dict(_seen(self._sent(pipeline, arrival, port), intent, pipeline, shares, meets))

        once = seen(pipeline)
        coloured = [once] * len(_COLOURS)
        if coloured_pipeline is not None:
            coloured = []
            for colours in _COLOURS:
                coloured_pipeline.tables = _Coloured(tables, colours)
                coloured.append(seen(coloured_pipeline))
        return once | {_ALSO: tuple(tuple(each.items()) for each in coloured)}


class _Coloured(Tables):
    """Entries, but each meter gives the colour that it is told, as if many packets had come before."""

    def __init__(self, entries: Tables, colours: tuple[int, int]) -> None:
        vars(self).update(vars(entries))
        self._colours = colours

    def lookup(self, table: str, key: Mapping[str, int], bits: int = 0) -> Entry | None:
        found = super().lookup(table, key, bits)
        if found is None or not table.endswith(_METER):
            return found
        bursts = ((_ENOUGH, 0), (0, _ENOUGH), (0, 0))[self._colours["output" in table]]
        given = {"rate": 1, "full_after": 0, "committed_burst": bursts[0], "excess_burst": bursts[1]}
        counted = {"datagram": 0, "overhead": 0, "colour_aware": 0}
        return replace(found, action="single_rate", parameters=given | counted)


Meets: TypeAlias = Callable[..., Entry | None]
Shares: TypeAlias = Mapping[int, Hashable]
"""What the queues of a profile have, by the profile's number."""


def _seen(
    packet: TracedPacket, intent: NodeIntent, pipeline: Pipeline, shares: Shares, meets: Meets
) -> Iterator[tuple[str, Hashable]]:
    names, port = pipeline.names, packet.egress_port
    dropped = packet.is_dropped()
    stage = packet.steps[-1].stage if packet.steps else ""
    reason = packet.drop_reason.name.lower().replace("_", " ")
    where = "the controller" if packet.to_controller else names.port(port) if port is not None else "nowhere"
    yield "outcome", f"dropped: {reason} ({stage})" if dropped else f"to {where}"
    yield "addresses", bytes(packet.headers.frame[:12])
    yield "ToS", tos_words(packet.flow.tos)
    yield "802.1p", packet.flow.pcp if packet.headers.vlan is not None else None
    numbers = {}
    for prefix, name in _HOOKS:
        entry: Entry | None = getattr(packet, name)
        policy = entry.parameters["policy"] if entry is not None else 0
        stream = entry.parameters["stream"] if entry is not None else 0
        meter = meets(f"{prefix}police.stream_meter", stream=stream) if stream else None
        numbers[prefix] = stream if meter is not None else 0
        yield f"{prefix}meter", _plain(meter)
        colours = [meets(f"{prefix}police.colour_action", policy=policy, colour=colour) for colour in range(3)]
        yield f"{prefix}colours", tuple(map(_plain, colours)) if meter is not None else None
        yield f"{prefix}marks", _plain(meets(f"{prefix}mark.remark", policy=policy))
        yield f"{prefix}clamp", _plain(meets(f"{prefix}mark.window_clamp", policy=policy))
    limit = meets("admit.connection_limit", policy=packet.policy)
    yield "limit", _plain(limit)
    yield "number of meter", numbers[""] or numbers["output_"]
    yield "number of second meter", numbers["output_"]
    yield "number of limit", limit.parameters["policy"] if limit is not None else 0
    yield "number of buffer", packet.stream
    if port is not None:
        yield from _queue(packet, port, intent, shares, meets)


def _shares(intent: NodeIntent) -> dict[int, tuple[Hashable, ...]]:
    """Give the levels and weights of all class queues of each profile: a share is one of the whole."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for entry in intent.entries:
        profile = entry.match.get("profile")
        if entry.table == CLASS_QUEUE and isinstance(profile, Exact):
            found[profile.value].append((entry.parameters["level"], entry.parameters["weight"]))
    return {profile: tuple(sorted(queues)) for profile, queues in found.items()}


def _queue(
    packet: TracedPacket, port: int, intent: NodeIntent, shares: Shares, meets: Meets
) -> Iterator[tuple[str, Hashable]]:
    yield (
        "port",
        tuple((each.rate_bps, each.burst_bytes, each.overhead_bytes) for each in intent.shapers if each.port == port),
    )
    scheduler = meets(PORT_SCHEDULER.removeprefix("PhbIngress."), egress_port=port)
    profile = scheduler.parameters["profile"] if scheduler is not None else 0
    traffic_class = packet.traffic_class
    queue = meets(CLASS_QUEUE.removeprefix("PhbIngress."), profile=profile, traffic_class=traffic_class)
    last = queue.parameters["traffic_class"] if queue is not None else 0
    yield "queue", (_plain(scheduler), _plain(queue))
    yield (
        "number of queue",
        (
            (queue.parameters.get("slot"), queue.parameters.get("base"))
            if queue is not None and scheduler is not None and scheduler.action not in ("fifo", "flow_wfq")
            else None
        ),
    )
    yield "shares", shares.get(profile)
    yield "limits", _plain(meets("buffer.port_limit", profile=profile))
    yield "weights", tuple(_plain(meets("schedule.weight", profile=profile, precedence=each)) for each in range(8))
    yield "shaper", _plain(meets("schedule.shaper", profile=profile, traffic_class=last))
    yield (
        "early",
        tuple(
            _plain(meets("wred.thresholds", profile=profile, traffic_class=last, tos=packet.flow.tos, colour=colour))
            for colour in range(3)
        ),
    )
    account = meets("buffer.stream_buffer", profile=profile, stream=packet.stream)
    yield "buffer", (account is not None and "stream" in account.match, _plain(account))


def _plain(entry: Entry | None) -> Hashable:
    if entry is None:
        return None
    kept = ((name, value) for name, value in entry.parameters.items() if name not in _ALLOCATED)
    return entry.action, tuple(sorted(kept))


_SHOWN: Final[Mapping[str, tuple[str, ...]]] = {
    "permission": ("outcome",),
    "route": ("outcome", "addresses"),
    "ToS": ("ToS",),
    "802.1p priority": ("802.1p",),
}
"""What one packet shows, by what differs."""
_MET: Final[Mapping[str, tuple[str, ...]]] = {
    "meter": ("meter", "output_meter"),
    "second meter": ("output_meter",),
    "TCP connections": ("limit",),
    "TCP rate": ("clamp", "output_clamp"),
    "buffer": ("buffer", "limits"),
}
_MARKING: Final = ("colours", "output_colours", "marks", "output_marks", "meter", "output_meter")
_QUEUED: Final = ("port", "queue", "shares", "limits", "weights", "shaper", "early")


def shown(what: str, a: Seen, b: Seen) -> tuple[tuple[str, str] | None, bool]:
    """Tell how a packet shows a difference, in the words of both sides where it does by itself, and whether it does."""
    thing, _, colours = what.partition(" of ")
    direct = _SHOWN.get(thing, ())
    for name in direct:
        if a.get(name) != b.get(name):
            return (None if name == "addresses" else (str(a.get(name)), str(b.get(name)))), True
    if direct and not colours:
        return None, False
    marked = thing in _SHOWN or thing == "fate" or thing.startswith("colour")
    met = _MARKING if marked else _MET.get(thing.partition(":")[0], _QUEUED)
    # Packets of other colours than this one's may be queued otherwise because they are marked otherwise.
    met = (*direct, *met, *_MARKING) if colours else met
    pairs = [(a, b), *(zip(_coloured(a), _coloured(b), strict=True) if colours else ())]
    return None, any(one.get(name) != other.get(name) for one, other in pairs for name in met)


def _coloured(seen: Seen) -> Iterator[Seen]:
    """Give what is seen with each pair of colours."""
    return map(dict, cast("tuple[tuple[tuple[str, Hashable], ...], ...]", seen[_ALSO]))


def shared(what: str, a: tuple[Seen, Seen], b: tuple[Seen, Seen]) -> bool:
    """Tell whether two packets share something on one side only; each side has what both of them saw."""
    number = f"number of {what.removeprefix('shared ').replace('limit of connections', 'limit')}"
    sides = [one.get(number) == other.get(number) for one, other in (a, b)]
    if sides[0] != sides[1]:
        return True
    # What an earlier meter gives decides which one comes next.
    numbers = [[{each.get(number) for each in _coloured(packet)} - {0} for packet in side] for side in (a, b)]
    met = [one.isdisjoint(other) for one, other in numbers]
    return met[0] != met[1]
