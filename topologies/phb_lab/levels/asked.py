"""Whose objectives are judged: those of the network's own policies, and of further files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from phb.model import PolicySet
from phb.monitor.observation import Taker
from phb.sources import read_sources
from phb_lab.description import Network
from phb_lab.errors import UsageError


@dataclass(frozen=True)
class Asked:
    """What is judged, and who is told.

    Attributes:
        files: policy files with objectives; the node of each is a switch, which is given them beside its own.
        takers: get an observation of each switch at each second, as from `phb monitor`.
    """

    files: tuple[Path, ...] = ()
    takers: tuple[Taker, ...] = ()


def with_objectives(network: Network, files: Sequence[Path]) -> Network:
    """Give the network with these policy files on the switches that they name.

    Raises:
        UsageError: a file names no switch of the network, or states no objectives.
        phb.PhbError: a file is wrong.
    """
    switches = {switch.name: switch for switch in network.switches}
    for file in files:
        policy = read_sources((str(file),))
        if policy.node not in switches:
            found = "no node" if policy.node is None else f"node '{policy.node}'"
            raise UsageError(f"{file}: found {found}, expected a switch of {network.name}: {', '.join(switches)}")
        if not _states_objectives(policy):
            raise UsageError(f"{file}: found no objectives, expected some of classes, rules or actions")
        switch = switches[policy.node]
        switches[policy.node] = replace(switch, policy_files=(*switch.policy_files, file))
    return replace(network, switches=tuple(switches.values()))


def _states_objectives(policy: PolicySet) -> bool:
    return (
        any(each.objectives is not None for each in policy.classes)
        or any(each.objectives is not None for each in policy.rules)
        or any(each.objectives is not None for each in policy.behaviour_aggregates)
        or any(each.objectives is not None for each in policy.actions)
    )
