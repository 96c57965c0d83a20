"""Whose objectives are judged: those of the network's own policies, and of further files; and how switches are read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from phb.model import PolicySet
from phb.monitor.observation import Taker
from phb.sources import read_sources
from phb_lab.description import Network
from phb_lab.errors import UsageError
from phb_lab.levels.achieved import PERIOD_NS

if TYPE_CHECKING:
    from phb.deploying import Prepared
    from phb.pushing.report import Report


@dataclass(frozen=True)
class Asked:
    """What is judged, and who is told.

    Attributes:
        files: policy files with objectives; the node of each is a switch, which is given them beside its own.
        takers: get an observation of each switch at each look, as from `phb monitor`.
        every_ns: between two looks.
    """

    files: tuple[Path, ...] = ()
    takers: tuple[Taker, ...] = ()
    every_ns: int = PERIOD_NS


@dataclass(frozen=True)
class Looks:
    """How the switches of a run are looked at; virtual time stands still meanwhile.

    Attributes:
        takers: get an observation of each switch at each look.
        every_ns: between two looks.
        judged: whether it is an error when no policy states objectives.
        at_all: whether switches are looked at whose policies state none.
        before_ns: what observations' times add to that of the run: tests that went before it.
        pushed: told what the push to each switch did, by its name.
        opened: told which policies the switches have that are looked at.
        after: called after each look with its time (ns since the run began); may wait, and may raise to stop.
    """

    takers: tuple[Taker, ...] = ()
    every_ns: int = PERIOD_NS
    judged: bool = True
    at_all: bool = False
    before_ns: int = 0
    pushed: Callable[[Mapping[str, "Report"]], None] = lambda reports: None
    opened: Callable[[Sequence["Prepared"]], None] = lambda prepared: None
    after: Callable[[int], None] = lambda now_ns: None


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
