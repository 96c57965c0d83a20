"""Pairs of hosts on a LAN of their own, with their adapters and workloads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from phb_lab import data_files
from phb_lab.description import (
    Adapter,
    Flow,
    Host,
    Network,
    RequestResponse,
    Stream,
    Switch,
    Wire,
)

MILLISECOND = 1_000_000
# Traffic starts at once; no exchange begins after this time.
STOP_NS = 300 * MILLISECOND
# "Send buffer size: 180K for streaming workloads" (segmentation offload).
WINDOW_BYTES = 180 * 1024
MTU_BYTES = 1492
# The delayed acknowledgement of BSD-derived stacks, as in s390.
DELAYED_ACK_NS = 200_000_000
REQUEST_BYTES, REPLY_BYTES = 100, 800


def osa(inbperf: str = "dynamic", **changed: Any) -> dict[str, Any]:
    """Parameters of an adapter with one of the INBPERF settings; ``changed`` are others than those of the data file."""
    adapters = data_files.adapters()
    return {**adapters["osa"], **adapters[f"osa_{inbperf}"], **changed}


def nic() -> dict[str, Any]:
    """Parameters of the adapter of a host that is no z/OS."""
    return {**data_files.adapters()["nic"]}


@dataclass
class Parts:
    """A network in the making."""

    hosts: list[Host] = field(default_factory=list)
    adapters: list[Adapter] = field(default_factory=list)
    wires: list[Wire] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    switches: list[Switch] = field(default_factory=list)
    islands: int = 0

    def host(self, name: str, addresses: Sequence[str], parameters: Mapping[str, Any], *, window: int) -> None:
        """Add a host behind its adapter, which is an OSA if it has processors."""
        self.hosts.append(Host(name, tuple(addresses), parameters["mtu_bytes"], window, DELAYED_ACK_NS, nagle=False))
        kind: Any = "osa" if "processors" in parameters else "osa2"
        self.adapters.append(Adapter(f"{name}-adapter", kind, parameters))
        self.wires.append(Wire((name, 0), (f"{name}-adapter", 0)))

    def pair(
        self,
        label: str,
        near: Mapping[str, Any],
        far: Mapping[str, Any],
        *,
        window: int = WINDOW_BYTES,
        far_window: int | None = None,
        delay_ns: int = 0,
    ) -> "Island":
        """Add two hosts, ``LABEL-near`` and ``LABEL-far``, on one LAN."""
        self.islands += 1
        island = Island(self, label, f"10.{self.islands}.0.1", f"10.{self.islands}.0.2")
        self.host(island.near, [island.near_address], near, window=window)
        self.host(island.far, [island.far_address], far, window=far_window or window)
        self.wires.append(Wire((f"{island.near}-adapter", 1), (f"{island.far}-adapter", 1), delay_ns))
        return island

    def network(self, name: str) -> Network:
        """Give the finished network."""
        return Network(
            name,
            tuple(self.switches),
            tuple(self.hosts),
            tuple(self.adapters),
            tuple(self.wires),
            tuple(self.flows),
            assumptions=ASSUMPTIONS,
        )


@dataclass(frozen=True)
class Island:
    """Two hosts on a LAN of their own; ``near`` is the z/OS with the adapter under test."""

    parts: Parts
    label: str
    near_address: str
    far_address: str

    @property
    def near(self) -> str:
        """Name of the one host."""
        return f"{self.label}-near"

    @property
    def far(self) -> str:
        """Name of the other host."""
        return f"{self.label}-far"

    def ask(self, connections: int, *, start_ns: int = 0, stop_ns: int = STOP_NS) -> None:
        """RR1, RR10, ...: the far host asks the near one."""
        for number in range(connections):
            self.parts.flows.append(
                RequestResponse(
                    name=f"{self.label}-rr-{number}",
                    group=f"{self.label}-rr",
                    client=self.far,
                    client_address=self.far_address,
                    server=self.near,
                    server_address=self.near_address,
                    server_port=700,
                    request_bytes=REQUEST_BYTES,
                    reply_bytes=REPLY_BYTES,
                    records_per_connection=1_000_000_000,
                    start_ns=start_ns + number * 1_000,
                    stop_ns=stop_ns,
                )
            )

    def stream(self, *, inbound: bool, start_ns: int = 0, stop_ns: int = STOP_NS) -> None:
        """STR1, into the near host or out of it."""
        ends = [(self.far, self.far_address), (self.near, self.near_address)]
        (client, client_address), (server, server_address) = ends if inbound else ends[::-1]
        self.parts.flows.append(
            Stream(
                name=f"{self.label}-str",
                group=f"{self.label}-str",
                client=client,
                client_address=client_address,
                server=server,
                server_address=server_address,
                server_port=900,
                start_ns=start_ns,
                stop_ns=stop_ns,
            )
        )


ASSUMPTIONS = (
    "The source prints gains, not rates, and no times of adapters or processors: those are in data/adapters.yaml.",
    "Static LAN idle is BALANCED, the default, with 20 us; the source names no static value.",
    "The mixed workload is RR10 and STR1 into z/OS; the source doesn't say how many connections it had.",
    "The other platform answers at once and has neither a LAN-idle timer nor processors that cost anything.",
)
