"""A configuration as its statements, before it becomes the policy model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from typing import NamedTuple

from phb.errors import InputError
from phb.formats.ios.boxes import IosBox
from phb.model import Copied, Dialect, Route
from phb.notice import Notice
from phb.origin import Origin


@dataclass
class ObjectGroup:
    """Addresses, as boxes that ask for them as a source, or services; and groups whose members it includes."""

    name: str
    kind: str
    origin: Origin
    boxes: list[IosBox] = field(default_factory=list)
    groups: list[tuple[str, Origin]] = field(default_factory=list)
    errors: list[InputError] = field(default_factory=list)


class GroupUse(NamedTuple):
    """An object group in an entry of an access list: as its `source`, `destination` or `service`."""

    place: str
    name: str


@dataclass
class AccessEntry:
    """A line of an access list, in one or several boxes, narrowed by the groups' members."""

    permit: bool
    boxes: tuple[IosBox, ...]
    origin: Origin
    sequence: int
    groups: tuple[GroupUse, ...] = ()


@dataclass
class AccessList:
    """A list of entries; the first that a packet meets decides, and all other packets are denied."""

    name: str
    extended: bool
    origin: Origin
    version: int = field(default=4, kw_only=True)
    mask_optional: bool = field(default=False, kw_only=True)
    entries: list[AccessEntry] = field(default_factory=list)
    errors: list[InputError] = field(default_factory=list)

    def next_sequence(self) -> int:
        """Give the number of an entry without one: IOS counts in steps of ten."""
        return (self.entries[-1].sequence if self.entries else 0) + 10


@dataclass(frozen=True)
class MatchTerm:
    """One ``match`` of a class map: an access list, another class map, or boxes."""

    origin: Origin
    negated: bool = False
    access_list: str | None = None
    class_map: str | None = None
    boxes: tuple[IosBox, ...] = ()


@dataclass
class ClassMap:
    """The packets of a class: they meet all terms, or any of them."""

    name: str
    match_all: bool
    origin: Origin
    terms: list[MatchTerm] = field(default_factory=list)
    errors: list[InputError] = field(default_factory=list)


@dataclass(frozen=True)
class Mark:
    """A ``set``: `field` is the model's word; `ipv4_only` for ``set ip``."""

    field: str
    value: int
    ipv4_only: bool
    origin: Origin
    copied: Copied | None = None

    @property
    def target(self) -> str:
        """The field of a packet that it changes: there is one mark for each."""
        if self.field == "set_qos_group":
            return "qos-group"
        return "cos" if self.field == "set_pcp" or self.copied is Copied.PRECEDENCE_TO_PCP else "ip"


@dataclass(frozen=True)
class Amount:
    """A rate in bit/s, or in percent of the bandwidth of the port or of the shaper around it."""

    bits_per_second: int | None = None
    percent: int | None = None


@dataclass(frozen=True)
class Burst:
    """A burst in bytes, or as the time it takes at its rate."""

    bytes: int | None = None
    milliseconds: int | None = None


@dataclass
class Police:
    """A policer. Its actions are pairs of model field and value by ``conform``, ``exceed`` and ``violate``."""

    origin: Origin
    committed: Amount
    peak: Amount | None = None
    committed_burst: Burst | None = None
    excess_burst: Burst | None = None
    actions: dict[str, dict[str, int | bool]] = field(default_factory=dict)


@dataclass(frozen=True)
class Priority:
    """``priority``: its rate, None without a policer of its own."""

    origin: Origin
    level: int = 0
    rate: Amount | None = None
    burst_bytes: int | None = None


@dataclass(frozen=True)
class Share:
    """``bandwidth``: exactly one of the three."""

    origin: Origin
    amount: Amount | None = None
    remaining_percent: int | None = None
    remaining_ratio: int | None = None


@dataclass
class RandomDetect:
    """WRED as configured, or None for the default of the dialect."""

    origin: Origin
    by_dscp: bool | None = None
    ecn: bool = False
    average_weight: int | None = None
    thresholds: dict[int, tuple[int, int, int, Origin]] = field(default_factory=dict)


@dataclass(frozen=True)
class FlowFairness:
    """``fair-queue``, with None for the default."""

    origin: Origin
    threshold: int | None = None
    conversations: int | None = None
    reservable: int = 0


@dataclass(frozen=True)
class Shape:
    """``shape`` or ``traffic-shape rate``: bursts in bits."""

    origin: Origin
    rate: Amount
    committed_burst: int | None = None
    excess_burst: int | None = None
    peak: bool = False


