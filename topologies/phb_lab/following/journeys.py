"""The way of each followed packet, piece by piece.

Between two nodes there is a wire; within a host adapter a packet is from one port to the other; within a switch its
trace tells queue, transmit ring and line apart. A packet is known over a wire and within a switch exactly (by port and
time); within other nodes equal packets are taken in the order in which they came.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from phb.pipeline_names import DropReason
from phb_lab.description import Network, Node
from phb_lab.following.headers import describe


class Sighting(NamedTuple):
    """A followed packet at a port, as ``phb_switch.Network.followed`` gives it; the time in ns."""

    at: int
    node: str
    port: int
    way: str
    content: int
    length: int
    head: bytes


@dataclass(frozen=True)
class Piece:
    """A part of a packet's way, in ns; ``place`` is where, ``kind`` one of `KINDS`, ``note`` says why so long."""

    place: str
    kind: str
    from_ns: int
    to_ns: int
    note: str = ""

    @property
    def lasting_ns(self) -> int:
        """How long it took."""
        return self.to_ns - self.from_ns


# In the order of a way through a switch.
KINDS = ("wire", "adapter", "switch", "queue", "ring", "line")


@dataclass(frozen=True)
class Journey:
    """One packet's way.

    Attributes:
        number: from 1, in the order of sending.
        packet: in words.
        start_ns: when it left its host.
        pieces: without gaps, from there on.
        end: in words: where it arrived or what became of it.
        arrived: it is at its other host.
        traces: traces of switches that it passed.
    """

    number: int
    packet: str
    length: int
    start_ns: int
    pieces: tuple[Piece, ...]
    end: str
    arrived: bool
    traces: tuple[Mapping[str, Any], ...]

    @property
    def lasting_ns(self) -> int:
        """From its host to its end, as far as that is known."""
        return self.pieces[-1].to_ns - self.start_ns if self.pieces else 0


@dataclass(frozen=True)
class Journeys:
    """Followed packets, and how many were wanted, too, but not followed."""

    each: tuple[Journey, ...]
    left_out: int
    flow: str = ""


@dataclass
class _Way:
    """A journey that is being put together."""

    first: Sighting
    pieces: list[Piece] = field(default_factory=list)
    traces: list[Mapping[str, Any]] = field(default_factory=list)


class Matcher:
    """Puts journeys together from sightings and the traces of switches, by name."""

    def __init__(
        self, network: Network, sightings: Iterable[Sighting], traces: Mapping[str, Sequence[Mapping[str, Any]]]
    ) -> None:
        self._peers = {wire.a: wire.b for wire in network.wires} | {wire.b: wire.a for wire in network.wires}
        ends: tuple[Node, ...] = (*network.hosts, *network.stations, *network.sna_hosts)
        self._ends = {node.name for node in ends}
        self._adapters = {adapter.name for adapter in network.adapters}
        self._begun: list[Sighting] = []
        # What arrives where, and what leaves there, of one content, in order of time.
        self._arriving: dict[tuple[str, int, int], deque[Sighting]] = defaultdict(deque)
        self._leaving: dict[tuple[str, int], deque[Sighting]] = defaultdict(deque)
        for seen in sightings:
            if seen.way == "arrived":
                self._arriving[seen.node, seen.port, seen.content].append(seen)
            elif seen.node in self._ends:
                self._begun.append(seen)
            else:
                self._leaving[seen.node, seen.content].append(seen)
        self._traced: dict[tuple[str, int, int], list[Mapping[str, Any]]] = defaultdict(list)
        for switch, found in traces.items():
            for trace in found:
                if (arrival := arrival_of(switch, trace)) is not None:
                    self._traced[arrival].append(trace)

    def journeys(self) -> Iterator[Journey]:
        """Give each packet's journey, in the order of sending."""
        for number, first in enumerate(self._begun, 1):
            way = _Way(first)
            end, arrived = self._follow(way)
            yield Journey(
                number=number,
                packet=describe(first.head),
                length=first.length,
                start_ns=first.at,
                pieces=tuple(way.pieces),
                end=end,
                arrived=arrived,
                traces=tuple(way.traces),
            )

    def _follow(self, way: _Way) -> tuple[str, bool]:
        left = way.first
        while True:
            peer = self._peers.get((left.node, left.port))
            if peer is None:
                return f"sent by {left.node} on port {left.port}, which has no wire", False
            if left.way == "lost":
                return f"lost on the wire from {left.node} to {peer[0]}", False
            arriving = self._arriving[*peer, left.content]
            if not arriving:
                return f"on the wire from {left.node} to {peer[0]} at the end", False
            came = arriving.popleft()
            way.pieces.append(Piece(f"wire {left.node} - {peer[0]}", "wire", left.at, came.at))
            if came.node in self._ends:
                return f"at {came.node}", True
            trace = self._trace(came)
            if trace is not None:
                way.traces.append(trace)
            onward = self._onward(came, trace)
            if onward is None:
                end, pieces = _inside(came, trace, self._toward)
                way.pieces += pieces
                return end, False
            way.pieces += self._between(came, onward, trace)
            left = onward

    def _trace(self, came: Sighting) -> Mapping[str, Any] | None:
        found = self._traced.get((came.node, came.port, came.at), [])
        for place, trace in enumerate(found):
            arrived = _step(trace, "arrived")
            if arrived and came.head.hex().startswith(arrived["arrived"].get("frame", "")[: 2 * len(came.head)]):
                return found.pop(place)
        return None

    def _onward(self, came: Sighting, trace: Mapping[str, Any] | None) -> Sighting | None:
        leaving = self._leaving[came.node, came.content]
        if trace is None:
            while leaving and leaving[0].at < came.at:
                leaving.popleft()
            return leaving.popleft() if leaving else None
        departed = _step(trace, "departed")
        if departed is None:
            return None
        where = (departed["departed"].get("port", 0), departed.get("time_ns", 0))
        for place, seen in enumerate(leaving):
            if (seen.port, seen.at) == where:
                del leaving[place]
                return seen
        return None

    def _between(self, came: Sighting, left: Sighting, trace: Mapping[str, Any] | None) -> list[Piece]:
        if came.node in self._adapters:
            return [Piece(f"adapter {came.node}", "adapter", came.at, left.at)]
        pieces = [] if trace is None else _pieces(trace, self._toward(came.node, left.port), left.at)
        if not pieces:
            return [Piece(f"switch {came.node}", "switch", came.at, left.at)]
        if pieces[0].from_ns > came.at:
            pieces.insert(0, Piece(f"switch {came.node}", "switch", came.at, pieces[0].from_ns))
        return pieces

    def _toward(self, node: str, port: int) -> str:
        peer = self._peers.get((node, port))
        return f"{node} > {peer[0]}" if peer else f"{node} port {port}"


