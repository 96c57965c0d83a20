"""The embedded switch and the virtual network, written in Rust.

Times are nanoseconds, rates bit/s, lengths bytes of the Ethernet frame (no preamble, no frame check sequence).
Values of fields and parameters are big-endian bytes of any length whose number fits the field.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from os import PathLike
from typing import Any, Literal, final

__all__ = [
    "LIMITS",
    "Adapter",
    "Binding",
    "Configuration",
    "LoadError",
    "Match",
    "Network",
    "P4RuntimeServer",
    "Port",
    "PortConfig",
    "PortError",
    "Read",
    "Reader",
    "RealTime",
    "RefusedError",
    "Role",
    "Shaper",
    "Switch",
    "Table",
    "ThriftServer",
    "Tls",
    "Traces",
    "Update",
    "Write",
]

class LoadError(ValueError):
    """An artifact (bmv2 JSON) that the switch refuses; `str()` gives one line: artifact, path, reason."""

    path: str
    """JSON pointer to the construct, for example `/parsers/0/parse_states/2`."""
    message: str
    """The reason."""

@final
class Shaper:
    """The most that a port passes, however fast its line is."""

    def __new__(cls, rate_bps: int, burst_bytes: int = 0, overhead_bytes: int = 0) -> Shaper: ...
    @property
    def rate_bps(self) -> int:
        """Rate in bit/s; 0 holds everything back once the burst is spent."""
    @property
    def burst_bytes(self) -> int:
        """Bytes that may pass at the line's rate after a pause; with 0 each frame takes its time at `rate_bps`."""
    @property
    def overhead_bytes(self) -> int:
        """Added to each Ethernet frame's length for what the shaper counts."""

@final
class PortConfig:
    """How one port transmits."""

    rate_bps: int | None
    """Line rate in bit/s; None is unlimited."""
    overhead_bytes: int
    """Added to each Ethernet frame's length for the transmission time; negative where the line's framing is shorter."""
    transmit_ring: int
    """Frames that may wait behind the one on the wire, after the scheduler."""
    buffer_packets: int
    """The most packets that wait in the scheduler; what does not fit is dropped and counted."""
    queues: int
    """Strict-priority queues for programs without ``tm.rank``; a packet of a higher priority is dropped and counted."""
    strict_priority: bool
    """Whether packets with a ``tm.rank`` wait in these queues too, as on a switch that has no PIFO."""
    queue_depth: int | None
    """The most packets that wait in one of them; None is 64."""
    queue_rate_pps: int | None
    """The rate of each of them in packets per second; None and 0 are unlimited."""
    shaper: Shaper | None
    """The most that the port passes; None is the line's rate."""

    def __new__(
        cls,
        rate_bps: int | None = None,
        overhead_bytes: int = 0,
        transmit_ring: int = 0,
        buffer_packets: int = ...,
        *,
        queues: int = 1,
        strict_priority: bool = False,
        queue_depth: int | None = None,
        queue_rate_pps: int | None = None,
        shaper: Shaper | None = None,
    ) -> PortConfig: ...

@final
class Match:
    """A condition on one key of a table entry."""

    @staticmethod
    def exact(value: bytes) -> Match:
        """Equal to `value`."""
    @staticmethod
    def lpm(value: bytes, prefix_length: int) -> Match:
        """Equal to `value` in the first `prefix_length` bits."""
    @staticmethod
    def ternary(value: bytes, mask: bytes) -> Match:
        """Equal to `value` where `mask` has a 1."""
    @staticmethod
    def range(low: bytes, high: bytes) -> Match:
        """From `low` to `high`, both included."""
    @staticmethod
    def optional(value: bytes | None) -> Match:
        """Equal to `value`, or anything if None."""

