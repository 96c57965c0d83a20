"""Runs a described network in Mininet.

Every node is a network namespace: hosts with the kernel's own TCP, switches and host adapters as processes between veth
interfaces. The controller pushes to the switches as to any; then the endpoints of the hosts run the flows.
"""

import asyncio
import json
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Self

import grpc

import phb
import phb_p4
from phb_lab.description import Adapter, Host, Network, RequestResponse, SnaHost, SnaStations
from phb_lab.emulation import addressing, interfaces, leftovers, requirements, switches
from phb_lab.emulation.capture import merge
from phb_lab.emulation.clock import Span
from phb_lab.emulation.jobs import HostJob, Report
from phb_lab.emulation.node import LINE_ENDS, NodeDescription
from phb_lab.emulation.processes import EmulationError, Process
from phb_lab.emulation.tools import check, chosen
from phb_lab.errors import UnsupportedError
from phb_lab.following import Followed
from phb_lab.levels import Achieved, Looks
from phb_lab.outcome import NANOSECONDS, Delivery, Outcome, Transaction
from phb_lab.snapshots import show_queue
from phb_lab.study import Snapshot
from phb_lab.virtual import EPOCH, of_adapter
from phb_switch import ExecutorName

if TYPE_CHECKING:
    from phb_lab.emulation.nodes import Member


_START_S = 60.0
_CONNECT_S = 0.5
# Between telling the endpoints the start of the run and the start itself.
_SETTLE_NS = NANOSECONDS // 4
_STEP_S = 0.1
_END_S = 30.0
# Of interfaces that aren't a host's: room for an SNA frame of a whole block, in Ethernet's own framing.
_LEAST_MTU = 1_500


