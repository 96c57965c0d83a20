"""Compares two policies, and tells the answer: regions in words, in the order of what matters, each with an example."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from phb.behaviour.deciding import NONE, first
from phb.behaviour.facts import SENT_TO
from phb.behaviour.policy import behaviour_of_policy
from phb.behaviour.policy.statements import Statements
from phb.comparing import checking, differences, telling
from phb.comparing.contrast import Acting
from phb.comparing.traffic import Traffic
from phb.device.artifact import Artifact
from phb.explain import parse_packet
from phb.model import PolicySet
from phb.origin import UNKNOWN, Origin
from phb.packets.boxes import ValueBox
from phb.packets.epochs import Epochs
from phb.packets.example import Example, example, familiar_first, sent_to
from phb.packets.frames import packet_of_frame
from phb.packets.largest import largest_in_words, share
from phb.packets.many import Boxes
from phb.packets.space import Packet, Subset, first_packet
from phb.packets.words import Naming, in_words
from phb.regions.budget import Budget, TimeOver
from phb.targets import DEFAULT_TARGET

TOO_LONG = "not answered in the time that was allowed"
TOO_MANY = "not answered: the policies differ in more sets of packets than are kept"
_MOST_CELLS = 400_000  # of some 1.5 kB each

UNTOLD = "there was no time to tell what accounts for them"
SHARING = "whether they share meters, counters and queues with the same packets was not answered"
_MANY_OPEN = 200  # open boxes that are not put into words each


@dataclass(frozen=True)
class Input:
    """One of the two policies, what it is called, and the kind of switch that it is for (`phb.targets`)."""

    policy: PolicySet
    side: telling.Side
    target: str = DEFAULT_TARGET


Accounts: TypeAlias = Callable[[Iterable[telling.Place], Callable[[], telling.Example | None]], bool]
"""Tells whether somebody knows of packets that are treated differently, by what decides in A and by an example."""


@dataclass(frozen=True)
class Wanted:
    """How much is asked.

    Attributes:
        at: The moment that counts for windows, and for compiling.
        always: Whether every other moment is compared, too.
        limit: How many regions are told.
        accounts: Tells of a region beyond the limit, by what decides it in A and an example, that it need not be told.
            None is of all.
        budget: How long all of it may take, and when that began.
        capture: A capture by whose bytes regions are ordered.
        port: The port of its packets that name none, or one that isn't there.
        by_rule: Whether packets that are treated differently in the same way, by different rules, are regions of their
            own.
    """

    at: datetime
    always: bool = True
    limit: int | None = None
    accounts: Accounts | None = None
    budget: Budget = field(default_factory=Budget)
    capture: str | None = None
    port: str | int | None = None
    by_rule: bool = False


def compare(
    a: Input,
    b: Input,
    artifact: Artifact,
    wanted: Wanted,
    *,
    node: str | None = None,
    progress: Callable[[float], None] | None = None,
) -> telling.Comparison:
    """Compare two policies for every packet.

    Raises:
        InputError: A policy is wrong, or the capture.
    """
    budget, policies = wanted.budget, (a.policy, b.policy)
    try:
        with budget.enforced():
            epochs = Epochs.of(policies, wanted.at) if wanted.always else Epochs.at(wanted.at)
            acting = [Acting(behaviour_of_policy(policy, epochs), _port_names(policy)) for policy in policies]
            explaining = tuple(checking.Explaining(each.policy, artifact, each.target) for each in (a, b))
            for each in explaining:
                each.compile(wanted.at)
            naming = Naming.of(policies, epochs)
            traffic = None if wanted.capture is None else Traffic(wanted.capture, policies, epochs, wanted.port)
    except TimeOver:
        return unread(a.side, b.side, budget, node)
    finding = budget.finding(cells=_MOST_CELLS)
    found = differences.differences(
        acting[0], acting[1], epochs.all, by_rule=wanted.by_rule, budget=finding, progress=progress
    )
    why = TOO_MANY if finding.given >= _MOST_CELLS else TOO_LONG
    checker = _Checker(policies, acting, explaining, naming, wanted.at)
    told: list[telling.Region] = []
    unseen = len(found.regions)
    with suppress(TimeOver), budget.enforced():
        weights = sorted((_Weight(region, traffic) for region in found.regions), key=lambda each: each.order)
        for number, weight in enumerate(weights if wanted.accounts is not None else weights[: wanted.limit], start=1):
            if number <= (wanted.limit or number) or not _accounted(weight.region, checker, wanted.accounts):
                told.append(_told(number, weight, naming, checker))
            unseen -= 1
    return telling.Comparison(
        a.side,
        b.side,
        tuple(told),
        node=node,
        more=len(found.regions) - len(told),
        open=tuple(
            telling.OpenQuestion(text, why)
            for boxes, why in ((found.open, why), (found.sharing_open, SHARING))
            for text in _open_words(boxes, naming, budget)
        )
        + _untold(0 if wanted.accounts is None else unseen),
        left_out=tuple(_left_out(policies)),
        measure="number of packets that there could be" if traffic is None else f"bytes in {wanted.capture}",
        capture_packets=None if traffic is None else traffic.packets,
        capture_bytes=None if traffic is None else traffic.bytes,
        moments=tuple(moment.isoformat() for moment in epochs.moments),
        seconds=round(budget.taken, 3),
    )


def unread(a: telling.Side, b: telling.Side, budget: Budget, node: str | None = None) -> telling.Comparison:
    """Give the comparison of policies that couldn't be read and compiled in time: all of it is open."""
    return telling.Comparison(
        a, b, node=node, open=(telling.OpenQuestion("every packet", TOO_LONG),), seconds=round(budget.taken, 3)
    )