@final
class Update:
    """One change of what the control plane may change. `matches` names every key of the table."""

    @staticmethod
    def insert(
        table: str,
        matches: Sequence[tuple[str, Match]],
        priority: int,
        action: str | None,
        parameters: Sequence[tuple[str, bytes]] = ...,
        *,
        member: int | None = None,
        group: int | None = None,
        idle_timeout_ns: int = 0,
    ) -> Update:
        """Adds an entry, with an action or, if the table has an action profile, with a member or group of it.

        Fields left out of `matches` match anything. `priority` is above 0 in a table with ternary, range or optional
        keys, else 0. After `idle_timeout_ns` without a hit the entry is idle; 0 is never.
        """
    @staticmethod
    def modify(
        table: str,
        matches: Sequence[tuple[str, Match]],
        priority: int,
        action: str | None,
        parameters: Sequence[tuple[str, bytes]],
    ) -> Update:
        """Changes an entry's action; None keeps it, and fails if there is no such entry."""
    @staticmethod
    def delete(table: str, matches: Sequence[tuple[str, Match]], priority: int) -> Update:
        """Removes an entry."""
    @staticmethod
    def default_action(table: str, action: str | None, parameters: Sequence[tuple[str, bytes]] = ...) -> Update:
        """Sets what a packet without an entry gets; None goes back to the program's own."""
    @staticmethod
    def counter(name: str, index: int, packets: int, octets: int) -> Update:
        """Sets a cell of an indirect counter."""
    @staticmethod
    def direct_counter(
        table: str, matches: Sequence[tuple[str, Match]], priority: int, packets: int, octets: int
    ) -> Update:
        """Sets the counter of an entry."""
    @staticmethod
    def register(name: str, index: int, value: bytes) -> Update:
        """Sets a cell of a register."""
    @staticmethod
    def meter(name: str, index: int, rates: tuple[int, int, int, int] | None) -> Update:
        """Configures a cell of a meter (RFC 2698).

        `rates` are committed rate and burst, peak rate and burst, in bytes/s and bytes or packets/s and packets, as the
        program declares; None makes every packet green.
        """
    @staticmethod
    def direct_meter(
        table: str,
        matches: Sequence[tuple[str, Match]],
        priority: int,
        rates: tuple[int, int, int, int] | None,
    ) -> Update:
        """Configures the meter of an entry, as `meter`."""
    @staticmethod
    def multicast_group(group: int, replicas: Sequence[tuple[int, int]] | None) -> Update:
        """Makes or replaces a multicast group of (port, instance); None removes it."""
    @staticmethod
    def clone_session(
        session: int,
        replicas: Sequence[tuple[int, int]] | None,
        class_of_service: int = 0,
        packet_length_bytes: int | None = None,
    ) -> Update:
        """Makes or replaces a clone session of (port, instance); None removes it.

        `class_of_service` is the copies' priority, `packet_length_bytes` their length; None leaves them whole.
        """
    @staticmethod
    def member(
        profile: str,
        member: int,
        action: str | None,
        parameters: Sequence[tuple[str, bytes]] = ...,
        modify: bool = False,
    ) -> Update:
        """Adds (or modifies) a member of an action profile; without an action, removes it."""
    @staticmethod
    def group(profile: str, group: int, members: Sequence[tuple[int, int]] | None, modify: bool = False) -> Update:
        """Adds (or modifies) a group of (member, weight) of an action profile; without members, removes it."""

@final
class Table:
    """A table of the loaded program."""

    name: str
    keys: list[tuple[str, str, int]]
    """Name, kind (exact, lpm, ternary, range, optional), width in bits."""
    actions: list[tuple[str, list[tuple[str, int]]]]
    """Name, and name and width in bits of each parameter."""
    size: int
    is_const: bool
    has_direct_counter: bool

