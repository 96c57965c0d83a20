"""Whether a policy and tables do the same with packets of which the steps are known: stage by stage, hook by hook.

The compiler keeps a policy's structure, so this asks for more than that packets fare alike in the end.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from phb.behaviour.behaviour import NO_ROUTE, Behaviour, Meter, Step, Treatment
from phb.behaviour.deciding import COLOURS, NONE, Decided, route, treatment
from phb.behaviour.marks import KEPT, Marks, MarkTable, table
from phb.origin import UNKNOWN, Origin
from phb.packets.boxes import ValueBox
from phb.packets.space import UNTAGGED, Subset
from phb.pipeline_names import COLOURS as COLOUR_NAMES
from phb.proving.keys import Kind

HOOKS: Final = ("input", "output")
MarkPairs: TypeAlias = NDArray[np.int64]
"""Of shape (n, 2): ToS octets and TAGs."""
Treatments: TypeAlias = Sequence[Step[Treatment]]
Does = TypeVar("Does")


class Differs(NamedTuple):
    """A thing that the policy says and the tables do otherwise.

    Attributes:
        what: Its name.
        says: By the policy.
        does: By the tables.
        said_at: Where the policy says it; unknown of what it says by leaving it out.
        done_at: Where the statement is from which the entry was compiled.
        kind: Of `says` and `does`, where they are what packets share and both there: they may be a pair.
    """

    what: str
    says: Hashable
    does: Hashable
    said_at: Origin = UNKNOWN
    done_at: Origin = UNKNOWN
    kind: Kind | None = None


def differences(said: Behaviour, does: Behaviour, decided: tuple[Decided, ...], box: ValueBox) -> Iterator[Differs]:
    """Give what is different for packets of a box that take these steps; `does` has the policy's keys."""
    ours, theirs = decided
    marked = marks_of(box)
    yield from entering((said.input, does.input), (ours.input, theirs.input), marked)
    entered = treatment(said.input, ours.input)
    if entered.blocked:
        return
    one, other = route(said, ours.forwarding), route(does, theirs.forwarding)
    if one != other or one.port is None:
        # That is told where routes are compared.
        return
    for colour in range(COLOURS):
        marks = entered.colours[colour]
        if marks is None or (entered.meter is None and colour):
            continue
        became = table(marks)[marked[:, 0], marked[:, 1], :2].astype(np.int64)
        yield from leaving((said.output, does.output), (ours.output[colour], theirs.output[colour]), became)


def entering(policies: tuple[Treatments, Treatments], numbers: tuple[int, int], marked: MarkPairs) -> Iterator[Differs]:
    """Give what the input policies do differently with packets that have these marks."""
    yield from _hook(HOOKS[0], policies, numbers, marked)


def leaving(policies: tuple[Treatments, Treatments], numbers: tuple[int, int], marked: MarkPairs) -> Iterator[Differs]:
    """Give what the output policies do differently with packets that then have these marks."""
    yield from _hook(HOOKS[1], policies, numbers, marked)


def forwarded(policies: tuple[Treatments, Treatments], numbers: tuple[int, int], _: MarkPairs) -> Iterator[Differs]:
    """Give the routes, which are classes of these policies, if they are different."""
    (ours, theirs), (one, other) = policies, numbers
    says, does = (treatment(*each).traffic_class or NO_ROUTE for each in ((ours, one), (theirs, other)))
    if says != does:
        yield Differs("route", says, does, _place(ours, one), _place(theirs, other))


def _hook(
    hook: str, policies: tuple[Treatments, Treatments], numbers: tuple[int, int], marked: MarkPairs
) -> Iterator[Differs]:
    (ours, theirs), (one, other) = policies, numbers
    places = _place(ours, one), _place(theirs, other)
    rules = [
        ("", UNKNOWN) if n == NONE else (steps[n].name, steps[n].origin)
        for steps, n in zip(policies, numbers, strict=True)
    ]
    if rules[0] != rules[1]:
        # By it packets are counted; class and stream of an output policy are those of the input policy without one.
        yield Differs(f"{hook} rule", rules[0][0] or "none", rules[1][0] or "none", *places)
    yield from _treated(hook, treatment(ours, one), treatment(theirs, other), places, marked)


