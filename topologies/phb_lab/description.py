"""A test network as data: what a runner builds, whichever runner it is.

Times are integer nanoseconds, rates bit/s, sizes bytes. Nothing here knows how a node is implemented.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal


@dataclass(frozen=True)
class Port:
    """One port of a switch.

    Attributes:
        number: the P4 port number.
        rate_bps: line rate; None is as fast as the packets come.
        overhead_bytes: what the line adds to an Ethernet frame of header and payload. Negative for lines whose own
            header is shorter than Ethernet's 14 bytes.
        transmit_ring: frames that may wait, already scheduled, behind the one on the line.

    """

    number: int
    rate_bps: int | None = None
    overhead_bytes: int = 0
    transmit_ring: int = 0


@dataclass(frozen=True)
class Switch:
    """A P4 node, and the policy files that the controller pushes to it before the run."""

    name: str
    device_id: int
    ports: tuple[Port, ...]
    policy_files: tuple[Path, ...]


@dataclass(frozen=True)
class Host:
    """A TCP host with one interface.

    Attributes:
        mtu_bytes: of its interface; the announced MSS is 40 bytes less.
        window_bytes: receive and send buffer of each connection.
        delayed_ack_ns: how long an acknowledgement may wait (RFC 1122 allows up to 0.5 s).

    """

    name: str
    addresses: tuple[str, ...]
    mtu_bytes: int
    window_bytes: int
    delayed_ack_ns: int
    nagle: bool = True


@dataclass(frozen=True)
class Adapter:
    """A host adapter: port 0 towards the host, port 1 towards the network."""

    name: str
    kind: Literal["cip", "osa2"]
    parameters: Mapping[str, int]


@dataclass(frozen=True)
class Wire:
    """Joins two (node, port) pairs."""

    a: tuple[str, int]
    b: tuple[str, int]
    delay_ns: int = 0


@dataclass(frozen=True)
class RequestResponse:
    """A client that asks and waits, over and over, on connections of ``records_per_connection`` records each."""

    name: str
    group: str
    client: str
    client_address: str
    server: str
    server_address: str
    server_port: int
    request_bytes: int
    reply_bytes: int
    records_per_connection: int
    start_ns: int


@dataclass(frozen=True)
class Network:
    """Everything that a runner needs, and where the report looks closer.

    Attributes:
        bottleneck: (switch, ingress port, egress port) between which packets are timed for the report.

    """

    name: str
    switches: tuple[Switch, ...]
    hosts: tuple[Host, ...]
    adapters: tuple[Adapter, ...]
    wires: tuple[Wire, ...]
    flows: tuple[RequestResponse, ...]
    bottleneck: tuple[str, int, int]
    assumptions: tuple[str, ...] = field(default=())
