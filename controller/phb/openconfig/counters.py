"""Which cells of the program's counters are counters of OpenConfig."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from phb.device.artifact import Artifact
from phb.formats.openconfig.counting import Counting, Policed, escaped
from phb.intent import Policy, QueueSlots, Stream
from phb.model import DEFAULT_CLASS

MOST_CELLS = 60_000
"""Of all counters together; a switch takes 65,536."""

_SENT = ("conversation_transmitted",)
# What the queue dropped for want of room or early; of what joined it, what the switch itself had no room for.
_DROPPED = ("conversation_tail_drops", "conversation_discards", "conversation_early_drops", "conversation_refused")
_MARKED = ("conversation_marked",)
_QUEUE = (("transmit", _SENT), ("dropped", _DROPPED), ("ecn-marked", _MARKED))
_COLOURS = 4
_GREEN, _YELLOW, _RED = range(3)


def counters(
    artifact: Artifact,
    interfaces: Mapping[int, str],
    queues: Sequence[QueueSlots],
    policies: Sequence[Policy] = (),
    streams: Sequence[Stream] = (),
    said: Counting = Counting(),  # noqa: B008
) -> dict[str, str]:
    """Give the cells of each counter, by its path.

    `interfaces` are names by port number. Of queues of many conversations those are left out for which there are too
    many cells. Numbers are those that the switch has.
    """
    found: dict[str, str] = {}
    cells = 0
    for queue in sorted(queues, key=lambda queue: queue.count):
        cells += 2 * queue.count * sum(len(names) for _, names in _QUEUE)
        if cells > MOST_CELLS:
            break
        if queue.port in interfaces:
            found |= _queue(artifact, interfaces[queue.port], queue)
    for policy in policies:
        if policy.rule in said.matched:
            first = policy.number * _COLOURS
            taken = _cells(artifact, ("policy_traffic",), first, first + _COLOURS - 1)
            found |= {f"{said.matched[policy.rule]}/matched-{what}": taken for what in ("packets", "octets")}
    for stream in streams:
        if stream.action in said.policed:
            found |= dict(_policer(artifact, stream.number, said.policed[stream.action]))
    return found


def _queue(artifact: Artifact, interface: str, queue: QueueSlots) -> dict[str, str]:
    name = queue.traffic_class or DEFAULT_CLASS
    state = (
        f"/qos/interfaces/interface[interface-id={escaped(interface)}]/output/queues/queue[name={escaped(name)}]/state"
    )
    last = queue.first + queue.count - 1
    return {
        f"{state}/{what}-{unit}": _cells(artifact, names, queue.first, last)
        for what, names in _QUEUE
        for unit in ("pkts", "octets")
    }


def _policer(artifact: Artifact, stream: int, policed: Policed) -> Iterator[tuple[str, str]]:
    colours = {"conforming": _GREEN, "exceeding": _YELLOW if policed.three_colours else _RED}
    if policed.three_colours:
        colours["violating"] = _RED
    for what, colour in colours.items():
        index = stream * _COLOURS + colour
        for unit in ("pkts", "octets"):
            yield f"{policed.path}/{what}-{unit}", _cells(artifact, ("stream_traffic",), index, index)


def _cells(artifact: Artifact, names: Sequence[str], first: int, last: int) -> str:
    index = f"[{first}]" if first == last else f"[{first}..{last}]"
    return ",".join(artifact.counter(name).name + index for name in names)