def _place(steps: Sequence[Step[Does]], number: int) -> Origin:
    return UNKNOWN if number == NONE else steps[number].origin


def marks_of(box: ValueBox) -> MarkPairs:
    """Give the marks that packets of a box have; of each as many as make a difference."""
    octets, tags = box.subsets[Subset.TOS], box.subsets[Subset.TAG]
    return np.array(
        [(tos, tag) for tos in range(256) if octets >> tos & 1 for tag in range(UNTAGGED + 1) if tags >> tag & 1]
    )


def _treated(
    hook: str, says: Treatment, does: Treatment, places: tuple[Origin, Origin], marked: MarkPairs
) -> Iterator[Differs]:
    if says is does or says == does or (says.blocked and does.blocked):
        return
    if says.blocked != does.blocked:
        yield Differs(f"{hook} permission", _permission(says), _permission(does), *places)
        return
    if says.traffic_class != does.traffic_class:
        yield Differs(f"{hook} class", says.traffic_class, does.traffic_class, *places)
    for what, kind, one, other in (
        ("stream", Kind.STREAM, says.stream, does.stream),
        ("connections counted as", Kind.COUNTER, says.counted_as, does.counted_as),
    ):
        if one != other:
            both = one is not None and other is not None
            yield Differs(f"{hook} {what}", one, other, *places, kind if both else None)
    for what, limit, other_limit in (
        ("meter", says.meter, does.meter),
        ("connection limit", says.connections, does.connections),
        ("clamp", says.clamp, does.clamp),
    ):
        if limit != other_limit:
            yield Differs(f"{hook} {what}", limit, other_limit, *places)
    for colour in range(COLOURS if says.meter is not None else 1):
        name = COLOUR_NAMES[colour] if says.meter is not None else "all"
        if not _alike(hook, says.colours[colour], does.colours[colour], marked):
            one, other = ("dropped" if made is None else made for made in (says.colours[colour], does.colours[colour]))
            yield Differs(f"{hook} marks of {name} packets", one, other, *places)


def _permission(of: Treatment) -> str:
    return "blocked" if of.blocked else "allowed"


def _alike(hook: str, says: Marks | None, does: Marks | None, marked: MarkPairs) -> bool:
    if says == does:
        return True
    if says is None or does is None:
        return False
    one, other = (table(each)[marked[:, 0], marked[:, 1]] for each in (says, does))
    if not np.array_equal(one[:, :2], other[:, :2]):
        return False
    # Before an input policy the group is 0, and nothing asks for it behind an output policy.
    return hook == HOOKS[1] or np.array_equal(_group(one), _group(other))


def _group(made: MarkTable) -> MarkTable:
    return np.where(made[:, 2] == KEPT, 0, made[:, 2])


def shown(value: object) -> str:
    """Give a value of a difference in words."""
    match value:
        case None:
            return "none"
        case Meter():
            basis = "IP bytes" if value.datagram else "Ethernet bytes"
            aware = ", colour-aware" if value.colour_aware else ""
            other = f", {value.other_rate} bit/s" if value.other_rate else ""
            return (
                f"{value.kind} {value.rate} bit/s, burst {value.burst}{other}, second burst {value.other_burst}, "
                f"{basis} {value.overhead:+}{aware}"
            )
        case Marks():
            return _marks(value)
        case tuple():
            return ", ".join(map(_fact, value))
    return str(value)


def _fact(fact: object) -> str:
    return " ".join(map(str, fact)) if isinstance(fact, tuple) else str(fact)


def _marks(marks: Marks) -> str:
    words = [
        f"ToS {marks.value & marks.mask:#04x} under {marks.mask:#04x}" if marks.mask else "",
        f"ToS from 802.1p under {marks.from_pcp:#04x}" if marks.from_pcp else "",
        f"802.1p {marks.pcp_value & marks.pcp_mask} under {marks.pcp_mask}" if marks.pcp_mask else "",
        f"802.1p from precedence under {marks.from_precedence}" if marks.from_precedence else "",
        f"QoS group {marks.group}" if marks.group is not None else "",
    ]
    return ", ".join(filter(None, words)) or "unchanged"
