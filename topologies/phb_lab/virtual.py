"""Runs a described network in virtual time.

Each switch is the embedded switch with a P4Runtime server of its own on loopback. The controller pushes pipeline and
policies to all of them over gRPC, as to any switch; only then does virtual time start.
"""

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Self

import phb
import phb_p4
from phb import Report
from phb.pipeline_names import DropReason
from phb.stamp import Probe, figures_of
from phb_lab import event_loop
from phb_lab.description import Network, Node, parameters_of
from phb_lab.errors import ConservationError, UsageError
from phb_lab.following import Followed, Journeys
from phb_lab.following.watching import Following
from phb_lab.levels import Achieved, Looks
from phb_lab.outcome import Conservation, Delivery, Measured, Outcome, Transaction
from phb_lab.snapshots import show_queue
from phb_lab.study import Snapshot
from phb_switch import ExecutorName, P4RuntimeServer, PortConfig, Switch
from phb_switch import Network as NativeNetwork

if TYPE_CHECKING:
    from phb_lab.levels.watching import Watching

# When virtual time starts, for policy rules with a time of day: a Monday at noon, inside every window of the sources.
EPOCH = datetime(2000, 1, 3, 12, 0)

# How long the network runs on for datagrams on their way at the end; those that haven't come by then count as lost.
_DRAIN_STEP_NS = 1_000_000_000
_DRAIN_STEPS = 10

# Parts of a run in which packets are followed.
_PARTS = 1_000