def _open_words(boxes: Sequence[ValueBox], naming: Naming, budget: Budget) -> list[str]:
    if not boxes:
        return []
    if len(boxes) <= _MANY_OPEN:
        with suppress(TimeOver), budget.enforced():
            return [words.text for words in in_words(boxes, naming)]
    # Words of so many sets would take longer to make, and to read, than anybody has.
    return [f"{len(boxes)} sets of packets, one of them: {in_words(boxes[:1], naming)[0].text}"]


def _port_names(policy: PolicySet) -> dict[int, str]:
    return {port.number: port.name for port in policy.ports if port.number is not None}


def _left_out(policies: Sequence[PolicySet]) -> Iterator[str]:
    yield "names of rules, actions and classes"
    if any(True for policy in policies for _ in policy.judged):
        yield "objectives: they judge what a switch does and change nothing for packets"
    if any(policy.applicability is not None for policy in policies):
        yield "what is counted for statements of applicability"


class _Weight:
    """A region with how much it matters."""

    def __init__(self, region: differences.Region, traffic: Traffic | None) -> None:
        self.region = region
        self.share = share(region.boxes)
        self.packets: int | None = None
        self.bytes: int | None = None
        if traffic is not None:
            self.packets, self.bytes = traffic.inside(region.boxes)
        where = min((str(by.origin) for each in region.differences for by in (*each.a_by, *each.b_by)), default="")
        self.order = (-(self.bytes or 0), -self.share, where)


