"""Counter cells of a policy, a class or a port of a switch, and setting them to zero."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

from phb.errors import InputError
from phb.origin import Origin
from phb.pushing.counters import BY_NUMBER, CAME, DROPPED, LEFT, clear_slots
from phb.show.interfaces import read_interfaces
from phb.show.queues import CONVERSATION_SLOTS, places, scheduled
from phb.show.reading import Reading

OF_PORT = ("port_transmit", "shared_conversation")
# Few cells, of no rule, class or port.
OF_SWITCH = ("drops", "untracked_connections")
_OF_QUEUES = (CAME, *LEFT, *DROPPED)
_INTERFACES = "interface counters of gNMI: OpenConfig only reads them"


@dataclass(frozen=True)
class Which:
    """The counters that are meant, by names or numbers; without any it is everything."""

    policies: Collection[str] = ()
    classes: Collection[str] = ()
    ports: Collection[str] = ()

    @property
    def everything(self) -> bool:
        """Whether nothing in particular is meant."""
        return not (self.policies or self.classes or self.ports)


@dataclass
class Cleared:
    """How many cells were cleared, or would be, by counter; and what can't be cleared, with the reason."""

    cells: dict[str, int] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)


async def clear(reading: Reading, which: Which, *, dry_run: bool) -> Cleared:
    """Set counters to zero; the session is primary, unless nothing is written.

    Raises:
        InputError: There is no such policy, class or port on the switch.
        SwitchError: The switch refuses, or can't be reached.
    """
    cells, slots = _meant(reading, which)
    session = reading.session
    result = Cleared()
    for name, indexes in cells.items():
        if name in session.artifact.counters:
            counted = await session.counter(name, None if indexes is None else sorted(indexes))
            if counted:
                result.cells[name] = len(counted)
                if not dry_run:
                    await session.clear_counter(name, counted)
    if which.everything:  # also of queues that are gone
        slots |= {
            slot for name in _OF_QUEUES if name in session.artifact.counters for slot in await session.counter(name)
        }
    for name in _OF_QUEUES:
        if found := await reading.counter(name, slots):
            result.cells[name] = len(found)
    if not dry_run:
        await clear_slots(session, slots)
    if (which.everything or which.ports) and await read_interfaces(session) is not None:
        result.left.append(_INTERFACES)
    return result


def _meant(reading: Reading, which: Which) -> tuple[dict[str, set[int] | None], set[int]]:
    """Give cells by counter, None for all of them, and slots of queues."""
    names, every = reading.names, which.everything
    policies = {number: policy.rule for number, policy in names.policies.items()}
    held = {space: _numbers(reading, space) for space in BY_NUMBER}
    ports = {
        number
        for entry in reading.held
        for values in (entry.parameters, {name: value for name, (value, _) in entry.match.items()})
        for name in ("port", "egress_port", "ingress_port")
        if (number := values.get(name)) is not None
    } | set(names.ports)
    numbers = {
        "policy": held["policy"] if every else _found("--policy", which.policies, policies, held["policy"]),
        "stream": held["stream"] if every else set(),
        "traffic_class": held["traffic_class"]
        if every
        else _found("--class", which.classes, names.classes, held["traffic_class"]),
    }
    cells: dict[str, set[int] | None] = {}
    for space, counters in BY_NUMBER.items():
        for name, width in counters:
            cells[name] = {number * width + cell for number in numbers[space] for cell in range(width)}
    chosen = ports if every else _found("--port", which.ports, names.ports, ports)
    cells |= {name: set(chosen) for name in OF_PORT}
    if every:
        applicable = (name for name in reading.session.artifact.counters if name.startswith("applicability_"))
        cells |= dict.fromkeys((*OF_SWITCH, *(name for name, _ in BY_NUMBER["traffic_class"]), *applicable))
    slots = {CONVERSATION_SLOTS + port for port in chosen}
    for port, entry in scheduled(reading.held):
        for place in places(reading.held, port, entry):
            if port in chosen or place.traffic_class in numbers["traffic_class"]:
                slots |= set(range(place.first, place.first + place.slots))
    return {name: indexes for name, indexes in cells.items() if indexes is None or indexes}, slots


def _numbers(reading: Reading, space: str) -> set[int]:
    """Give the numbers of a kind that entries use, and the number of traffic that no rule takes."""
    return {0} | {entry.parameters[space] for entry in reading.held if space in entry.parameters}


def _found(option: str, wanted: Iterable[str], known: Mapping[int, str], held: set[int]) -> set[int]:
    """Give the numbers of names, or of numbers."""
    found: set[int] = set()
    for word in wanted:
        numbers = {number for number, name in known.items() if name == word}
        if not numbers and word.isascii() and word.isdigit() and int(word) in held:
            numbers = {int(word)}
        if not numbers:
            there = ", ".join(sorted({f"'{name}'" for name in known.values()})) or "a number of the switch"
            raise InputError(Origin(option), f"'{word}'", f"one of {there}")
        found |= numbers
    return found
