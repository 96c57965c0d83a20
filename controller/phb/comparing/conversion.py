"""Whether a policy that was written in another format does what it did.

The text is read back, and both policies are compared in one node: what the format leaves to other files (numbers of
ports, routes, ...) is that of the source, and so is what no file says (phb.comparing.fragments).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from phb.behaviour.deciding import first, route
from phb.behaviour.policy import behaviour_of_policy
from phb.comparing.comparison import Input, Wanted, compare
from phb.comparing.fragments import completed, leading_everywhere
from phb.comparing.telling import Comparison, Example, OpenQuestion, Place, Region, Side
from phb.device.artifact import Artifact
from phb.errors import InputError
from phb.explain import ingress_port, parse_packet
from phb.formats import Converted, Loss, read_content
from phb.model import (
    BehaviourAggregate,
    CrossConnect,
    Item,
    PolicySet,
    Port,
    PortReference,
    Queueing,
    Route,
    Rule,
    Validity,
)
from phb.origin import Origin
from phb.packets.boxes import ValueBox
from phb.packets.epochs import Epochs
from phb.packets.frames import packet_of_frame
from phb.packets.space import Subset, every, is_in
from phb.regions.budget import Budget

T = TypeVar("T", bound=Item)
_TOLD: Final = 100
"""Regions that are told although a loss accounts for them: rules by the thousand may each be one."""


def read_back(source: PolicySet, converted: Converted, to: str, name: str) -> PolicySet:
    """Give the policy that was written, with what the format leaves to other files; `name` stands in its origins.

    Raises:
        InputError: The text can't be read: a mistake of the writer.
    """
    written = read_content(converted.text.encode(), name, to)
    return _with_other_files(written, source, converted)


@dataclass(frozen=True)
class Proof:
    """Whether what was written does what its source did.

    Attributes:
        comparisons: One for each node in which the two were compared; a whole node is its own.
        unlisted: Regions that no loss accounts for: mistakes of the writer.
        refused: Why nothing could be compared; empty if it could.
    """

    comparisons: tuple[Comparison, ...] = ()
    unlisted: tuple[Region, ...] = ()
    refused: str = ""

    @property
    def alike(self) -> bool:
        """Whether every packet is treated alike, for certain."""
        return not self.refused and all(each.alike for each in self.comparisons)

    @property
    def regions(self) -> tuple[Region, ...]:
        """Regions that are treated differently: the largest, and those for which no loss accounts."""
        return tuple(region for each in self.comparisons for region in each.regions)

    @property
    def more(self) -> int:
        """How many more regions a loss accounts for, or couldn't be told in time."""
        return sum(each.more for each in self.comparisons)

    @property
    def open(self) -> tuple[OpenQuestion, ...]:
        """All questions that weren't answered in time."""
        return tuple(question for each in self.comparisons for question in each.open)

    def as_json(self) -> dict[str, Any]:
        """Give it for programs."""
        unlisted = [id(region) for region in self.unlisted]
        regions = [{**asdict(region), "listed": id(region) not in unlisted} for region in self.regions]
        return {
            "alike": self.alike,
            "regions": regions,
            "more": self.more,
            "open": [asdict(question) for question in self.open],
            "refused": self.refused or None,
        }


def prove(
    source: PolicySet,
    converted: Converted,
    to: str,
    names: tuple[str, str],
    load: Callable[[], Artifact],
    seconds: float | None,
) -> Proof:
    """Read back what was written, and compare it with its source.

    Nothing that goes wrong here is an error of the source: the proof says why it isn't one.

    Args:
        source: What was written.
        converted: As what.
        to: In which format.
        names: Of the two, for people.
        load: Gives the program that examples are explained by.
        seconds: How long comparing may take; None is no limit.
    """
    try:
        written = read_back(source, converted, to, names[1])
    except InputError as error:
        # What can't be read does nothing.
        return Proof(refused=f"the text can't be read back: {error}", unlisted=(_UNREADABLE,))
    if written == source:
        return Proof()
    artifact = load()
    budget, now = Budget(seconds), datetime.now(UTC)
    comparisons: list[Comparison] = []
    unlisted: list[Region] = []
    changing = [loss for loss in converted.losses if loss.packets]
    try:
        for whole in completed((source, written)):
            for pair in leading_everywhere(whole):
                concerned = _Concerned(pair[0], changing)
                inputs = [Input(policy, Side(name)) for policy, name in zip(pair, names, strict=True)]
                wanted = Wanted(now, limit=_TOLD, accounts=concerned.accounts_for, budget=budget, by_rule=True)
                found = compare(inputs[0], inputs[1], artifact, wanted)
                comparisons.append(found)
                unlisted += [each for each in found.regions if not concerned.accounts_for_told(each)]
    except InputError as error:
        return Proof(tuple(comparisons), tuple(unlisted), str(error))
    return Proof(tuple(comparisons), tuple(unlisted))