class _Checker:
    """Runs examples through both policies."""

    def __init__(
        self,
        policies: Sequence[PolicySet],
        acting: Sequence[Acting],
        explaining: Sequence[checking.Explaining],
        naming: Naming,
        at: datetime,
    ) -> None:
        self._acting, self._explaining, self._naming, self._at = acting, explaining, naming, at
        self._statements = [Statements(policy) for policy in policies]

    def example(self, boxes: Boxes) -> Example | None:
        """Give an example of some boxes; None where no packet of them can be sent."""
        for box in familiar_first(boxes, self._naming):
            try:
                return self._sent(example(box, self._naming), box)
            except ValueError:
                continue
        return None

    def _sent(self, one: Example, box: ValueBox) -> Example:
        """Send an example to the MAC address of the router's port that it arrives at, where there is one."""
        arrival = parse_packet(one.text, Origin("--packet"))
        packet = packet_of_frame(arrival.frame, self._number(arrival.port), first_packet(box).subsets[Subset.EPOCH])
        for side in self._acting:
            forwarding = side.behaviour.forwarding
            taken = first(forwarding, packet)
            mac = dict(forwarding[taken].does.facts).get(SENT_TO) if taken != NONE else None
            if isinstance(mac, str):
                return sent_to(one, mac)
        return one

    def seen(self, one: Example) -> tuple[checking.Seen, checking.Seen]:
        """Give what A and B do with an example."""
        arrival = parse_packet(one.text, Origin("--packet"))
        made = [each.see(arrival, self._number(arrival.port), one.at or self._at) for each in self._explaining]
        return made[0], made[1]

    def places(
        self, each: differences.Difference, one: Example | None
    ) -> tuple[tuple[telling.Place, ...], tuple[telling.Place, ...]]:
        """Give what decided in A and in B, with the statements that take an example."""
        packet = None
        if one is not None:
            arrival = parse_packet(one.text, Origin("--packet"))
            packet = packet_of_frame(arrival.frame, self._number(arrival.port))
        a, b = self._statements
        return (
            tuple(_place(by, a, packet) for by in each.a_by),
            tuple(_place(by, b, packet) for by in each.b_by),
        )

    def _number(self, reference: str | int | None) -> int:
        if isinstance(reference, int):
            return reference
        return next(number for number, names in self._naming.ports.items() if reference in names)


def _untold(regions: int) -> tuple[telling.OpenQuestion, ...]:
    return (telling.OpenQuestion(f"{regions} regions that differ", UNTOLD),) if regions else ()


def _accounted(region: differences.Region, checker: _Checker, accounts: Accounts | None) -> bool:
    places = (place for each in region.differences for place in checker.places(each, None)[0])
    return accounts is not None and accounts(places, lambda: _as_told(checker.example(region.boxes)))


def _as_told(one: Example | None) -> telling.Example | None:
    return None if one is None else telling.Example(one.text, None if one.at is None else one.at.isoformat())


def _told(number: int, weight: _Weight, naming: Naming, checker: _Checker) -> telling.Region:
    region = weight.region
    words, more = largest_in_words(region.boxes, naming)
    one = checker.example(region.boxes)
    seen = None if one is None else checker.seen(one)
    told, failed = [], []
    for each in region.differences:
        checked, shows = None, True
        if seen is not None and each.partner is not None:
            other = checker.example(Boxes.of([each.partner]))
            if other is not None:
                both = checker.seen(other)
                shows = checking.shared(each.what, (seen[0], both[0]), (seen[1], both[1]))
        elif seen is not None:
            checked, shows = checking.shown(each.what, *seen)
        if not shows:
            failed.append(each.what)
        told.append(telling.Difference(each.what, each.a, each.b, *checker.places(each, one), checked))
    return telling.Region(
        number,
        tuple(each.text for each in words),
        tuple({key: value for key, value in each.as_json().items() if key != "text"} for each in words),
        float(weight.share),
        tuple(told),
        _as_told(one),
        capture_packets=weight.packets,
        capture_bytes=weight.bytes,
        more_parts=more,
        failed=f"phb explain shows no difference of {', '.join(failed)} for the example" if failed else None,
    )


def _place(decider: differences.Decider, statements: Statements, packet: Packet | None) -> telling.Place:
    origin = decider.origin
    if origin is None or origin == UNKNOWN:
        return telling.Place(decider.name)
    by = None if packet is None else statements.of(decider.name, packet)
    if by is None or by.file != origin.file:
        return telling.Place(decider.name, origin.file, origin.line)
    return telling.Place(decider.name, origin.file, origin.line, by.statement, by.line)
