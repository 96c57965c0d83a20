"""JSON between the runner and the traffic endpoint of a host: its job, and its report.

A job holds the flows of one host as the description has them, those whose client it is and those whose server it is.
``number`` is a flow's place in the description: datagrams and streams carry it, so that one port may serve several.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from phb_lab.description import Datagrams, Flow, Host, Messages, Network, RequestResponse, Stream

_KINDS: dict[str, type[Flow]] = {kind.__name__: kind for kind in (RequestResponse, Messages, Stream, Datagrams)}

FlowType = TypeVar("FlowType", RequestResponse, Messages, Stream, Datagrams)


@dataclass(frozen=True)
class HostJob:
    """The work of one host: flows by number that it starts (``clients``) and that it answers (``servers``).

    ``seed`` is that of drawn intervals; ``tools`` are real tools that take flows from our generators, by name.
    """

    host: Host
    clients: Mapping[int, Flow]
    servers: Mapping[int, Flow]
    seed: int
    tools: Sequence[str] = ()

    @classmethod
    def of(cls, network: Network, host: Host, seed: int, tools: Sequence[str] = ()) -> "HostJob":
        """The work that a network's flows give a host."""
        numbered = dict(enumerate(network.flows))
        return cls(
            host,
            {number: flow for number, flow in numbered.items() if flow.client == host.name},
            {number: flow for number, flow in numbered.items() if flow.server == host.name},
            seed,
            tuple(tools),
        )

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        document = {
            "host": asdict(self.host),
            "clients": {number: _flow_as_json(flow) for number, flow in self.clients.items()},
            "servers": {number: _flow_as_json(flow) for number, flow in self.servers.items()},
            "seed": self.seed,
            "tools": list(self.tools),
        }
        path.write_text(json.dumps(document))

    @classmethod
    def read(cls, path: Path) -> "HostJob":
        """Read what :meth:`write` wrote."""
        document = json.loads(path.read_text())
        host = document["host"]
        return cls(
            Host(**{**host, "addresses": tuple(host["addresses"])}),
            {int(number): _flow_from_json(flow) for number, flow in document["clients"].items()},
            {int(number): _flow_from_json(flow) for number, flow in document["servers"].items()},
            document["seed"],
            tuple(document["tools"]),
        )


@dataclass
class Sent:
    """A client's count of what it handed to UDP or TCP."""

    packets: int = 0
    octets: int = 0


@dataclass
class Received:
    """A server's count; times in ns since the start of the run. ``late`` are datagrams that came after its end."""

    packets: int = 0
    octets: int = 0
    by_second: list[int] = field(default_factory=list)
    delays_ns: list[tuple[int, int]] = field(default_factory=list)
    late: int = 0

    def count(self, now_ns: int, octets: int) -> None:
        """Count octets that came now."""
        second = max(now_ns, 0) // 1_000_000_000
        self.by_second.extend([0] * (second + 1 - len(self.by_second)))
        self.by_second[second] += octets
        self.octets += octets


@dataclass
class Report:
    """An endpoint's report: ``sent`` and ``received`` by flow number, ``failures`` (broken connections) by reason.

    ``transactions`` are (flow number, start, end) in ns since the start of the run.
    """

    transactions: list[tuple[int, int, int]] = field(default_factory=list)
    sent: dict[int, Sent] = field(default_factory=dict)
    received: dict[int, Received] = field(default_factory=dict)
    failures: dict[str, int] = field(default_factory=dict)

    def fail(self, reason: str) -> None:
        """Count a broken connection."""
        self.failures[reason] = self.failures.get(reason, 0) + 1

    def write(self, path: Path) -> None:
        """Write it as JSON."""
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: Path) -> "Report":
        """Read what :meth:`write` wrote."""
        document = json.loads(path.read_text())
        return cls(
            [(flow, start, end) for flow, start, end in document["transactions"]],
            {int(number): Sent(**sent) for number, sent in document["sent"].items()},
            {
                int(number): Received(**{**received, "delays_ns": [(at, delay) for at, delay in received["delays_ns"]]})
                for number, received in document["received"].items()
            },
            document["failures"],
        )


def of_kind(flows: Mapping[int, Flow], kind: type[FlowType]) -> Sequence[tuple[int, FlowType]]:
    """Flows of one kind, with their numbers."""
    return [(number, flow) for number, flow in flows.items() if isinstance(flow, kind)]


def _flow_as_json(flow: Flow) -> dict[str, Any]:
    return {"kind": type(flow).__name__, **asdict(flow)}


def _flow_from_json(document: Mapping[str, Any]) -> Flow:
    arguments = dict(document)
    kind = _KINDS[arguments.pop("kind")]
    if kind is Messages:
        arguments["schedule"] = tuple((at, octets) for at, octets in arguments["schedule"])
    return kind(**arguments)