@final
class Switch:
    """A switch: a pipeline that a program defines, and a queue per port.

    A `Network` or a `RealTime` runner drives it. Other threads may program it meanwhile, between two packets.
    `executor` is what runs its programs, native code where this build makes any unless it is said; ValueError if this
    build doesn't have it. Where a program can't become native code, the interpreter runs it (`execution` says why).
    Both do the same, to the bit.
    """

    def __new__(
        cls,
        name: str,
        ports: Mapping[int, PortConfig],
        seed: int = 1,
        cpu_port: int | None = None,
        drop_port: int = 511,
        executor: Literal["native", "interpreter"] | None = None,
    ) -> Switch: ...
    name: str
    cpu_port: int | None
    drop_port: int
    seed: int
    execution: dict[str, Any] | None
    """How the program runs; None without one.

    Keys: `executor`, `code_bytes` (of machine code), and `reason`: why it is interpreted although native code was
    asked for, else None.
    """
    loaded: bool
    """Whether a program is loaded; without one every packet is dropped and counted."""

    def load(self, artifact_json: str) -> None:
        """Loads a program (bmv2 JSON); all state of the one before is gone.

        Raises:
            LoadError: the artifact is wrong or needs what this switch does not have; the program before stays.

        """
    def adopt(self, other: Switch) -> None:
        """Takes over the program of `other`, with its entries and state; `other` has none afterwards."""
    def write(self, updates: Sequence[Update], atomic: bool) -> list[tuple[int, str]]:
        """Applies a batch in order, between two packets; `atomic`: a failure undoes it, and the others are ABORTED.

        Returns for each update a canonical code (google.rpc.Code; 0 is OK) and a message.
        """
    def tables(self) -> list[Table]: ...
    def counters(self) -> dict[str, int]:
        """Name and number of cells of each indirect counter."""
    def registers(self) -> dict[str, tuple[int, int]]:
        """Name, number of cells and width in bits of each register."""
    def meters(self) -> dict[str, int]:
        """Name and number of cells of each indirect meter."""
    def read_counter(self, name: str, first: int = 0, count: int | None = None) -> list[tuple[int, int]]:
        """Packets and bytes of `count` cells (None: all) from cell `first`; KeyError, IndexError if there is none."""
    def read_direct_counter(self, table: str, matches: Sequence[tuple[str, Match]], priority: int) -> tuple[int, int]:
        """Packets and bytes of an entry; KeyError without it, ValueError for a wrong key or no direct counter."""
    def read_register(self, name: str, first: int = 0, count: int | None = None) -> list[int]:
        """The values of `count` cells (None: all) from cell `first`; KeyError, IndexError if there is none."""
    def ports(self) -> dict[int, PortConfig]: ...
    def set_port(self, port: int, config: PortConfig) -> None:
        """Changes how a port transmits from the next frame on; a new port is added."""
    def statistics(self) -> dict[str, Any]:
        """Counters of the switch and of each port.

        `received + injected + copied = transmitted + to_cpu + sum(dropped) + queued` holds at every moment; `imbalance`
        is left side minus right side. Keys: `received, injected, copied, resubmitted, recirculated, digests,
        digests_lost, transmitted, to_cpu, dropped (reason: packets), queued, imbalance, ports (number:
        {received_packets, received_bytes, transmitted_packets, transmitted_bytes, dropped, queued, queue_depth_max,
        queue_delay_sum_ns, queue_delay_max_ns, queue_delay_packets, queues (by priority: [{depth, depth_max,
        waiting_bytes, waiting_bytes_max, passed_packets, passed_bytes, dropped_packets, dropped_bytes}])})`.
        """
    def check(self) -> int:
        """The imbalance of the conservation law (see `statistics`); 0 unless there is a bug."""
    def packet_out(self, frame: bytes) -> None:
        """Injects a frame at the CPU port; ValueError without one.

        It enters at once if a `RealTime` runner runs the switch, otherwise with the next packet or tick.
        """
    def packets_in(self, timeout_ms: int = 0) -> list[bytes]:
        """Takes the frames that went out of the CPU port, waiting up to `timeout_ms` for the first."""
    def digests_in(self, timeout_ms: int = 0) -> list[tuple[str, list[bytes]]]:
        """Takes digest messages (name of the list, big-endian fields), waiting up to `timeout_ms` for the first."""
    def trace(self, filter: str = "", *, frame_bytes: int = 0) -> Traces:
        """Traces packets that arrive from now on, as far as the filter wants them.

        The filter's language is that of `phb-switch --trace-filter`. Of frames the first `frame_bytes` are shown, or
        what the program parses as headers. A filter that is not understood raises ValueError, a 65th reader
        RuntimeError.
        """
    def process(self, port: int, frame: bytes, now_ns: int) -> list[tuple[int, int, bytes]]:
        """Drives the switch by hand: receives a frame, and runs until it is idle. Times must not decrease.

        Not for a switch of a network or a runner. Returns time in ns, port and frame of each transmission.
        """

