"""A drawing of a network: nodes in columns by their distance from the first host, wires between them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from phb_lab.description import Network
from phb_lab.study import Run

ROW_PX = 64
_TOP_PX = 30


@dataclass(frozen=True)
class Node:
    """A node at x percent and y pixels."""

    name: str
    kind: str
    x: float
    y: int


@dataclass(frozen=True)
class Line:
    """A wire between two nodes, and the rate of its slower end where that is limited."""

    a: Node
    b: Node
    label: str
    label_x: float
    label_y: int


@dataclass(frozen=True)
class Drawing:
    """One topology and the tests that have it."""

    tests: tuple[str, ...]
    nodes: tuple[Node, ...]
    lines: tuple[Line, ...]
    height: int


def drawings(runs: Sequence[Run[Any]]) -> list[Drawing]:
    """A drawing per different topology of these runs."""
    groups: dict[object, list[Run[Any]]] = {}
    for run in runs:
        network = run.network
        shape = (tuple((switch.name, switch.ports) for switch in network.switches), network.wires)
        groups.setdefault(shape, []).append(run)
    return [_drawing([run.test.name for run in found], found[0].network) for found in groups.values()]


def _drawing(tests: Sequence[str], network: Network) -> Drawing:
    kinds = {host.name: "host" for host in network.hosts}
    kinds |= {switch.name: "switch" for switch in network.switches}
    kinds |= {adapter.name: adapter.kind for adapter in network.adapters}
    columns = _columns(network)
    most = max(len(column) for column in columns)
    height = 2 * _TOP_PX + (most - 1) * ROW_PX
    nodes = {}
    for number, column in enumerate(columns):
        for row, name in enumerate(column):
            y = _TOP_PX + round((row + (most - len(column)) / 2) * ROW_PX)
            nodes[name] = Node(name, kinds.get(name, ""), round(100 * (number + 0.5) / len(columns), 2), y)
    rates = {
        (switch.name, port.number): port.rate_bps
        for switch in network.switches
        for port in switch.ports
        if port.rate_bps is not None
    }
    ends = Counter(name for wire in network.wires for name, _ in (wire.a, wire.b))
    lines = []
    for wire in network.wires:
        known = [rates[end] for end in (wire.a, wire.b) if end in rates]
        label = rate(min(known)) if known else ""
        lines.append(_line(nodes[wire.a[0]], nodes[wire.b[0]], label, ends))
    return Drawing(tuple(tests), tuple(nodes.values()), tuple(lines), height)


def _line(a: Node, b: Node, label: str, ends: Counter[str]) -> Line:
    # Where many wires meet, labels in the middle would lie on each other: they move towards the other end.
    share = 0.5 if ends[a.name] == ends[b.name] else 0.7 if ends[a.name] > ends[b.name] else 0.3
    share = share if a.y != b.y else 0.5
    return Line(a, b, label, round(a.x + share * (b.x - a.x), 2), round(a.y + share * (b.y - a.y)) - 7)


def _columns(network: Network) -> list[list[str]]:
    """Names of nodes by their distance from the first host, in wires."""
    neighbours: dict[str, list[str]] = {}
    for wire in network.wires:
        neighbours.setdefault(wire.a[0], []).append(wire.b[0])
        neighbours.setdefault(wire.b[0], []).append(wire.a[0])
    first = network.hosts[0].name if network.hosts else next(iter(neighbours))
    columns = [[first]]
    seen = {first}
    while columns[-1]:
        following = [name for node in columns[-1] for name in neighbours.get(node, [])]
        columns.append([name for name in dict.fromkeys(following) if name not in seen])
        seen |= set(columns[-1])
    columns.pop()
    apart = [name for name in neighbours if name not in seen]
    return [*columns, apart] if apart else columns


def rate(bits_per_second: int) -> str:
    """A rate with its unit."""
    for size, unit in ((1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1000, "kbit/s")):
        if bits_per_second >= size:
            return f"{bits_per_second / size:g} {unit}"
    return f"{bits_per_second} bit/s"
