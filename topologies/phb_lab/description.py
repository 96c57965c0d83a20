"""A test network as data, which both runners build.

Times are integer nanoseconds, rates bit/s, sizes bytes. Nodes and flows have a ``kind``; their fields are that kind's
parameters in ``phb_switch.Network``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from phb_lab.errors import UsageError


@dataclass(frozen=True)
class Port:
    """One port of a switch.

    Attributes:
        rate_bps: line rate; None is unlimited.
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
    """A TCP and UDP host with one interface.

    Attributes:
        mtu_bytes: of its interface; the announced MSS is 40 bytes less.
        window_bytes: receive and send buffer of each connection.
        delayed_ack_ns: how long an acknowledgement may wait (RFC 1122 allows up to 0.5 s); None acknowledges at once.
        batches: takes all segments that reach it at one time before it answers any, as behind an adapter that
            interrupts it once for many blocks. Virtual time only; a kernel ignores it.
        relays: its services ask an SNA application, by port 1, before they reply: the TCP of a TN3270 server. Virtual
            time only.
        congestion_control: virtual time has Reno only, and refuses the other.
    """

    kind: ClassVar[str] = "host"
    name: str
    addresses: tuple[str, ...]
    mtu_bytes: int
    window_bytes: int
    delayed_ack_ns: int | None
    nagle: bool = True
    batches: bool = False
    relays: bool = False
    congestion_control: Literal["reno", "cubic"] = "reno"


@dataclass(frozen=True)
class SnaStations:
    """Physical units on a LAN with an LLC2 connection each, over which their logical units ask in turn.

    A node of its own with port 0, and a flow: its transactions have its name and group.

    Attributes:
        frames_per_s: limit of the generator, for all of them together.
        waits: whether a logical unit waits for its answer before it asks again.
    """

    kind: ClassVar[str] = "sna_stations"
    name: str
    group: str
    pus: int
    lus_per_pu: int
    frames_per_s: int
    request_bytes: int
    waits: bool = True
    start_ns: int = 0


@dataclass(frozen=True)
class SnaHost:
    """A mainframe whose SNA application answers every request at once; without ``reply_bytes`` it only takes them."""

    kind: ClassVar[str] = "sna_host"
    name: str
    reply_bytes: int | None = None


@dataclass(frozen=True)
class Adapter:
    """A host adapter: port 0 towards the host, port 1 towards the network; a second channel has ports 2 and 3.

    ``parameters`` are those of ``data/adapters.yaml``.
    """

    name: str
    kind: Literal["cip", "osa2", "osa"]
    parameters: Mapping[str, Any]


Node = Host | Adapter | SnaStations | SnaHost


def parameters_of(node: Node) -> dict[str, Any]:
    """Give the parameters of a node, without its name."""
    if isinstance(node, Adapter):
        return dict(node.parameters)
    return {name: value for name, value in vars(node).items() if name != "name"}


@dataclass(frozen=True)
class Wire:
    """Joins two (node, port) pairs; ``loss_per_million`` frames of a million are lost at random in either direction."""

    a: tuple[str, int]
    b: tuple[str, int]
    delay_ns: int = 0
    loss_per_million: int = 0


@dataclass(frozen=True)
class Ends:
    """Between which hosts a flow is, and to which group of figures it belongs."""

    name: str
    group: str
    client: str
    client_address: str
    server: str
    server_address: str


@dataclass(frozen=True)
class RequestResponse(Ends):
    """A client that asks and waits, over and over, on connections of ``records_per_connection`` records each.

    Attributes:
        think_ns: between a complete request and the start of its reply (the server's).
        pause_ns: between a complete reply and the next request (the client's).
        tos: type-of-service octet of both ends' packets.
        start_ns: when the first connection is opened.
        stop_ns: when requests end; None is the end of the run.
    """

    kind: ClassVar[str] = "request_response"
    server_port: int
    request_bytes: int
    reply_bytes: int
    records_per_connection: int
    start_ns: int
    think_ns: int = 0
    pause_ns: int = 0
    tos: int = 0
    stop_ns: int | None = None


@dataclass(frozen=True)
class Messages(Ends):
    """Messages from one mail transfer agent to another, one after another over one association.

    A message is a request of its own length with a short reply. It becomes a :class:`~phb_lab.outcome.Transaction` from
    its submission to that reply.

    Attributes:
        permanent: the connection is opened at ``start_ns`` and stays; otherwise each message opens its own, and the
            time of opening counts into its transfer.
        schedule: (submission in ns, bytes) of each message, in order; each waits until the one before it is done.
    """

    kind: ClassVar[str] = "messages"
    server_port: int
    permanent: bool
    schedule: tuple[tuple[int, int], ...]
    answer_bytes: int
    start_ns: int = 0
    tos: int = 0


@dataclass(frozen=True)
class Stream(Ends):
    """A TCP connection that carries as much as it can, from client to server (netperf's TCP_STREAM).

    Attributes:
        total_bytes: the connection closes after them; None sends until ``stop_ns``.
        write_bytes: size of the application's writes.
    """

    kind: ClassVar[str] = "stream"
    server_port: int
    start_ns: int
    stop_ns: int | None = None
    total_bytes: int | None = None
    write_bytes: int = 65_536
    tos: int = 0


@dataclass(frozen=True)
class Datagrams(Ends):
    """UDP datagrams at a fixed rate, as MGEN sends them.

    Attributes:
        payload_bytes: of UDP; at least 16, for each carries its number and its time of sending.
        interval_ns: between two datagrams (MGEN's PERIODIC), or its mean (POISSON).
    """

    kind: ClassVar[str] = "datagrams"
    server_port: int
    payload_bytes: int
    interval_ns: int
    start_ns: int
    stop_ns: int | None = None
    pattern: Literal["periodic", "poisson"] = "periodic"
    tos: int = 0


Flow = RequestResponse | Messages | Stream | Datagrams


@dataclass(frozen=True)
class Stamp(Ends):
    """Test packets (STAMP, RFC 8762) that the server's host sends back; virtual time only.

    Attributes:
        payload_bytes: of UDP; at least the 44 of a test packet.
        interval_ns: between two of them.
        tos: type-of-service octet of test packets; replies have the one that these arrive with.
    """

    kind: ClassVar[str] = "stamp"
    interval_ns: int
    start_ns: int
    tos: int = 0
    payload_bytes: int = 44
    server_port: int = 862
    stop_ns: int | None = None


@dataclass(frozen=True)
class Network:
    """Everything that a runner needs; ``assumptions`` are sentences on what the source omits and we chose.

    ``stamps`` measure beside the flows, and are no traffic of the test's own.
    """

    name: str
    switches: tuple[Switch, ...]
    hosts: tuple[Host, ...]
    adapters: tuple[Adapter, ...]
    wires: tuple[Wire, ...]
    flows: tuple[Flow, ...]
    assumptions: tuple[str, ...] = field(default=())
    stations: tuple[SnaStations, ...] = field(default=())
    sna_hosts: tuple[SnaHost, ...] = field(default=())
    stamps: tuple[Stamp, ...] = field(default=())

    def with_policies(self, policies: Mapping[str, tuple[Path, ...]]) -> "Network":
        """The same network with other policy files on some of its switches.

        Raises:
            UsageError: a name is not that of a switch.
        """
        known = {switch.name for switch in self.switches}
        for name in policies:
            if name not in known:
                raise UsageError(f"switch {name}: expected one of: {', '.join(sorted(known))}")
        switches = tuple(
            replace(switch, policy_files=policies.get(switch.name, switch.policy_files)) for switch in self.switches
        )
        return replace(self, switches=switches)