class EmulatedRun:
    """One network, built, programmed and run once; a context manager, because it holds namespaces and processes.

    ``seed`` is that of Poisson traffic's intervals and the P4 random extern; ``tools`` are real tools in place of our
    generators, by name, ``executor`` is what runs phb-switch's programs, native code unless it is said.

    Raises:
        UnavailableError: Mininet can't run here.
        UnsupportedError: the target, or the kernel, can't do what the network asks.
    """

    def __init__(
        self,
        network: Network,
        *,
        seed: int,
        target: switches.Target = "phb-switch",
        tools: Sequence[str] = (),
        executor: ExecutorName | None = None,
    ) -> None:
        chosen(tools)
        check(network, tools)
        requirements.require(target)
        leftovers.clean()
        self._network = network
        self._seed = seed
        self._tools = tuple(tools)
        self._target: switches.Target = target
        self._executor = executor
        self._nodes: dict[str, Member] = {}
        self._described: dict[str, NodeDescription] = {}
        self._running: dict[str, Process] = {}
        self._peers: dict[tuple[str, int], tuple[str, int]] = {}
        self._switches: dict[str, Process] = {}
        self._taps: dict[Path, tuple[str, int]] = {}
        self._folder = leftovers.make_folder()
        with ExitStack() as stack:
            # One loop for all calls to the switches: gRPC's threads would wake a closed one.
            self._asyncio = stack.enter_context(asyncio.Runner())
            stack.callback(shutil.rmtree, self._folder, ignore_errors=True)
            _refuse(network)
            self._build(stack)
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _build(self, stack: ExitStack) -> None:
        from mininet.net import Mininet

        from phb_lab.emulation import nodes

        # It would raise limits of the whole machine.
        Mininet.inited = True
        mininet = Mininet(controller=None)
        stack.callback(mininet.stop)
        macs = addressing.host_macs(self._network)
        for host in self._network.hosts:
            self._add(stack, mininet.addHost(host.name, cls=nodes.EmulatedHost, ip=None))
        for node in _own_nodes(self._network):
            self._add(stack, mininet.addHost(node.name, cls=nodes.EmulatedNode, ip=None))
        for number, switch in enumerate(self._network.switches):
            address, own_seed = self._address(switch.name), self._seed % 2**32 + number
            command = switches.command(self._target, switch, address, own_seed, self._executor)
            added = mininet.addSwitch(
                switch.name, cls=nodes.EmulatedSwitch, command=command, log=self._log(switch.name), inNamespace=True
            )
            self._add(stack, added)
        attached: set[tuple[str, int]] = set()
        for number, wire in enumerate(self._network.wires):
            pairs = [(wire.a, wire.b)]
            if wire.delay_ns or wire.loss_per_million:
                line = f"wire-{number}"
                self._described[line] = NodeDescription.of_wire(line, wire, self._seed_of(line))
                self._add(stack, mininet.addHost(line, cls=nodes.EmulatedNode, ip=None))
                one, other = ((line, end) for end in LINE_ENDS)
                pairs = [(wire.a, one), (other, wire.b)]
            for one, other in pairs:
                nodes.join(mininet, (self._nodes[one[0]], one[1]), (self._nodes[other[0]], other[1]), macs)
                attached |= {one, other}
                self._peers |= {one: other, other: one}
        self._set_up_interfaces(attached)
        mininet.start()
        for switch in self._network.switches:
            child = self._nodes[switch.name].children[0]
            self._switches[switch.name] = Process(f"switch {switch.name}", child, self._log(switch.name))
        self._describe(attached)
        for name, described in self._described.items():
            self._running[name] = self._start(f"node {name}", name, "node", described.as_json())

    def _describe(self, attached: Set[tuple[str, int]]) -> None:
        ports: dict[str, list[int]] = {}
        for name, port in sorted(attached):
            ports.setdefault(name, []).append(port)
        for node in _own_nodes(self._network):
            if node.name in ports:
                self._described[node.name] = NodeDescription.of(node, ports[node.name], self._seed_of(node.name))

    def _seed_of(self, node: str) -> int:
        return Random(f"{self._seed}/{node}").randrange(2**63)

    def _add(self, stack: ExitStack, node: "Member") -> None:
        interfaces.settle(node)
        stack.callback(node.end_children)
        self._nodes[node.name] = node

    def _set_up_interfaces(self, attached: set[tuple[str, int]]) -> None:
        hosts = {host.name: host for host in self._network.hosts}
        blocks = (adapter.parameters.get("block_bytes", 0) for adapter in self._network.adapters)
        widest = max(_LEAST_MTU, *(host.mtu_bytes for host in self._network.hosts), *blocks)
        ports = {(switch.name, port.number) for switch in self._network.switches for port in switch.ports}
        for name, port in sorted(ports - attached):
            interfaces.leave_open(self._nodes[name], port)
        for name, port in sorted(ports | attached):
            mtu = hosts[name].mtu_bytes if name in hosts else widest
            interfaces.set_up(self._nodes[name], port, mtu)
        for name, host in hosts.items():
            if (name, 0) in attached:
                interfaces.address(self._nodes[name], host)
        if self._target == "bmv2":
            for switch in self._network.switches:
                for described in switch.ports:
                    interfaces.limit_rate(self._nodes[switch.name], described)

    def _start(self, what: str, node: str, module: str, *arguments: str) -> Process:
        log = self._log(f"{node}-{module}")
        command = [sys.executable, "-m", f"phb_lab.emulation.{module}", *arguments]
        process = Process(what, self._nodes[node].run(command, log=log), log)
        return process

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.log"

    def _address(self, switch: str) -> str:
        return f"unix:{self._folder / switch}.sock"

    def push_policies(self) -> None:
        """Wait for the switches, and push pipeline and policies to all of them at once.

        Raises:
            phb.PhbError: a policy file is wrong, or asks for what the target can't do, or a switch refuses an entry.
            EmulationError: a switch or an adapter doesn't start.
        """
        for process in self._running.values():
            process.wait_until_ready()
        for name, switch in self._switches.items():
            _wait_for_server(self._address(name), switch)
        self._asyncio.run(self._push())

    async def _push(self) -> None:
        await asyncio.gather(
            *(
                phb.push(
                    self._address(described.name),
                    described.policy_files,
                    device_id=described.device_id,
                    artifact=phb_p4.artifact_path(),
                    p4info=phb_p4.p4info_path(),
                    at=EPOCH,
                    target=self._target,
                    draw=Random(f"{self._seed}/{described.name}/keys").getrandbits,
                )
                for described in self._network.switches
            )
        )

    def tap(self, node: str, port: int, path: Path) -> None:
        """Capture both directions of a port into a pcap file."""
        self._taps[path] = (node, port)

    def follow(self, followed: Followed) -> None:
        """Refuse: a packet is known over hosts and wires in virtual time only."""
        raise UnsupportedError(f"--trace {followed.text}: packets are followed in virtual time only")

    def watch(self, looks: Looks) -> Achieved:
        """Refuse: switches are read while time stands still."""
        raise UnsupportedError("switches are watched in virtual time only")

    def journeys(self) -> None:
        """Give nothing: see :meth:`follow`."""

    def run(self, duration_ns: int, progress: Callable[[int], None], snapshots: Sequence[Snapshot] = ()) -> Outcome:
        """Let time pass; ``progress`` is called with it (ns) several times a second, and may raise to stop.

        Raises:
            EmulationError: a process of the run failed.
        """
        captures = self._start_captures()
        endpoints = {host.name: self._start_endpoint(host) for host in self._network.hosts if self._has_flows(host)}
        for process in (*endpoints.values(), *(each for pair in captures.values() for each in pair.values())):
            process.wait_until_ready()
        zero_ns = time.monotonic_ns() + _SETTLE_NS
        zero_realtime_ns = time.time_ns() + zero_ns - time.monotonic_ns()
        span = Span(zero_ns, zero_ns + duration_ns)
        for process in (*self._running.values(), *endpoints.values()):
            process.tell(json.dumps({"zero_ns": span.zero_ns, "end_ns": span.end_ns}))
        processes = [*endpoints.values(), *self._running.values(), *self._switches.values()]
        waiting = sorted(snapshots, key=lambda snapshot: snapshot.at_ns, reverse=True)
        shown = {}
        while (now := span.now()) < duration_ns:
            progress(max(now, 0))
            if waiting and waiting[-1].at_ns <= now:
                snapshot = waiting.pop()
                asked = show_queue(self._network, snapshot, self._address(snapshot.switch), EPOCH)
                shown[snapshot.label] = self._asyncio.run(asked)
                continue
            for process in processes:
                process.check()
            time.sleep(min(_STEP_S, (duration_ns - now) / NANOSECONDS))
        progress(duration_ns)
        for endpoint in endpoints.values():
            # Its standard input stays open: its end would mean that the runner is gone.
            endpoint.wait(_END_S)
        for path, pair in captures.items():
            for process in pair.values():
                process.finish(_END_S)
            merge(pair, path, zero_realtime_ns)
        said = {name: json.loads(process.finish(_END_S)) for name, process in self._running.items()}
        reports = [Report.read(self._report(name)) for name in endpoints]
        return self._outcome(reports, said, shown, duration_ns)

    def _has_flows(self, host: Host) -> bool:
        return any(host.name in (flow.client, flow.server) for flow in self._network.flows)

    def _start_endpoint(self, host: Host) -> Process:
        job = self._folder / f"{host.name}.job.json"
        HostJob.of(self._network, host, self._seed, self._tools).write(job)
        return self._start(f"host {host.name}", host.name, "endpoint", str(job), str(self._report(host.name)))

    def _report(self, host: str) -> Path:
        return self._folder / f"{host}.report.json"

    def _start_captures(self) -> Mapping[Path, Mapping[Path, Process]]:
        """Start two captures per tap, one at each end of its wire: each has what the other end sends."""
        started = {}
        for number, (path, place) in enumerate(self._taps.items()):
            pair = {}
            for node, port in (place, self._peers[place]):
                file = self._folder / f"{number}-{node}-{port}.pcap"
                pair[file] = self._start(f"capture of {node} {port}", node, "capture", f"eth{port}", str(file))
            started[path] = pair
        return started

    def _outcome(
        self, reports: Sequence[Report], said: Mapping[str, Any], shown: Mapping[str, str], duration_ns: int
    ) -> Outcome:
        flows = self._network.flows
        counted = {name: each["counted"] for name, each in said.items() if each["counted"] is not None}
        adapters = {adapter.name for adapter in self._network.adapters}
        ended = [
            Transaction(flows[number].name, flows[number].group, start, end)
            for report in reports
            for number, start, end in report.transactions
        ]
        for stations in self._network.stations:
            ended += [
                Transaction(stations.name, stations.group, *times) for times in said[stations.name]["transactions"]
            ]
        in_time = (transaction for transaction in ended if transaction.end_ns <= duration_ns)
        return Outcome(
            transactions=tuple(sorted(in_time, key=lambda transaction: transaction.end_ns)),
            deliveries=self._deliveries(reports, duration_ns),
            conservation=tuple(of_adapter(name, each) for name, each in counted.items()),
            shared=self._asyncio.run(self._shared()),
            adapters={name: each for name, each in counted.items() if name in adapters},
            snapshots=shown,
            wall_s=duration_ns / NANOSECONDS,
        )

    def _deliveries(self, reports: Sequence[Report], duration_ns: int) -> tuple[Delivery, ...]:
        sent = {number: each for report in reports for number, each in report.sent.items()}
        received = {number: each for report in reports for number, each in report.received.items()}
        seconds = -(-duration_ns // NANOSECONDS)
        deliveries = []
        for number, each in sorted(received.items()):
            flow = self._network.flows[number]
            by_second = [*each.by_second, *[0] * seconds][:seconds]
            deliveries.append(
                Delivery(
                    flow=flow.name,
                    group=flow.group,
                    sent_packets=sent[number].packets,
                    sent_bytes=sent[number].octets,
                    received_packets=each.packets,
                    received_bytes=each.octets,
                    received_by_second=tuple(by_second),
                    delays_ns=tuple(each.delays_ns),
                    in_flight_packets=each.late,
                )
            )
        return tuple(deliveries)

    async def _shared(self) -> dict[str, int]:
        shared = {}
        for switch in self._network.switches:
            counters = await phb.read_counters(
                self._address(switch.name),
                ["shared_conversation"],
                device_id=switch.device_id,
                artifact=phb_p4.artifact_path(),
                p4info=phb_p4.p4info_path(),
            )
            shared[switch.name] = sum(cell.packets for cell in counters["shared_conversation"].values())
        return shared


def _own_nodes(network: Network) -> list[Adapter | SnaStations | SnaHost]:
    """List the nodes that run with the code of virtual time."""
    return [*network.adapters, *network.stations, *network.sna_hosts]


def _refuse(network: Network) -> None:
    """Refuse what this machine's kernel, or our endpoints, can't do."""
    if network.stamps:
        raise UnsupportedError(f"{network.name}: test packets (STAMP) are sent in virtual time only")
    for host in network.hosts:
        if host.relays:
            raise UnsupportedError(
                f"{network.name}: {host.name} is the TCP of a TN3270 server on a CIP; a kernel is none"
            )
        if not requirements.has_congestion_control(host.congestion_control):
            raise UnsupportedError(f"host {host.name}: this kernel has no {host.congestion_control}")
    services: dict[tuple[str, int], RequestResponse] = {}
    for flow in network.flows:
        if isinstance(flow, RequestResponse):
            same = services.setdefault((flow.server_address, flow.server_port), flow)
            if (same.request_bytes, same.reply_bytes) != (flow.request_bytes, flow.reply_bytes):
                raise UnsupportedError(
                    f"{network.name}: {same.name} and {flow.name} ask one service for replies of different lengths"
                )


def _wait_for_server(address: str, switch: Process) -> None:
    deadline = time.monotonic() + _START_S
    with grpc.insecure_channel(
        address, options=[("grpc.max_reconnect_backoff_ms", 200), ("grpc.default_authority", "localhost")]
    ) as channel:
        ready = grpc.channel_ready_future(channel)
        while True:
            try:
                ready.result(timeout=_CONNECT_S)
                return
            except grpc.FutureTimeoutError:
                switch.check()
                if time.monotonic() > deadline:
                    raise EmulationError(f"{switch.what}: no P4Runtime server after {_START_S:g} s") from None
