"""Everything that the files say about one node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Self

from pydantic import PrivateAttr, model_validator

from phb.model.actions import Action
from phb.model.applicability import Applicability
from phb.model.base import Flag, Item, Name, PortReference, unexpected
from phb.model.forwarding import CrossConnect, Port, Role, Route
from phb.model.objectives import Objectives
from phb.model.rules import BehaviourAggregate, Rule
from phb.model.scheduling import Queueing
from phb.notice import Notice
from phb.values import Address, Within, Zone


class PriorityMapping(Item):
    """One ToS value, the adapter queue it goes to (1 is served first), and the 802.1p priority of its tagged frames."""

    priority: Annotated[int, Within(1, 8)] | None = None
    tos: Annotated[int, Within(0, 255)]
    user_priority: Annotated[int, Within(0, 7)] | None = None


class SubnetPriority(Item):
    """Policy Agent's SetSubnetPrioTosMask: ToS to adapter output queue and 802.1p priority.

    Of the interface with this address, or of this port; without either, of all that have no statement of their own.
    """

    address: Address | None = None
    port: PortReference | None = None
    mask: Annotated[int, Within(0, 255)]
    mappings: tuple[PriorityMapping, ...] = ()

    @model_validator(mode="after")
    def _one_interface(self) -> Self:
        if self.address is not None and self.port is not None:
            raise unexpected("both", "'address' or 'port'", "port")
        return self


class Image(Item):
    """Policy Agent's TcpImage: which TCP/IP stack is meant, and whether older policies are flushed."""

    name: Name
    flush: Flag = True


class TrafficClass(Item):
    """A class of traffic: what ports have queues for. ``class-default`` need not be named.

    Attributes:
        objectives: What service its traffic is to get at all ports together.
    """

    name: Name
    objectives: Objectives | None = None


Judged = TrafficClass | Action | Rule | BehaviourAggregate
JUDGED: Mapping[type[Item], str] = {
    TrafficClass: "class",
    Action: "action",
    Rule: "rule",
    BehaviourAggregate: "behaviour aggregate",
}
"""What may have objectives, in words."""


class PolicySet(Item):
    """Everything the files say about one node.

    Attributes:
        time_zone: Whose clock rules are valid by; without it, that of the machine that compiles.
    """

    node: Name | None = None
    time_zone: Zone | None = None
    images: tuple[Image, ...] = ()
    ports: tuple[Port, ...] = ()
    cross_connects: tuple[CrossConnect, ...] = ()
    routes: tuple[Route, ...] = ()
    classes: tuple[TrafficClass, ...] = ()
    queueing: tuple[Queueing, ...] = ()
    actions: tuple[Action, ...] = ()
    rules: tuple[Rule, ...] = ()
    behaviour_aggregates: tuple[BehaviourAggregate, ...] = ()
    subnet_priorities: tuple[SubnetPriority, ...] = ()
    applicability: Applicability | None = None

    _notices: tuple[Notice, ...] = PrivateAttr(default=())

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Notices of statements without effect, as far as the formats know them; the compiler adds its own."""
        return self._notices

    def noting(self, notices: Iterable[Notice]) -> Self:
        """Record listed warnings; a format calls this once, right after building."""
        self._notices = tuple(notices)
        return self

    @property
    def judged(self) -> Iterator[Judged]:
        """Everything that has objectives."""
        for items in (self.classes, self.actions, self.rules, self.behaviour_aggregates):
            yield from (item for item in items if item.objectives is not None)

    def find_port(self, reference: str | int) -> Port | None:
        """The port of this name or number."""
        wanted = "number" if isinstance(reference, int) else "name"
        return next((port for port in self.ports if getattr(port, wanted) == reference), None)

    @property
    def host_port(self) -> Port | None:
        """The port where the host's own stack is, on a node that marks for a host."""
        return next((port for port in self.ports if port.role is Role.HOST), None)

    @property
    def connected_port(self) -> Port | None:
        """The interface that the host's port is connected to; None if it isn't given."""
        host = self.host_port
        for wire in self.cross_connects:
            ends = [self.find_port(reference) for reference in wire.between]
            if host is not None and host in ends:
                return ends[1 - ends.index(host)]
        return None

    def action_of(self, item: Rule | BehaviourAggregate, actions: Mapping[str, Action]) -> Action | None:
        """The one of an item's actions that counts: for any interface, or for the one that the host is connected to.

        `actions` are the policy's by name; a name without an action is the compiler's error.
        """
        found = [actions[name] for name in item.actions if name in actions]
        if all(action.interface is None for action in found):
            return found[0] if found else None
        connected = self.connected_port
        address = connected.address if connected is not None else None
        return next((action for action in found if action.interface in (None, address)), None)
