"""A policy on a published network: its own closed-loop traffic, which reacts to the policy."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from phb_lab.description import Datagrams, Network
from phb_lab.errors import UsageError
from phb_lab.experiment import Way
from phb_lab.measures import Groups
from phb_lab.outcome import NANOSECONDS
from phb_lab.study import Study, Test
from phb_lab.whatif.passages import PacketIdentity, Passage, measure, of_captures

Values = dict[str, dict[str, float]]


def run(
    study: Study[Any],
    test: Test,
    *,
    switch: str,
    policies: tuple[Path, ...] | None,
    options: Mapping[str, int],
    seed: int,
    duration_s: int,
    progress: Callable[[float], None],
) -> Values:
    """Run a test once with these policies on one switch; None leaves those of the network.

    Gives values by class and name. Classes are the groups of the network's traffic, end to end, and each group's
    packets through the switch, in either direction.
    """
    network = study.network(test, seed=seed, options=options)
    if policies is not None:
        network = network.with_policies({switch: policies})
    ports = [port.number for described in network.switches if described.name == switch for port in described.ports]
    if not ports:
        names = ", ".join(described.name for described in network.switches)
        raise UsageError(f"--switch {switch}: expected one of: {names}")
    with TemporaryDirectory(prefix="phb-what-if-") as folder:
        captures = {port: Path(folder) / f"{port}.pcap" for port in ports}
        with Way().open(network, seed) as built:
            built.push_policies()
            for port, path in captures.items():
                built.tap(switch, port, path)
            end_ns = duration_s * NANOSECONDS
            outcome = built.run(end_ns, lambda now: progress(min(now / end_ns, 1.0)))
        by_class: defaultdict[str, list[Passage]] = defaultdict(list)
        classify = _classifier(network, switch)
        for _, packet, passage in of_captures(captures):
            name = classify(packet)
            if name is not None:
                by_class[name].append(passage)
    groups = Groups.of([flow.group for flow in network.flows], outcome, duration_s)
    end_to_end = {name: group.values() for name, group in groups.items()}
    return end_to_end | {name: measure(by_class[name], duration_s, cut_off_ns=end_ns) for name in sorted(by_class)}


def _classifier(network: Network, switch: str) -> Callable[[PacketIdentity], str | None]:
    """The group of a packet and its direction, by the server's address and port."""
    services: dict[tuple[bytes, int, bytes], tuple[str, str, str]] = {}
    for flow in network.flows:
        protocol = 17 if isinstance(flow, Datagrams) else 6
        server = (ip_address(flow.server_address).packed, protocol, flow.server_port.to_bytes(2, "big"))
        services[server] = (flow.group, flow.client, flow.server)

    def classify(packet: PacketIdentity) -> str | None:
        addresses, protocol, ports = packet.conversation
        half = len(addresses) // 2
        from_server = services.get((addresses[:half], protocol, ports[:2]))
        if from_server is not None:
            return f"{from_server[0]}, {switch} to {from_server[1]}"
        to_server = services.get((addresses[half:], protocol, ports[2:]))
        return f"{to_server[0]}, {switch} to {to_server[2]}" if to_server is not None else None

    return classify