@final
class Traces:
    """What happened to packets of a switch, step by step, for one reader.

    At most 16,384 traces of 64 MiB wait; the switch does not wait for the reader.
    """

    def take(self, timeout_ms: int = 0) -> list[dict[str, Any]]:
        """Takes the traces of packets that are at their end, waiting up to `timeout_ms` for the first.

        The names are those of phb.trace.v1.Trace; what is zero, empty or false is left out.
        """
    def take_lines(self, timeout_ms: int = 0) -> list[str]:
        """The same as lines of JSON."""
    @property
    def left_out(self) -> int:
        """Traces that this reader did not get, because too many waited or were under way."""
    def stop(self) -> None:
        """Ends tracing for this reader; traces that wait can still be taken."""
    def __enter__(self) -> Traces: ...
    def __exit__(self, *_error: object) -> None: ...

class PortError(Exception):
    """A port that can't be opened; `str()` is the reason in one line."""

@final
class Port:
    """An open port, which one runner can take, once."""

    @staticmethod
    def interface(name: str, *, rings: bool = True) -> Port:
        """A network interface, for example `veth0`, in promiscuous mode.

        Without rings, or where the kernel gives none, frames are copied by one system call each.

        Raises:
            PortError: no such interface, not Ethernet, or no permission (root or CAP_NET_RAW).

        """
    @staticmethod
    def tap(name: str) -> Port:
        """A TAP interface; a missing one is made, switched on, and removed with the port.

        Raises:
            PortError: no TAP interface, in use, or no permission (root or CAP_NET_ADMIN).

        """
    @staticmethod
    def files(
        name: str, input: str | PathLike[str] | None, output: str | PathLike[str] | None, wait_s: float = 0.0
    ) -> Port:
        """Capture files: `input` is replayed with its own timing, into `output` go the frames that leave.

        The earliest frame of all ports of a runner arrives `wait_s` after the runner was made.

        Raises:
            PortError: a file that can't be read or made, or no capture (pcap) of whole Ethernet frames.

        """
    def captured(self, directory: str | PathLike[str]) -> Port:
        """Replaces this port by one with captures NAME_in.pcap, NAME_out.pcap; PortError if a file can't be made."""
    def close(self) -> None:
        """Closes it, unless a runner has taken it."""

class RefusedError(Exception):
    """A P4Runtime request that is refused."""

    code: int
    """One of google.rpc.Code."""
    message: str
    """Which object is wrong, and why."""

@final
class Write:
    """A p4.v1.WriteRequest, which can be carried out once."""

    device_id: int
    role: str
    election_id: int | None

    def __new__(cls, serialized: bytes) -> Write:
        """Reads a serialized request; RefusedError if it is not one."""

@final
class Read:
    """A p4.v1.ReadRequest, which can be answered once."""

    device_id: int
    role: str

    def __new__(cls, serialized: bytes) -> Read:
        """Reads a serialized request; RefusedError if it is not one."""

@final
class Reader:
    """The answer to a read: serialized p4.v1.ReadResponse messages of bounded size, made while they are taken."""

    def __iter__(self) -> Reader: ...
    def __next__(self) -> bytes: ...
    def failure(self) -> tuple[str, bytes] | None:
        """None, or as for `Configuration.write`."""

@final
class Configuration:
    """A program with its p4info, and what clients have written to it. Any thread may call."""

    def __new__(cls, switch: Switch, p4info: bytes) -> Configuration:
        """Joins a serialized P4Info and the program of `switch`; RefusedError if they differ, or exceed the switch."""
    def write(self, request: Write, ids: Set[int] | None = None) -> tuple[str, bytes] | None:
        """Applies a batch; with `ids`, only to those objects. RefusedError: the request is wrong, nothing was done.

        Returns None on success, else a message and a serialized google.rpc.Status with a p4.v1.Error for each update.
        """
    def read(self, request: Read, ids: Set[int] | None = None) -> Reader:
        """Answers a batch of reads with the present entries; with `ids`, only of those objects of the p4info."""
    def carry_over(self, old: Configuration) -> None:
        """Takes over clients' writes, counters and registers of `old`; RefusedError if something does not fit."""
    def commit(self, switch: Switch) -> None:
        """Hands the program with its state to `switch`, whose own state is gone."""
    def packet_in(self, frame: bytes) -> bytes:
        """The serialized StreamMessageResponse for a frame from the CPU port; RefusedError if it is too short."""
    def packet_out(self, packet: bytes) -> bytes:
        """The frame for a serialized p4.v1.PacketOut; RefusedError if its metadata are not those of the program."""

