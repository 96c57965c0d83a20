"""What a page shows of networks before they run: their switches, and the lines between them."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from phb.monitor.live.messages import Link, SwitchInfo
from phb.sources import read_sources
from phb_lab.description import Network

End = tuple[str, int]


def overview(networks: Iterable[Network]) -> tuple[list[SwitchInfo], list[Link]]:
    """Give the switches of networks that run one after another, and the lines between them; those of one name are one.

    Host adapters on the way between two switches belong to the line. Hosts aren't shown.

    Raises:
        phb.InputError: a policy file is wrong.
    """
    switches: dict[str, SwitchInfo] = {}
    links: list[Link] = []
    for network in networks:
        names = {switch.name: _port_names(switch.policy_files) for switch in network.switches}
        for name in names:
            switches[name] = {"name": name, "address": "in virtual time", "groups": []}
        for (here, port), (there, far_port) in _lines(network):
            link: Link = {
                "a": (here, names[here].get(port, str(port))),
                "b": (there, names[there].get(far_port, str(far_port))),
            }
            if link not in links:
                links.append(link)
    return list(switches.values()), links


def _lines(network: Network) -> list[tuple[End, End]]:
    """Give the ends of each line between switches, which are ports of theirs."""
    other: dict[End, End] = {}
    for wire in network.wires:
        other[wire.a], other[wire.b] = wire.b, wire.a
    adapters = {adapter.name for adapter in network.adapters}
    switches = {switch.name for switch in network.switches}
    found: list[tuple[End, End]] = []
    for begin in [end for end in other if end[0] in switches]:
        end: End | None = other[begin]
        for _ in range(len(network.adapters) + 1):
            if end is None or end[0] not in adapters:
                break
            # Ports of an adapter belong together in pairs: 0 with 1, 2 with 3.
            end = other.get((end[0], end[1] ^ 1))
        if end is not None and end[0] in switches and (end, begin) not in found:
            found.append((begin, end))
    return found


@cache
def _port_names(files: tuple[Path, ...]) -> Mapping[int, str]:
    policy = read_sources([str(file) for file in files])
    return {port.number: port.name for port in policy.ports if port.number is not None}