def arrival_of(switch: str, trace: Mapping[str, Any]) -> tuple[str, int, int] | None:
    """Give switch, port and time (ns) of a trace's arrival; None of a copy's, which didn't arrive."""
    arrived = _step(trace, "arrived")
    return None if arrived is None else (switch, arrived["arrived"].get("port", 0), arrived.get("time_ns", 0))


def _step(trace: Mapping[str, Any], kind: str) -> Mapping[str, Any] | None:
    """The last step of a kind."""
    return next((step for step in reversed(trace.get("steps", ())) if kind in step), None)


def _pieces(trace: Mapping[str, Any], toward: str, left_ns: int) -> list[Piece]:
    """Queue, transmit ring and line of a switch, as its trace has them; a packet that passes at once waits nowhere."""
    enqueued, dequeued, sending = (_step(trace, kind) for kind in ("enqueued", "dequeued", "sending"))
    pieces = []
    at = enqueued.get("time_ns", 0) if enqueued else None
    if at is not None and dequeued is not None:
        pieces.append(Piece(f"queue {toward}", "queue", at, dequeued.get("time_ns", 0), _behind(dequeued["dequeued"])))
        at = dequeued.get("time_ns", 0)
    if sending is not None:
        begins = sending.get("time_ns", 0)
        if at is not None and begins > at:
            pieces.append(Piece(f"transmit ring {toward}", "ring", at, begins))
        pieces.append(
            Piece(f"line {toward}", "line", begins, left_ns, f"{sending['sending'].get('length', 0):,} bytes")
        )
    return pieces


def _behind(dequeued: Mapping[str, Any]) -> str:
    served = dequeued.get("served", 0)
    if not served:
        return ""
    packets = f"{served:,} packet{'' if served == 1 else 's'}"
    return f"behind {packets}, {dequeued.get('served_bytes', 0):,} bytes"


def _reason(trace: Mapping[str, Any], dropped: Mapping[str, Any]) -> str:
    """Why it was dropped: as the program counts it, where the switch only knows that it was in ingress."""
    counted = (step["counter"] for step in reversed(trace["steps"]) if "counter" in step)
    number = next((counter.get("index", 0) for counter in counted if counter.get("name") == "PhbIngress.drops"), None)
    if number is None or number not in set(DropReason):
        return str(dropped.get("reason", ""))
    return DropReason(number).name.lower()


def _inside(came: Sighting, trace: Mapping[str, Any] | None, toward: Any) -> tuple[str, list[Piece]]:
    """What became of a packet that was not seen to leave a node, and where it was until then."""
    if trace is None:
        return f"not seen to leave {came.node}: dropped, held, or changed there", []
    dropped = _step(trace, "dropped")
    if dropped is None:
        return f"not seen to leave {came.node}: sent to a controller, or changed there", []
    reason, at = _reason(trace, dropped["dropped"]), dropped.get("time_ns", came.at)
    port = dropped["dropped"].get("port")
    where = f"switch {came.node}" if port is None else f"queue {toward(came.node, port)}"
    piece = Piece(where, "switch" if port is None else "queue", came.at, at)
    return f"dropped by {came.node}: {reason}", [piece] if at > came.at else []