@final
class RealTime:
    """Runs a switch or a host adapter on ports, in a thread of its own, by the monotonic clock."""

    def __new__(
        cls,
        node: Switch | Adapter,
        ports: Mapping[int, Port],
        *,
        busy_poll_us: int = 0,
        report: Callable[[str], object] | None = None,
    ) -> RealTime:
        """Takes the ports, which are closed with it.

        For `busy_poll_us` after a frame it polls before sleeping: less delay for more processor time. Its thread calls
        `report` with a line for each interface that goes or comes back; by default they go to standard error.
        """
    def start(self) -> None:
        """Starts the thread; RuntimeError if it runs already."""
    def stop(self) -> None:
        """Stops the thread and waits for its end; does nothing if it is not running."""
    def statistics(self) -> dict[str, Any]:
        """Counters of the ports.

        Keys: `running`, `error` (None, or why the thread ended), `failures` (a line for each file of a port that could
        not be read or written to its end), and `ports`, by number: `name`; `link` ("up", "down", "absent");
        `without_rings` (None, or why frames are copied one by one); `missed` (found no room before the switch);
        `receive_errors`; `send_errors` (too long for the interface, no room, interface down); `refused` (left to
        hardware in a way that can't be undone); `segmented` (left whole, and cut); `not_captured` (passed, but missing
        in a capture that could not be written); `discipline` (the queueing discipline that somebody has set on the
        interface, or None); `held_back` (waited in the switch since the discipline held as many frames as it may).
        """

@final
class Tls:
    """TLS files in PEM, read again after changes, and requirements of clients."""

    def __new__(
        cls,
        certificate: str | PathLike[str],
        key: str | PathLike[str],
        *,
        client_authority: str | PathLike[str] | None = None,
        clients: str = "required",
    ) -> Tls:
        """Names the server's certificate chain, its key without a password, and the authority of clients' certificates.

        Without an authority clients aren't asked. `clients`: `required`, `optional` (without one they read), `none`.
        """

@final
class Binding:
    """The rights of a certificate's holder."""

    def __new__(
        cls,
        name: str,
        *,
        roles: Set[str] | None = None,
        device_ids: Set[int] | None = None,
        read_only: bool = False,
    ) -> Binding:
        """Binds a certificate by its common name or an alternative one (DNS name, URI, IP address, e-mail).

        None allows any role (the default role is "") and device; `read_only` can't write, configure or become primary.
        """
    @property
    def name(self) -> str: ...

@final
class Role:
    """The rights of a role, which `role.config` can only narrow."""

    def __new__(
        cls,
        name: str,
        *,
        objects: Sequence[int | str] | None = None,
        packet_in: bool = False,
        packet_out: bool = False,
        pipeline: bool = False,
        replication: bool = False,
        gnmi: Sequence[str] = ...,
    ) -> Role:
        """Describes what a role may do.

        Args:
            name: of the role.
            objects: ids or names of its objects in the p4info; None is all.
            packet_in: get packet-ins.
            packet_out: send packets.
            pipeline: set the forwarding-pipeline config.
            replication: write multicast groups and clone sessions.
            gnmi: set these paths, with all below them.

        """

@final
class P4RuntimeServer:
    """P4Runtime, gNMI, health and reflection for one switch, on threads of their own.

    Several may run in one process. The switch may have a virtual network, a real-time runner, or no driver.
    """

    def __new__(
        cls,
        switch: Switch,
        *,
        device_id: int,
        address: str = ...,
        names: Mapping[int, str] = ...,
        runner: RealTime | None = None,
        tls: Tls | None = None,
        bindings: Sequence[Binding] | None = None,
        roles: Sequence[Role] = ...,
        gnmi: bool = True,
        like_bmv2: bool = False,
        workers: int = 1,
    ) -> P4RuntimeServer:
        """Prepares a server.

        Args:
            switch: to be programmed.
            device_id: the only valid one.
            address: `HOST:PORT` or `unix:PATH`; port 0 takes a free one. By default any on loopback.
            names: of the interfaces, by port number, for gNMI, and for P4Runtime where ports are strings; other ports
                are named by number.
            runner: counts for gNMI at the interfaces.
            tls: without it, clear text.
            bindings: rights of clients' certificates; without them all may do everything.
            roles: rights of roles, with bindings.
            gnmi: whether to serve gNMI.
            like_bmv2: whether to follow bmv2 where it differs from the specification.
            workers: threads.

        """
    def start(self) -> int:
        """Starts serving; OSError for an unusable address or TLS file. Returns the port, 0 for a Unix socket."""
    def stop(self) -> None:
        """Ends all streams and stops serving. A stopped server can not be started again."""
    @property
    def address(self) -> str:
        """The address to listen at; after the start, the one in use."""
    def __enter__(self) -> P4RuntimeServer: ...
    def __exit__(self, *_exception: object) -> None: ...