@dataclass(frozen=True)
class QueueLimit:
    """``queue-limit``: `unit` is packets, bytes, ms or us."""

    origin: Origin
    value: int
    unit: str = "packets"


@dataclass
class PolicyClass:
    """A class within a policy map."""

    name: str
    origin: Origin
    marks: list[Mark] = field(default_factory=list)
    police: Police | None = None
    priority: Priority | None = None
    share: Share | None = None
    fair_queue: FlowFairness | None = None
    random_detect: RandomDetect | None = None
    queue_limit: QueueLimit | None = None
    shape: Shape | None = None
    child: tuple[str, Origin] | None = None

    @property
    def queues(self) -> bool:
        """Whether the class has a queue of its own, not only marks or a policer."""
        said = (self.priority, self.share, self.fair_queue, self.random_detect, self.queue_limit, self.shape)
        return any(part is not None for part in said)


@dataclass
class PolicyMap:
    """Classes in the order in which packets are asked."""

    name: str
    origin: Origin
    classes: dict[str, PolicyClass] = field(default_factory=dict)
    errors: list[InputError] = field(default_factory=list)


@dataclass
class RouteMap:
    """A policy for routing; `marks` are its statements that change marks of packets."""

    origin: Origin
    marks: list[Origin] = field(default_factory=list)


@dataclass
class Interface:
    """An interface. `fair_queue` is False after ``no fair-queue``; `unlike` says why it is no port of a switch.

    `besides` is treatment of packets there that phb doesn't do. A subinterface has a `parent`, if that is in the file,
    and a `tag`: its VLAN, or `UNTAGGED` for the native one.
    """

    name: str
    kind: str
    origin: Origin
    parent: Interface | None = field(default=None, repr=False)
    tag: int | str | None = None
    address: tuple[IPv4Address, Origin] | None = None
    bandwidth: tuple[int, Origin] | None = None  # kbit/s
    has_reference: bool = False  # whether that is `bandwidth qos-reference`
    speed: int | None = None  # Mbit/s
    fair_queue: FlowFairness | bool | None = None
    hold_queue: tuple[int, Origin] | None = None
    random_detect: RandomDetect | None = None
    shape: Shape | None = None
    reserved_percent: int | None = None
    policies: dict[str, tuple[str, Origin]] = field(default_factory=dict)
    access_groups: dict[str, tuple[str, Origin]] = field(default_factory=dict)
    route_map: tuple[str, Origin] | None = None
    shut_down: bool = False
    unlike: list[tuple[Origin, str]] = field(default_factory=list)
    besides: list[tuple[Origin, str]] = field(default_factory=list)
    errors: list[InputError] = field(default_factory=list)

    @property
    def port(self) -> str:
        """The name of the port that it is, or is a part of."""
        return self.name.partition(".")[0]


@dataclass
class Configuration:
    """Everything in the file that concerns packets.

    `errors` doesn't have those of object groups, lists, class maps, policy maps and interfaces, which count where these
    are used.
    """

    dialect: Dialect
    hostname: tuple[str, Origin] | None = None
    object_groups: dict[str, ObjectGroup] = field(default_factory=dict)
    access_lists: dict[str, AccessList] = field(default_factory=dict)
    class_maps: dict[str, ClassMap] = field(default_factory=dict)
    policy_maps: dict[str, PolicyMap] = field(default_factory=dict)
    interfaces: dict[str, Interface] = field(default_factory=dict)
    route_maps: dict[str, RouteMap] = field(default_factory=dict)
    routes: list[Route] = field(default_factory=list)
    notices: list[Notice] = field(default_factory=list)
    errors: list[InputError] = field(default_factory=list)

    def note(self, origin: Origin, message: str) -> None:
        """List a statement that has no effect, and why."""
        self.notices.append(Notice(origin, message))

    def aside(self, origin: Origin, message: str) -> None:
        """List a line that doesn't concern packets, and why it has no effect."""
        self.notices.append(Notice(origin, message, aside=True))

    @contextmanager
    def collecting(self, *about: Interface | PolicyMap) -> Iterator[None]:
        """Keep an error, so that all of them are found in one run.

        If an item of `about` has errors already, this one may follow from them, and is dropped.
        """
        try:
            yield
        except InputError as error:
            told = {str(each) for each in self.errors}
            if not any(each.errors for each in about) and str(error) not in told:
                self.errors.append(error)
