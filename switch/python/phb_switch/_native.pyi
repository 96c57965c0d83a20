"""The embedded switch and the virtual network, written in Rust.

Times are nanoseconds, rates bit/s, lengths bytes of the Ethernet frame (no preamble, no frame check sequence).
Values of fields and parameters are big-endian bytes of any length whose number fits the field.
"""

from collections.abc import Callable, Mapping, Sequence, Set
from os import PathLike
from typing import Any, final

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
    "Tls",
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

        Args:
            table: its name.
            matches: key field and what it matches; fields that are left out match anything.
            priority: above 0 in a table with ternary, range or optional keys, else 0.
            action: name of the action; None for an entry with a member or group.
            parameters: of the action.
            member: of the table's action profile.
            group: of the table's action profile.
            idle_timeout_ns: after how long without a hit the entry is idle; 0 is never.

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

        `rates` is committed rate and burst, peak rate and burst, in bytes/s and bytes (or packets/s and packets, as the
        program declares the meter); None: every packet is green.
        """
    @staticmethod
    def direct_meter(
        table: str,
        matches: Sequence[tuple[str, Match]],
        priority: int,
        rates: tuple[int, int, int, int] | None,
    ) -> Update:
        """Configures the meter of an entry, as `meter` does a cell."""
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

        Args:
            session: its number.
            replicas: who gets copies.
            class_of_service: priority of the copies.
            packet_length_bytes: to how many bytes they are cut; None leaves them whole.

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

    It neither reads a clock nor touches an interface: a `Network` or a `RealTime` runner drives it. It may be
    programmed from other threads while it runs; each call sees it between two packets.
    """

    def __new__(
        cls,
        name: str,
        ports: Mapping[int, PortConfig],
        seed: int = 1,
        cpu_port: int | None = None,
        drop_port: int = 511,
    ) -> Switch: ...
    name: str
    cpu_port: int | None
    drop_port: int
    seed: int
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
        """Applies a batch; no packet sees the middle of it.

        Args:
            updates: what to change, in this order.
            atomic: all or nothing: the first failure undoes what was done, and the others are ABORTED.

        Returns:
            For each update its canonical code (google.rpc.Code; 0 is OK) and a message.

        """
    def tables(self) -> list[Table]: ...
    def counters(self) -> dict[str, int]:
        """Name and number of cells of each indirect counter."""
    def registers(self) -> dict[str, tuple[int, int]]:
        """Name, number of cells and width in bits of each register."""
    def meters(self) -> dict[str, int]:
        """Name and number of cells of each indirect meter."""
    def read_counter(self, name: str, first: int = 0, count: int | None = None) -> list[tuple[int, int]]:
        """Packets and bytes of `count` cells (None: all that follow) from cell `first`.

        Raises:
            KeyError: there is no such counter.
            IndexError: it has no such cell.

        """
    def read_direct_counter(self, table: str, matches: Sequence[tuple[str, Match]], priority: int) -> tuple[int, int]:
        """Packets and bytes that hit an entry.

        Raises:
            KeyError: no such table or entry.
            ValueError: the table has no direct counter, or the key does not fit.

        """
    def read_register(self, name: str, first: int = 0, count: int | None = None) -> list[int]:
        """The values of `count` cells (None: all that follow) from cell `first`.

        Raises:
            KeyError: there is no such register.
            IndexError: it has no such cell.

        """
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
        passed_packets, passed_bytes, dropped_packets}])})`.
        """
    def check(self) -> int:
        """The imbalance of the conservation law (see `statistics`); 0 unless there is a bug."""
    def packet_out(self, frame: bytes) -> None:
        """Injects a frame at the CPU port; it enters the pipeline at once if a `RealTime` runner runs the switch.

        Otherwise it enters with the switch's next packet or tick.

        Raises:
            ValueError: the switch has no CPU port.

        """
    def packets_in(self, timeout_ms: int = 0) -> list[bytes]:
        """Takes the frames that went out of the CPU port, waiting up to `timeout_ms` for the first."""
    def digests_in(self, timeout_ms: int = 0) -> list[tuple[str, list[bytes]]]:
        """Takes the digest messages of the program, waiting up to `timeout_ms` for the first.

        Returns:
            For each the name of its list, and its fields, big-endian in as many bytes as they take.

        """
    def process(self, port: int, frame: bytes, now_ns: int) -> list[tuple[int, int, bytes]]:
        """Drives the switch by hand: a frame arrives, and everything that follows happens until it is idle.

        Not for a switch that a network or a runner drives. Times must not decrease from call to call.

        Returns:
            Time in ns, port and frame of each transmission.

        """

class PortError(Exception):
    """A port that can't be had; `str()` is one line that says why."""

@final
class Port:
    """A place where frames come in and go out. It is open from its making on; one runner can take it, once."""

    @staticmethod
    def interface(name: str, *, rings: bool = True) -> Port:
        """A network interface, for example `veth0`, in promiscuous mode.

        Without rings, or where the kernel gives none, frames are copied by one system call each.

        Raises:
            PortError: no such interface, not Ethernet, or no permission (root or CAP_NET_RAW).

        """
    @staticmethod
    def tap(name: str) -> Port:
        """A TAP interface; one that is not there is made, switched on, and goes with the port.

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
        """This port, with what passes it kept in NAME_in.pcap and NAME_out.pcap; takes this one's place.

        Raises:
            PortError: a file that can't be made.

        """
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
        """Joins a serialized P4Info and the program that `switch` has loaded.

        Raises:
            RefusedError: they do not agree, or something is beyond this switch.

        """
    def write(self, request: Write, ids: Set[int] | None = None) -> tuple[str, bytes] | None:
        """Applies a batch; with `ids`, only to those objects of the p4info.

        Returns:
            None if all of it succeeded, else a message and a serialized google.rpc.Status with one p4.v1.Error for each
            update.

        Raises:
            RefusedError: the request as a whole is wrong; nothing has been done.

        """
    def read(self, request: Read, ids: Set[int] | None = None) -> Reader:
        """Begins to answer a batch of reads; with `ids`, of those objects of the p4info only.

        Entries are told as they are at this moment.
        """
    def carry_over(self, old: Configuration) -> None:
        """Takes over what clients wrote to `old`, and what counters and registers hold.

        Raises:
            RefusedError: something does not fit.

        """
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
        """A runner that does not run yet; it takes the ports, which are closed with it.

        Args:
            node: what it runs.
            ports: what is attached, by port number.
            busy_poll_us: how long to look for further frames after one has come, before sleeping: less delay for more
                processor time.
            report: called from the runner's thread with a line about each interface that goes, or comes back;
                without it, the lines go to standard error.

        """
    def start(self) -> None:
        """Starts the thread.

        Raises:
            RuntimeError: it runs already.

        """
    def stop(self) -> None:
        """Stops the thread and waits for its end; does nothing if it is not running."""
    def statistics(self) -> dict[str, Any]:
        """Counters of the ports.

        Keys: `running`, `error` (None, or why the thread ended), `failures` (a line for each file of a port that could
        not be read or written to its end), and `ports`, by number: `name`; `link` ("up", "down", "absent");
        `without_rings` (None, or why frames are copied one by one); `missed` (found no room before the switch);
        `receive_errors`; `send_errors` (too long for the interface, no room, interface down); `refused` (left to
        hardware in a way that can't be undone); `segmented` (left whole, and cut); `not_captured` (passed, but missing
        in a capture that could not be written).
        """

@final
class Tls:
    """Files of TLS in PEM, read anew when they change, and what clients have to show."""

    def __new__(
        cls,
        certificate: str | PathLike[str],
        key: str | PathLike[str],
        *,
        client_authority: str | PathLike[str] | None = None,
        clients: str = "required",
    ) -> Tls:
        """Names files.

        Args:
            certificate: the server's certificate chain.
            key: its private key, without a password.
            client_authority: what clients' certificates are checked against; without it they aren't asked.
            clients: `required`, `optional` (those without one may read) or `none`.

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
        """Binds a certificate.

        Args:
            name: its common name, or one of its alternative names (DNS name, URI, IP address, e-mail).
            roles: which it may name; "" is the default role, None any.
            device_ids: which it may speak with; None any.
            read_only: neither writes nor configures nor becomes primary.

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
        """Describes a role.

        Args:
            name: of the role.
            objects: ids or names of what in the p4info is the role's; None all.
            packet_in: whether packet-ins are for it.
            packet_out: whether it may send packets.
            pipeline: whether it may set the forwarding-pipeline config.
            replication: whether it may write multicast groups and clone sessions.
            gnmi: paths that its clients may set, with all below them.

        """

@final
class P4RuntimeServer:
    """P4Runtime, gNMI, health and reflection for one switch, on threads of their own.

    Several may run in one process. The switch may be driven by a virtual network, by a real-time runner, or not at all.
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
            switch: what it programs.
            device_id: the only device it answers for.
            address: `HOST:PORT` or `unix:PATH`; port 0 takes a free one. By default any on loopback.
            names: of the interfaces, by port number, for gNMI; other ports are called by their number.
            runner: counts what happens at the interfaces, for gNMI.
            tls: without it, it listens in clear text.
            bindings: what clients may do by their certificates; without them anybody may do anything.
            roles: what roles may do, where there are bindings.
            gnmi: whether it speaks gNMI.
            like_bmv2: whether bmv2's word holds where it differs from the specification.
            workers: threads that serve.

        """
    def start(self) -> int:
        """Starts serving.

        Returns:
            The port it listens at; 0 for a Unix socket.

        Raises:
            OSError: the address can not be used, or a file of TLS.

        """
    def stop(self) -> None:
        """Ends all streams and stops serving. A stopped server can not be started again."""
    @property
    def address(self) -> str:
        """Where it listens; before the start, where it is to."""
    def __enter__(self) -> P4RuntimeServer: ...
    def __exit__(self, *_exception: object) -> None: ...

LIMITS: Mapping[str, int]
"""Limits of a server's resources for clients; docs/operate/p4runtime.md has them with their reasons."""

@final
class Adapter:
    """A node of a network, for a `RealTime` runner."""

@final
class Network:
    """A virtual network: nodes and wires in virtual time.

    Nodes, wires and traffic are added first; then time runs, in one go or in several. The same calls with the same seed
    give the same events, byte for byte. A wrong argument is a ValueError that begins with the argument's name.
    """

    now_ns: int
    """The time, in ns since the start."""

    def __new__(cls, seed: int) -> Network:
        """An empty network at time 0.

        Args:
            seed: draws initial sequence numbers, ephemeral ports, Poisson processes, and what wires lose.

        """
    def add_switch(self, switch: Switch) -> None:
        """Adds a switch under its own name. It may be programmed through P4Runtime before and after."""
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
        """An adapter, a line, SNA stations or their host, to be run by a `RealTime` runner.

        `statistics` and `transactions` tell what it does there.
        """
    def add_replay(self, name: str, frames: Sequence[tuple[int, bytes]]) -> None:
        """Adds an end station that sends frames at given times and keeps what it receives; its port is 0.

        Args:
            name: of the node.
            frames: time in ns and frame, in order of time.
        """
    def received(self, name: str) -> list[tuple[int, bytes]]:
        """Gives the frames that an end station has received, each with its time in ns."""
    def connect(
        self,
        node_a: str,
        port_a: int,
        node_b: str,
        port_b: int,
        delay_ns: int | None = None,
        loss_per_million: int | None = None,
    ) -> None:
        """Joins two ports by a wire.

        Args:
            node_a: name of a node.
            port_a: one of its ports.
            node_b: name of a node.
            port_b: one of its ports.
            delay_ns: how long a frame is on its way, in either direction; 0 unless given.
            loss_per_million: how many of a million frames are lost, drawn for each direction by itself; 0 unless given.

        """
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
        """Captures both directions of a port into a pcap file with nanosecond timestamps; OSError if it can't."""
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
        """The completed transactions as (flow, group, start in ns, end in ns), in order of their ends."""
    def deliveries(self) -> list[dict[str, Any]]:
        """Gives the deliveries of streams and datagrams, in the order in which they were added.

        Keys: `flow`, `group`, `sent_packets` and `received_packets` (0 for a stream), `sent_bytes` and `received_bytes`
        (payload), `received_by_second` (payload bytes, from second 0), `delays_ns` (of each datagram: time of arrival
        and one-way delay, in order of arrival).
        """
    def statistics(self) -> dict[str, Any]:
        """Gives the counters of nodes, wires and clients.

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