class VirtualRun:
    """One network, built, programmed and run once; a context manager, because it holds servers.

    ``seed`` is that of initial sequence numbers, ephemeral ports, Poisson processes, loss on wires and the P4 random
    extern. ``executor`` is what runs programs, native code unless it is said: results are the same, to the byte.

    Raises:
        UsageError: the network needs what virtual time does not have.
        ValueError: This build doesn't have the executor.
    """

    def __init__(self, network: Network, *, seed: int, executor: ExecutorName | None = None) -> None:
        self._network = network
        self._switches: dict[str, Switch] = {}
        self._servers: list[P4RuntimeServer] = []
        self._addresses: dict[str, str] = {}
        self._reports: dict[str, Report] = {}
        self._native = NativeNetwork(seed)
        self._taps: list[Path] = []
        self._seed = seed
        self._following: Following | None = None
        self._watching: Watching | None = None
        for number, described in enumerate(network.switches):
            ports = {
                port.number: PortConfig(
                    rate_bps=port.rate_bps,
                    overhead_bytes=port.overhead_bytes,
                    transmit_ring=port.transmit_ring,
                )
                for port in described.ports
            }
            switch = Switch(described.name, ports, seed=seed + number, executor=executor)
            self._switches[described.name] = switch
            self._native.add_switch(switch)
        for host in network.hosts:
            if host.congestion_control != "reno":
                raise UsageError(f"{host.name}: virtual time has Reno only, not {host.congestion_control}")
        nodes: Sequence[Node] = (*network.hosts, *network.adapters, *network.stations, *network.sna_hosts)
        for node in nodes:
            self._native.add(node.kind, node.name, **parameters_of(node))
        for wire in network.wires:
            self._native.connect(*wire.a, *wire.b, wire.delay_ns, wire.loss_per_million)
        for flow in network.flows:
            self._native.add_flow(flow.kind, **vars(flow))
        for stamp in network.stamps:
            self._native.add_flow(stamp.kind, **vars(stamp))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._watching is not None:
            self._watching.close()
        for server in self._servers:
            server.stop()

    def push_policies(self) -> None:
        """Serve P4Runtime for every switch, and push pipeline and policies to all of them at once.

        Raises:
            phb.PhbError: a policy file is wrong, or a switch refuses an entry; its own words are in the message.
        """
        for described in self._network.switches:
            switch = self._switches[described.name]
            # It serves gNMI, too, for shapers.
            self._servers.append(P4RuntimeServer(switch, device_id=described.device_id))
        addresses = [f"127.0.0.1:{server.start()}" for server in self._servers]
        self._addresses = {switch.name: at for switch, at in zip(self._network.switches, addresses, strict=True)}
        event_loop.run(self._push(addresses))

    async def _push(self, addresses: Sequence[str]) -> None:
        reports = await asyncio.gather(
            *(
                phb.push(
                    address,
                    described.policy_files,
                    device_id=described.device_id,
                    artifact=phb_p4.artifact_path(),
                    p4info=phb_p4.p4info_path(),
                    at=EPOCH,
                    draw=Random(f"{self._seed}/{described.name}/keys").getrandbits,
                )
                for address, described in zip(addresses, self._network.switches, strict=True)
            )
        )
        self._reports = {switch.name: report for switch, report in zip(self._network.switches, reports, strict=True)}

    @property
    def events(self) -> int:
        """Frames that left or arrived and timers that fired, so far."""
        return int(self._native.statistics()["events"])

    def tap(self, node: str, port: int, path: Path) -> None:
        """Capture both directions of a port into a pcap file."""
        self._native.tap(node, port, str(path))
        self._taps.append(path)

    def follow(self, followed: Followed) -> None:
        """Follow packets from now on; what happens is the same.

        Raises:
            UsageError: the filter isn't understood.
        """
        try:
            self._following = Following(self._native, self._switches, followed)
        except ValueError as error:
            raise UsageError(f"--trace {followed.text}: {error}") from error

    def watch(self, looks: Looks) -> Achieved:
        """Look at the switches now and then, and judge the objectives of their policies; what happens is the same.

        Raises:
            UsageError: there are to be objectives, and no policy states any.
        """
        from phb_lab.levels.watching import Watching

        looks.pushed(self._reports)
        self._watching = Watching(self._network, self._addresses, EPOCH, looks)
        self._watching.look(self._native.now_ns)
        return self._watching.achieved

    def journeys(self) -> Journeys | None:
        """Give the ways of the packets that were followed; None without :meth:`follow`."""
        return None if self._following is None else self._following.journeys(self._network)

    def run(self, duration_ns: int, progress: Callable[[int], None], snapshots: Sequence[Snapshot] = ()) -> Outcome:
        """Let virtual time pass; ``progress`` is called with it (ns) some dozens of times, and it stops for snapshots.

        Raises:
            ConservationError: a node or a wire lost count of its packets.
            UsageError: a snapshot is wanted after the end, or before policies were pushed.
        """
        shown = {}
        wall_s = 0.0
        for snapshot in sorted(snapshots, key=lambda snapshot: snapshot.at_ns):
            if snapshot.at_ns > duration_ns or snapshot.switch not in self._addresses:
                raise UsageError(f"snapshot {snapshot.label}: expected a time within the run of a programmed switch")
            wall_s += self._pass(snapshot.at_ns, progress)
            asked = show_queue(self._network, snapshot, self._addresses[snapshot.switch], EPOCH)
            shown[snapshot.label] = event_loop.run(asked)
        wall_s += self._pass(duration_ns, progress)
        statistics = self._native.statistics()
        drops = {name: _pipeline_drops(switch) for name, switch in self._switches.items()}
        conservation = (
            *(_of_switch(name, switch.statistics(), drops[name]) for name, switch in self._switches.items()),
            *(of_adapter(name, counted) for name, counted in statistics["adapters"].items()),
            *(_of_host(name, counted) for name, counted in statistics["hosts"].items()),
            _of_wires(statistics),
        )
        wrong = [str(node) for node in conservation if not node.holds]
        if statistics["unconnected_frames"]:
            wrong.append(f"{statistics['unconnected_frames']} frames sent on ports without a wire")
        if wrong:
            raise ConservationError(f"{self._network.name}: packets unaccounted for: {'; '.join(wrong)}")
        transactions = tuple(Transaction(*transaction) for transaction in self._native.transactions())
        stamps = self._stamps()
        shared = {name: _shared_conversations(switch) for name, switch in self._switches.items()}
        return Outcome(
            transactions=transactions,
            deliveries=self._deliveries(duration_ns, progress),
            conservation=conservation,
            shared=shared,
            adapters=statistics["adapters"],
            snapshots=shown,
            wall_s=wall_s,
            stamps=stamps,
        )

    def _stamps(self) -> tuple[Measured, ...]:
        """Test packets that are back by now; those on their way count as lost, nobody knows where."""
        if not self._network.stamps:
            return ()
        measured = []
        for session, told in zip(self._network.stamps, self._native.stamps(), strict=True):
            probes = tuple(Probe(*probe) for probe in told["probes"])
            figures = figures_of(told["sent_packets"], probes, stateful=True)
            measured.append(Measured(session, figures, probes))
        return tuple(measured)

    def _deliveries(self, duration_ns: int, progress: Callable[[int], None]) -> tuple[Delivery, ...]:
        """Payload that came. The network runs on until each missing datagram has come or is known to be lost.

        It is lost when one sent after it has come. The rest of the outcome doesn't change; captures are cut at the end.
        """
        ended = [Delivery(**delivery) for delivery in self._native.deliveries()]
        missing = {each.flow: each.lost_packets for each in ended if each.lost_packets}
        if not missing:
            return tuple(ended)
        sizes = {path: path.stat().st_size for path in self._taps}
        in_flight: dict[str, int] = {}
        for step in range(1, _DRAIN_STEPS + 1):
            self._native.run(duration_ns + step * _DRAIN_STEP_NS, lambda now: progress(duration_ns))
            overtaken = set()
            for delivery in self._native.deliveries():
                late = [at - delay for at, delay in delivery["delays_ns"] if at > duration_ns]
                in_flight[delivery["flow"]] = sum(sent <= duration_ns for sent in late)
                if len(late) > in_flight[delivery["flow"]]:
                    overtaken.add(delivery["flow"])
            if all(flow in overtaken or in_flight[flow] == count for flow, count in missing.items()):
                break
        for path, size in sizes.items():
            os.truncate(path, size)
        return tuple(
            replace(each, in_flight_packets=in_flight[each.flow] if each.flow in missing else 0) for each in ended
        )

    def _pass(self, until_ns: int, progress: Callable[[int], None]) -> float:
        """Run up to a time, with looks at the switches on the way; gives the wall seconds that the running took."""
        wall_s = 0.0
        while self._watching is not None:
            period_ns = self._watching.period_ns
            next_ns = (self._native.now_ns // period_ns + 1) * period_ns
            if next_ns > until_ns:
                break
            wall_s += self._pass_blind(next_ns, progress)
            self._watching.look(next_ns)
        return wall_s + self._pass_blind(until_ns, progress)

    def _pass_blind(self, until_ns: int, progress: Callable[[int], None]) -> float:
        from_ns = self._native.now_ns
        started = time.perf_counter()
        if self._following is not None:
            # Short parts, for switches keep traces of some thousand packets for whoever takes them.
            for part in range(1, _PARTS):
                self._native.run(from_ns + (until_ns - from_ns) * part // _PARTS)
                self._following.take()
                progress(self._native.now_ns)
        self._native.run(until_ns, progress)
        return time.perf_counter() - started


def _pipeline_drops(switch: Switch) -> dict[str, int]:
    if not switch.loaded:
        return {}
    counted = enumerate(switch.read_counter("PhbIngress.drops"))
    return {DropReason(reason).name.lower(): packets for reason, (packets, _) in counted if packets}


def _shared_conversations(switch: Switch) -> int:
    if not switch.loaded:
        return 0
    return sum(packets for packets, _ in switch.read_counter("PhbIngress.conversation.shared_conversation"))


def _of_switch(name: str, counted: dict[str, Any], pipeline_drops: dict[str, int]) -> Conservation:
    """The switch counts drops in ingress together; the P4 program's reasons replace them, and both must agree."""
    dropped = {reason: packets for reason, packets in counted["dropped"].items() if packets and reason != "ingress"}
    return Conservation(
        node=name,
        received=counted["received"] + counted["injected"],
        sent=counted["transmitted"] + counted["to_cpu"],
        dropped=dropped | pipeline_drops,
        held=counted["queued"],
    )


def of_adapter(name: str, counted: Mapping[str, Any]) -> Conservation:
    """Account of a host adapter, from what its node counts."""
    ways = (counted["outbound"], counted["inbound"])
    return Conservation(
        node=name,
        received=sum(way["received"] for way in ways),
        sent=sum(way["sent"] for way in ways),
        dropped=_added(way["dropped"] for way in ways),
        held=sum(way["held"] for way in ways),
    )


def _of_host(name: str, counted: dict[str, Any]) -> Conservation:
    """Account of a host, which takes or drops each frame it receives; ``sent`` is what its TCP and UDP took."""
    return Conservation(
        node=name,
        received=counted["frames_received"],
        sent=counted["segments_received"] + counted["datagrams_received"],
        dropped={reason: packets for reason, packets in counted["dropped"].items() if packets},
        held=0,
    )


def _of_wires(statistics: dict[str, Any]) -> Conservation:
    """All wires together: ``received`` is what went onto one, ``sent`` what came off its other end."""
    ports = [port for node in statistics["ports"].values() for port in node.values()]
    lost = statistics["lost_frames"]
    return Conservation(
        node="wires",
        received=sum(port["sent_frames"] for port in ports),
        sent=sum(port["received_frames"] for port in ports),
        dropped={"loss": lost} if lost else {},
        held=statistics["frames_on_wires"],
    )


def _added(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    total: dict[str, int] = {}
    for part in parts:
        for reason, packets in part.items():
            if packets:
                total[reason] = total.get(reason, 0) + packets
    return total