_UNREADABLE = Region(0, ("all packets",), (), 1.0, (), None)


class _Concerned:
    """What losses concern: places in the source, packets that rules take, and ports."""

    def __init__(self, source: PolicySet, losses: Sequence[Loss]) -> None:
        self._source = source
        self._places = {(origin.file, origin.line) for loss in losses for origin in _origins(loss)}
        items = [item for loss in losses for item in loss.concerned]
        # At any time, and whatever exceptions there are.
        rules = {item.name: item.model_copy(update={"valid": Validity(), "unless": ()}) for item in _of(items, Rule)}
        aggregates = {item.name: item for item in _of(items, BehaviourAggregate)}
        asked = source.model_copy(
            update={"rules": tuple(rules.values()), "behaviour_aggregates": tuple(aggregates.values())}
        )
        self._behaviour = behaviour_of_policy(asked, Epochs.at(datetime.now(UTC)))
        self._boxes = [box for step in self._behaviour.input for box in step.boxes]
        # What leaves may have had any marks before.
        self._boxes += [_with_any_marks(box) for step in self._behaviour.output for box in step.boxes]
        ports = [queueing.port for queueing in _of(items, Queueing)] + [port.name for port in _of(items, Port)]
        self._ports = {port.number for each in ports if (port := source.find_port(each)) is not None}

    def accounts_for_told(self, region: Region) -> bool:
        """Whether a loss accounts for a region."""
        places = (place for each in region.differences for place in each.a_places)
        return self.accounts_for(places, lambda: region.example)

    def accounts_for(self, places: Iterable[Place], example: Callable[[], Example | None]) -> bool:
        """Whether a loss accounts for packets: by what decides there, or because an example goes that way."""
        if any((place.file, place.line) in self._places for place in places if place.file):
            return True
        one = example()
        if one is None:
            return False
        arrival = parse_packet(one.text, Origin("--packet"))
        packet = packet_of_frame(arrival.frame, ingress_port(self._source, arrival, None))
        leaves = route(self._behaviour, first(self._behaviour.forwarding, packet)).port
        return leaves in self._ports or any(is_in(packet, box) for box in self._boxes)


def _of(items: Iterable[Item], kind: type[T]) -> Iterator[T]:
    return (item for item in items if isinstance(item, kind))


def _with_any_marks(box: ValueBox) -> ValueBox:
    subsets = list(box.subsets)
    for each in (Subset.TOS, Subset.TAG, Subset.GROUP, Subset.EGRESS):
        subsets[each] = every(512)
    return ValueBox(box.intervals, tuple(subsets))


def _origins(loss: Loss) -> Iterator[Origin]:
    yield loss.origin
    for item in (loss.item, *loss.concerned):
        if item is not None:
            yield from _within(item)


def _within(item: Item) -> Iterator[Origin]:
    yield from (item.origin(), *item.origins().values())
    for _, value in item:
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, Item):
                yield from _within(each)


def _with_other_files(written: PolicySet, source: PolicySet, converted: Converted) -> PolicySet:
    lost = [(loss.item, loss.key) for loss in converted.losses if loss.item is not None and not loss.packets]
    whole = {id(item) for item, key in lost if not key}
    updates: dict[str, Any] = {"ports": _ports(written, source, converted.ports, lost)}
    if any(item is source and key == "time_zone" for item, key in lost):
        updates["time_zone"] = source.time_zone

    def renamed(reference: PortReference) -> PortReference:
        return converted.ports.get(reference, reference) if isinstance(reference, str) else reference

    for field in ("cross_connects", "routes", "classes", "queueing"):
        added = [_renamed(item, renamed) for item in getattr(source, field) if id(item) in whole]
        updates[field] = (*getattr(written, field), *added)
    return written.model_copy(update=updates)


def _ports(
    written: PolicySet, source: PolicySet, names: Mapping[str, str], lost: Sequence[tuple[Item | None, str]]
) -> tuple[Port, ...]:
    ports = {port.name: port for port in written.ports}
    for port in source.ports:
        name = names.get(port.name, port.name)
        fields = {key for item, key in lost if item is port and key not in ("", "name")}
        if name in ports:
            ports[name] = ports[name].model_copy(update={key: getattr(port, key) for key in fields})
        else:
            ports[name] = port.model_copy(update={"name": name})
    return tuple(ports.values())


def _renamed(item: Item, renamed: Any) -> Item:
    match item:
        case CrossConnect():
            return item.model_copy(update={"between": tuple(map(renamed, item.between))})
        case Route():
            return item.model_copy(update={"port": None if item.port is None else renamed(item.port)})
        case Queueing():
            return item.model_copy(update={"port": renamed(item.port)})
        case _:
            return item
