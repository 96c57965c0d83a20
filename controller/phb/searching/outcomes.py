"""What can become of packets that the same steps take: one outcome for each colour that meters may give them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phb.behaviour.behaviour import Behaviour, Meter, Route, RouteKind, Service, Step, Treatment
from phb.behaviour.deciding import COLOURS, NONE, Decided, route, treatment
from phb.behaviour.marks import UNMARKED, Marks
from phb.comparing.outcome import Final2, Metering, able, coming_colours, on_wire

GREEN, YELLOW, RED = range(COLOURS)
_ARRIVES = (RouteKind.WIRE, RouteKind.ROUTE, RouteKind.NEXT_HOP, RouteKind.OWN)


@dataclass(frozen=True)
class Outcome:
    """What becomes of packets of one colour.

    What a packet has when it is dropped counts: the class of what a meter drops is the class that it had.

    Attributes:
        blocked: By a rule, at either hook; then it has no class, port or marks.
        policed: Dropped by a meter for its colour.
        colours: What the meters at both hooks make of it.
        steps: The rules and behaviour aggregates that take it: input, output.
        route: Where it goes, or would go.
        traffic_class: Its class, by the behaviour's key.
        meters: Those that count it.
        service: How it is queued; None where it has no egress port.
        new_marks: What the steps make of its marks, one after the other.
        is_ip: Whether the packets are IP packets: only those get an 802.1p priority by their ToS octet.
        possible: Where the meter knows the colour by the code point: which packets can have this outcome, by the marks
            with which they come. None is all of them.
    """

    behaviour: Behaviour
    blocked: bool
    policed: bool
    colours: tuple[int, int]
    steps: tuple[Step[Treatment], ...]
    route: Route
    traffic_class: Hashable
    meters: tuple[Meter, ...]
    service: Service | None
    new_marks: tuple[Marks, Marks | None]
    is_ip: bool
    possible: NDArray[np.bool_] | None = None

    @property
    def colour(self) -> int:
        """The colour that it has at last."""
        return self.colours[1]

    @property
    def dropped(self) -> bool:
        """Whether it never leaves; what is for the router itself does arrive."""
        return self.blocked or self.policed or self.route.kind not in _ARRIVES

    @property
    def port(self) -> int | None:
        """Where it leaves; None where it doesn't get so far."""
        return None if self.blocked else self.route.port

    def fact(self, word: str) -> Hashable:
        """Give a fact of its service; None where there is none of that word."""
        return None if self.service is None else dict(self.service.facts).get(word)

    @property
    def shaped(self) -> bool:
        """Whether its class or port has a shaper."""
        return self.service is not None and any(word.endswith("shaper") for word, _ in self.service.facts)

    @property
    def early_detected(self) -> bool | NDArray[np.bool_]:
        """Whether early detection may drop or mark it; by the marks with which it comes, where that matters."""
        if self.service is None or not self.service.early or self.policed:
            return False
        detected = np.array([profile is not None for profile in self.service.early[self.colour]])
        return np.asarray(detected[self.marks[0]])

    @property
    def connection_limited(self) -> bool:
        """Whether some rule limits the number of its connections."""
        return any(step.does.connections is not None for step in self.steps)

    @property
    def clamped(self) -> bool:
        """Whether some rule limits the rate of its connection."""
        return any(step.does.clamp is not None for step in self.steps)

    @property
    def priorities(self) -> tuple[int | None, ...] | None:
        """The 802.1p priorities that tagged frames get by their ToS octet; None where they stay."""
        port = self.route.port
        return self.behaviour.user_priorities.get(port) if self.is_ip and port is not None else None

    @property
    def marks(self) -> Final2:
        """ToS octet and TAG with which it leaves, by those with which it came."""
        return on_wire(self.new_marks, self.priorities)


def outcomes(behaviour: Behaviour, decided: Decided, *, is_ip: bool) -> Iterator[Outcome]:
    """Give all outcomes of packets that these steps take."""
    entered = treatment(behaviour.input, decided.input)
    where = route(behaviour, decided.forwarding)
    steps = () if decided.input == NONE else (behaviour.input[decided.input],)

    def outcome(
        colours: tuple[int, int],
        left: int = NONE,
        *,
        policed: bool = False,
        marks: tuple[Marks, Marks | None] = (UNMARKED, None),
        meters: tuple[Meter, ...] = (),
        possible: NDArray[np.bool_] | None = None,
    ) -> Outcome:
        treated = treatment(behaviour.output, left)
        # A step at the output replaces the class; without one the input's stays.
        given = entered.traffic_class if left == NONE else treated.traffic_class
        blocked = entered.blocked or treated.blocked
        return Outcome(
            behaviour=behaviour,
            blocked=blocked,
            policed=policed,
            colours=colours,
            steps=steps if left == NONE else (*steps, behaviour.output[left]),
            route=where,
            traffic_class=given,
            meters=meters,
            service=None if blocked or where.port is None else behaviour.service(where.port, given),
            new_marks=marks,
            is_ip=is_ip,
            possible=possible,
        )

    if entered.blocked:
        yield outcome((GREEN, GREEN))
        return
    own = () if entered.meter is None else (entered.meter,)
    for first, possible in _colours(entered.meter, None, UNMARKED):
        marks = entered.colours[first]
        if marks is None:
            yield outcome((first, first), policed=True, meters=own, possible=possible)
            continue
        left = NONE if where.port is None else decided.output[first]
        treated = treatment(behaviour.output, left)
        if left == NONE or treated.blocked:
            yield outcome((first, first), left, marks=(marks, None), meters=own, possible=possible)
            continue
        if treated.meter is None:
            # The colour stays, and the step's marks are those for green.
            found: Iterable[tuple[int, NDArray[np.bool_] | None]] = [(first, None)]
            meters = own
        else:
            found = _colours(treated.meter, first if own else None, marks)
            meters = (*own, treated.meter)
        for second, too in found:
            more = treated.colours[GREEN if treated.meter is None else second]
            yield outcome(
                (first, second),
                left,
                policed=more is None,
                marks=(marks, more),
                meters=meters,
                possible=possible if too is None else too if possible is None else possible & too,
            )


def _colours(meter: Meter | None, came: int | None, marks: Marks) -> Iterator[tuple[int, NDArray[np.bool_] | None]]:
    """Give the colours that a meter can give, each with the packets that can get it, by the marks with which they came.

    What comes with a colour gets none that is better; where no meter gave it one
    (`came` is None), the meter knows it by the drop precedence of its code point, after `marks` were set.
    """
    if meter is None:
        yield GREEN, None
        return
    for colour in sorted(able(meter)):
        if not meter.colour_aware:
            yield colour, None
        elif came is None:
            yield colour, coming_colours(Metering(meter, marks)) <= colour
        elif came <= colour:
            yield colour, None
