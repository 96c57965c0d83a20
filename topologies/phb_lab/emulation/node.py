"""A node of virtual time by the clock: `python -m phb_lab.emulation.node DESCRIPTION`.

For what has no counterpart on real interfaces: a host adapter, SNA stations and their host, a wire with a delay or
losses. Its ports are the interfaces `ethN` of its namespace. It prints `ready`, reads the start of the run from
standard input, begins with it, and prints its counts when standard input ends.
"""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from phb_lab.description import Adapter, SnaHost, SnaStations, Wire, parameters_of
from phb_lab.emulation.clock import Span
from phb_switch import Network, Port, RealTime

READY = "ready"

# Ports 0 and 1 are the ends of a line.
LINE_ENDS = (0, 1)


@dataclass(frozen=True)
class NodeDescription:
    """Description of a node's process, which gets it as JSON.

    ``kind`` is as :meth:`phb_switch.Network.add` knows it; ``ports`` are those that have a wire.
    """

    name: str
    kind: str
    parameters: Mapping[str, Any]
    ports: Sequence[int]
    seed: int

    @classmethod
    def of(cls, node: Adapter | SnaStations | SnaHost, ports: Sequence[int], seed: int) -> Self:
        """Describe a node."""
        return cls(node.name, node.kind, dict(parameters_of(node)), ports, seed)

    @classmethod
    def of_wire(cls, name: str, wire: Wire, seed: int) -> Self:
        """Describe a wire with a delay or losses."""
        parameters = {"delay_ns": wire.delay_ns, "loss_per_million": wire.loss_per_million}
        return cls(name, "line", parameters, LINE_ENDS, seed)

    def as_json(self) -> str:
        """Give it as text for the command line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what :meth:`as_json` gave."""
        return cls(**json.loads(text))


def build(described: NodeDescription) -> Network:
    """A network of this node alone."""
    network = Network(described.seed)
    network.add(described.kind, described.name, **described.parameters)
    return network


def main() -> None:
    """Run the node that the command line describes."""
    described = NodeDescription.from_json(sys.argv[1])
    network = build(described)
    node = network.adapter(described.name)
    # They keep what arrives from now on.
    ports = {number: Port.interface(f"eth{number}") for number in described.ports}
    print(READY, flush=True)
    told = sys.stdin.readline()
    if not told:
        return
    span = Span(**json.loads(told))
    while (left := -span.now()) > 0:
        time.sleep(left / 1e9)
    # The node's time begins here, late by what it took to wake up.
    runner = RealTime(node, ports)
    late_ns = span.now()
    runner.start()
    sys.stdin.read()
    runner.stop()
    statistics = network.statistics()
    transactions = [(start + late_ns, end + late_ns) for _, _, start, end in network.transactions()]
    said = {
        "counted": statistics["adapters"].get(described.name),
        "transactions": transactions,
        "runner": runner.statistics(),
    }
    print(json.dumps(said))


if __name__ == "__main__":
    main()