@final
class ThriftServer:
    """bmv2's runtime services over Thrift for one switch, on threads of their own, at a free port of loopback."""

    def __new__(cls, switch: Switch, *, device_id: int = 0) -> ThriftServer: ...
    def start(self) -> int:
        """Starts serving; OSError if it can't. Returns the port."""
    def stop(self) -> None:
        """Ends all connections and stops serving."""

LIMITS: Mapping[str, int]
"""Limits of a server's resources for clients; docs/operate/p4runtime.md has them with their reasons."""

@final
class Adapter:
    """A node of a network, for a `RealTime` runner."""

@final
class Network:
    """A virtual network: nodes and wires in virtual time.

    Add nodes, wires and traffic first; then let time run, at once or in parts. The same calls with the same seed give
    the same events, byte for byte. A wrong argument is a ValueError that begins with the argument's name.
    """

    now_ns: int
    """The time, in ns since the start."""

    def __new__(cls, seed: int) -> Network:
        """An empty network; `seed` draws initial sequence numbers, ephemeral ports, Poisson processes and losses."""
    def add_switch(self, switch: Switch) -> None:
        """Adds a switch by its own name; P4Runtime may program it before and after."""
    def add(self, kind: str, name: str, **parameters: object) -> None:
        """Adds a node, with the parameters of its kind; a wrong one is a ValueError that names it.

        Each kind's parameters are the fields of its struct in Rust, which says what they mean.

        Args:
            kind: one of
                host: a host with TCP (smoltcp, Reno) and UDP; its port is 0 (`HostConfig`);
                cip: a Channel Interface Processor; its channel n has port 2n towards the host, 2n + 1 towards the
                network; a TN3270 server's host is attached to ports 2 (TCP) and 3 (SNA) (`CipConfig`);
                osa2: an OSA-2 on full-duplex Ethernet: port 0 towards the host, port 1 towards the network
                (`Osa2Config`);
                osa: an OSA-Express in QDIO mode with its host's processors; port 0: the host's TCP, port 1: the LAN
                (`OsaConfig`);
                sna_stations: SNA stations on port 0 that connect and then ask in turn; also a flow of their name
                (`StationsConfig`);
                sna_host: a host whose SNA application answers every request, by the port it came from
                (`SnaHostConfig`);
                line: a line between its ports 0 and 1 that does what a wire does, where a `RealTime` runner has no
                wires (`WireConfig`).
                The Ethernet or LAN of an adapter is part of the node, in both directions: its peer needs no rate.
            name: of the node.
            parameters: of its kind.

        """
    def adapter(self, name: str) -> Adapter:
        """An adapter, line, SNA stations or SNA host for a `RealTime` runner, still in `statistics`, `transactions`."""
    def add_replay(self, name: str, frames: Sequence[tuple[int, bytes]]) -> None:
        """Adds an end station on port 0 that sends (time in ns, frame), in order of time, and keeps received frames."""
    def received(self, name: str) -> list[tuple[int, bytes]]:
        """Frames received by an end station, with times in ns."""
    def connect(
        self,
        node_a: str,
        port_a: int,
        node_b: str,
        port_b: int,
        delay_ns: int | None = None,
        loss_per_million: int | None = None,
    ) -> None:
        """Joins two ports by a wire with a delay and independent losses in either direction, 0 unless given."""
    def add_flow(self, kind: str, name: str, **parameters: object) -> None:
        """Adds a flow: a client on one host, and the service or sink that it needs on another.

        A wrong parameter is a ValueError that names it. Each flow has `group` (of flows that are reported together),
        `client` and `server` (names of hosts), the fields of `Ends` in Rust (`client_address`, `server_address`,
        `server_port`, `start_ns`, `stop_ns`, `tos`), and those of its kind's variant of `Traffic`. Several flows may
        share a server's port if its answers and type of service are the same.

        Args:
            kind: one of
                request_response: a client that asks and waits, over and over;
                messages: a client that submits messages, one after another, each answered; an answered message is a
                transaction, from its submission to the answer;
                stream: a client that sends as much as TCP takes;
                datagrams: a client that sends UDP datagrams at a rate that nothing changes.
            name: of the flow, its own.
            parameters: of the flow and of its kind.

        """
    def tap(self, node: str, port: int, pcap_path: str | PathLike[str]) -> None:
        """Captures a port's both directions in a pcap file with nanosecond timestamps; OSError if it can't be made."""
    def follow(self, filter: str, packets: int) -> None:
        """Follows the first `packets` that hosts, stations and replays send from here on and the filter wants.

        In place of those before. The filter's language is that of `phb-switch --trace-filter`, and its ingress port
        that of the sender; one that is not understood raises ValueError. What happens is the same, followed or not.
        """
    def followed(self, since: int = 0) -> dict[str, Any]:
        """Gives where followed packets were seen, without the first `since` sightings; empty where none are followed.

        `sightings` are, in order of time, (time in ns, node, port, `left` or `lost` or `arrived`, number of the
        content, bytes of the frame, its first 128 bytes). Packets of one content, such as a segment that is sent
        again, have one number. `packets` are those that have begun, `under_way` of these have neither arrived nor
        been lost on a wire, and `left_out` were wanted, too, but beyond the number.
        """
    def run(self, until_ns: int, progress: Callable[[int], object] | None = None) -> None:
        """Lets time pass up to `until_ns`; other Python threads run meanwhile.

        Args:
            until_ns: the end, since the start of the first run.
            progress: called with the time about forty times. What it raises ends the run, as Ctrl-C does; a later run
                goes on from there.

        Raises:
            OSError: a capture can't be written.
            RuntimeError: events without end at one and the same time.

        """
    def transactions(self) -> list[tuple[str, str, int, int]]:
        """Completed transactions (flow, group, start in ns, end in ns), in order of their ends."""
    def stamps(self) -> list[dict[str, Any]]:
        """Test packets of flows of kind `stamp` that came back, in the order of adding.

        Keys: `flow`, `group`, `sent_packets`, `probes`: of each (number, the reflector's number, and the times in ns at
        which it was sent, received, sent back and received).
        """
    def deliveries(self) -> list[dict[str, Any]]:
        """Deliveries of streams and datagrams, in the order of adding.

        Keys: `flow`, `group`, `sent_packets` and `received_packets` (0 for a stream), `sent_bytes` and `received_bytes`
        (payload), `received_by_second` (payload bytes, from second 0), `delays_ns` (of each datagram: time of arrival
        and one-way delay, in order of arrival).
        """
    def statistics(self) -> dict[str, Any]:
        """Counters of nodes, wires and clients.

        Keys: `now_ns`, `events`, `frames_in_flight` (sent and not arrived), `frames_on_wires` (those of
        them that have left their node), `lost_frames` (by wires), `unconnected_frames` (sent on ports without a wire),
        `hosts` (name: {frames_received, frames_sent, segments_received, datagrams_received, segments_retransmitted,
        resets_sent, resets_received, connections_opened, connections_accepted, connections_failed, connections_open,
        request_bytes_sent, request_bytes_received, reply_bytes_sent, reply_bytes_received, bytes_corrupted,
        dropped (reason: frames)}), `adapters` (name: {kind, outbound, inbound; of a CIP also channel_blocks,
        channel_busy_ns, cpu_busy_ns}; a direction: {received, received_bytes, sent, sent_bytes, held, dropped (reason:
        frames)}), `ports` (node: {port: {sent_frames, sent_bytes, lost_frames, received_frames,
        received_bytes, unconnected_frames}}), `flows` (name: {group, connections, failures, transactions}).

        Hosts: frames_received = segments_received + datagrams_received + dropped. Adapters: received = sent + dropped +
        held. All nodes and wires: frames sent = frames received + lost_frames +
        frames_in_flight.
        """
