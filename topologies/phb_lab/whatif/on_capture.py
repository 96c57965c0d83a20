"""A policy on a capture: the packets that came, at the times they came, through one switch.

The traffic doesn't answer: TCP of a capture has already answered to the network it was taken in. Packets that a policy
drops are not sent again, and none follow earlier where it lets them through faster. For short queues that is what
happens; for a policy that changes how much TCP sends, run a network.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Literal

import phb
import phb_p4
from phb.device.artifact import Artifact
from phb.explain import Arrival, Explanation, LineRate, explain, read_capture
from phb.sources import read_sources
from phb_lab import event_loop
from phb_lab.errors import LabError, UsageError
from phb_lab.outcome import NANOSECONDS
from phb_lab.whatif.passages import Seen, measure, pair
from phb_switch import Network, P4RuntimeServer, PortConfig, Switch

By = Literal["class", "rule", "dscp"]
Values = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Capture:
    """Packets to send into a switch.

    Attributes:
        frames: (time in ns from the first packet, ingress port, Ethernet frame) in order of time.
        at: when the first packet was captured (UTC); rules are judged at this moment.
        duration_s: from the first packet to the last, at least 1.
    """

    frames: tuple[tuple[int, int, bytes], ...]
    at: datetime
    duration_s: float


def read(path: Path, policy_files: Sequence[Path], port: str | None) -> tuple[Capture, tuple[Arrival, ...]]:
    """Read a pcap or pcapng file; parts of frames that it lacks are filled with zeros.

    ``policy_files`` know the ports' names; packets that have none arrive at ``port``.

    Raises:
        phb.InputError: no capture, or a policy file is wrong.
        UsageError: no packet in it, or one arrives at a port that the policy doesn't know.
    """
    policy = read_sources([str(file) for file in policy_files])
    arrivals = tuple(sorted(read_capture(path), key=lambda arrival: arrival.time_ns))
    if not arrivals:
        raise UsageError(f"--capture {path}: found no packet")
    first = arrivals[0].time_ns
    frames = []
    for arrival in arrivals:
        name = arrival.port if arrival.port is not None else port
        if name is None:
            raise UsageError(f"--capture {path}: its packets don't say where they arrive, expected --port PORT")
        found = policy.find_port(int(name) if isinstance(name, str) and name.isdigit() else name)
        if found is None or found.number is None:
            known = ", ".join(each.name or str(each.number) for each in policy.ports)
            raise UsageError(f"{arrival.origin}: found the port {name}, expected one of: {known}")
        frames.append((arrival.time_ns - first, found.number, arrival.frame.ljust(arrival.length, b"\0")))
    last_ns = arrivals[-1].time_ns - first
    return Capture(
        tuple(frames), datetime.fromtimestamp(first / NANOSECONDS, UTC), max(last_ns, NANOSECONDS) / NANOSECONDS
    ), arrivals


def classify(
    arrivals: Sequence[Arrival], policy_files: Sequence[Path], at: datetime, by: By, port: str | None
) -> list[str]:
    """Name the class of each packet under these policy files.

    Raises:
        phb.PhbError: the files don't compile.
    """
    policy = read_sources([str(file) for file in policy_files])
    artifact = Artifact.load(phb_p4.artifact_path(), phb_p4.p4info_path())
    default = int(port) if port is not None and port.isdigit() else port
    told = explain(policy, artifact, arrivals, at=at, default_port=default)
    return [_class_of(each, by) for each in told]


def _class_of(told: Explanation, by: By) -> str:
    if by == "dscp":
        return f"DSCP {told.tos_before >> 2}"
    if by == "rule":
        rule = told.input or told.output
        return rule.name if rule is not None else "no rule"
    return told.traffic_class


def run(
    capture: Capture,
    classes: Sequence[str],
    policy_files: Sequence[Path],
    *,
    rates: Mapping[int, LineRate],
    seed: int,
    progress: Callable[[float], None],
) -> Values:
    """Send a capture through one switch with these policies; gives values by class and name.

    ``classes`` has the class of each packet, ``rates`` those of ports by number; the other ports send at once. ``seed``
    is that of early drops; ``progress`` is called with the share that is done.

    Raises:
        phb.PhbError: the files are wrong, or the switch refuses them.
        LabError: packets are unaccounted for.
    """
    policy = read_sources([str(file) for file in policy_files])
    numbers = sorted({port.number for port in policy.ports if port.number is not None})
    ports = {number: _port_config(rates.get(number)) for number in numbers}
    network = Network(seed)
    switch = Switch("switch", ports, seed=seed)
    network.add_switch(switch)
    for number in numbers:
        frames = [(at_ns, frame) for at_ns, port, frame in capture.frames if port == number]
        network.add_replay(f"port {number}", frames)
        network.connect(f"port {number}", 0, "switch", number)
    _replay(network, switch, capture, policy_files, seed, progress)
    entered = [Seen(at_ns, port, frame, place) for place, (at_ns, port, frame) in enumerate(capture.frames)]
    left = [Seen(at_ns, number, frame) for number in numbers for at_ns, frame in network.received(f"port {number}")]
    passages = pair(entered, left)
    by_class = defaultdict(list)
    for seen, _, passage in passages:
        by_class[classes[seen.place]].append(passage)
    if not by_class:
        raise LabError("what-if: found no IP packet in the capture")
    return {name: measure(by_class[name], capture.duration_s) for name in sorted(by_class)}


def _replay(
    network: Network,
    switch: Switch,
    capture: Capture,
    policy_files: Sequence[Path],
    seed: int,
    progress: Callable[[float], None],
) -> None:
    """Push the policies, let the capture run through, and empty the queues."""
    server = P4RuntimeServer(switch, device_id=1)
    try:
        address = f"127.0.0.1:{server.start()}"
        event_loop.run(
            phb.push(
                address,
                [str(file) for file in policy_files],
                artifact=phb_p4.artifact_path(),
                p4info=phb_p4.p4info_path(),
                at=capture.at.replace(tzinfo=None),
                draw=Random(f"{seed}/keys").getrandbits,
            )
        )
        end_ns = capture.frames[-1][0] + 1
        network.run(end_ns, lambda now: progress(now / end_ns))
        # What waits at the end is sent before anything is called lost.
        while switch.statistics()["queued"]:
            before = switch.statistics()["transmitted"]
            end_ns += 10 * NANOSECONDS
            network.run(end_ns)
            if switch.statistics()["transmitted"] == before:
                break
    finally:
        server.stop()


def _port_config(rate: LineRate | None) -> PortConfig:
    if rate is None:
        return PortConfig()
    return PortConfig(rate.bits_per_second, rate.overhead_bytes, rate.transmit_ring)
