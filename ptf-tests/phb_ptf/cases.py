"""Tables of cases: the program, the frames that are sent, and the fate of each.

    cases(
        globals(),
        Case(
            "a_port_of_the_range",
            "the range's bounds are not part of it",
            steps=[forwarded(udp(80), rule="web"), forwarded(udp(81))],
            policy=CONNECTED + "rules: [{name: web, match: {destination-ports: 80}}]",
            by_hand=ByHand([*WIRES, rule_entry(destination_port=(80, 80))], policies={"web": 7}),
        ),
    )

A case with a policy and entries becomes two test classes, ``..._by_policy`` and ``..._by_hand``, that expect the same:
so neither the compiler nor the author of the entries hides the other's mistakes. Expected counters are the sum over the
frames of the steps; nothing is computed from a model of the pipeline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from phb.pipeline_names import DropReason
from phb.targets import Capability
from phb_device import Entry
from phb_ptf.queues import QueueUp

GREEN, YELLOW, RED = range(3)

Left = Sequence[tuple[int, bytes]]
"""Port and frame of what leaves."""


@dataclass(frozen=True)
class Send:
    """One frame that arrives, and its fate.

    Attributes:
        frame: Without check sequence.
        leaves: All that leaves, on all ports, byte for byte.
        drop: Why the pipeline dropped it.
        rule: Of the input policy, or behaviour aggregate, that took it; none if empty.
        colour: By which it is counted for the rule.
        output_rule: Of the egress port's policy, with `output_colour`.
        exception: Why it goes to the controller (p4src/headers.p4, ForwardingException); 0: it doesn't.
        told: The frame as the controller gets it.
    """

    port: int
    frame: bytes
    leaves: Left = ()
    drop: DropReason = DropReason.NONE
    rule: str = ""
    colour: int = GREEN
    output_rule: str = ""
    output_colour: int = GREEN
    exception: int = 0
    told: bytes = b""


def forwarded(
    frame: bytes,
    becomes: bytes = b"",
    *,
    at: int = 2,
    to: int = 1,
    rule: str = "",
    colour: int = GREEN,
    output_rule: str = "",
    output_colour: int | None = None,
) -> Send:
    """Return a frame that leaves, as it came unless `becomes` says otherwise."""
    after = colour if output_colour is None else output_colour
    return Send(at, frame, [(to, becomes or frame)], DropReason.NONE, rule, colour, output_rule, after)


def dropped(
    frame: bytes,
    reason: DropReason,
    *,
    at: int = 2,
    rule: str = "",
    colour: int = GREEN,
    output_rule: str = "",
    output_colour: int | None = None,
) -> Send:
    """Return a frame that doesn't leave."""
    after = colour if output_colour is None else output_colour
    return Send(at, frame, (), reason, rule, colour, output_rule, after)


def told(frame: bytes, exception: int, becomes: bytes = b"", *, at: int = 2, rule: str = "") -> Send:
    """Return a frame that the controller gets, with its ingress port and an exception's number."""
    return Send(at, frame, rule=rule, exception=exception, told=becomes or frame)


@dataclass(frozen=True)
class PacketOut:
    """A frame of the controller's, and the port it leaves by; unchanged if `becomes` is empty.

    `drop` is why the pipeline dropped it. `output_rule` of the port's policy took it; no input policy sees it.
    """

    port: int
    frame: bytes
    becomes: bytes = b""
    drop: DropReason = DropReason.NONE
    output_rule: str = ""

    @property
    def leaves(self) -> Left:
        """Return the frames that leave for it."""
        return [(self.port, self.becomes or self.frame)] if self.drop is DropReason.NONE else []


@dataclass(frozen=True)
class Change:
    """The program changes to another policy, which is whole, or by hand to other entries.

    By hand, in this order, entries `delete` go, `modify` get another action, and `insert` come (default actions are
    set). `policies` are numbers of rules from here on; earlier ones stay.
    """

    policy: str = ""
    insert: Sequence[Entry] = ()
    modify: Sequence[Entry] = ()
    delete: Sequence[Entry] = ()
    policies: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Count:
    """The expected value of a counter's cell at the end of a case.

    Attributes:
        counter: As in docs/inside/pipeline.md.
        cell: Its index, or its meaning: ``("web", GREEN)`` of a rule or, for ``stream_traffic``, of an action;
            ``("line", 3)`` the fourth slot of a port's queue, ``("line gold", 0)`` the first of its class's.
        bytes_: Of those packets as they arrived; None: not looked at.
    """

    counter: str
    cell: int | tuple[str, int]
    packets: int
    bytes_: int | None = None


Step = Send | QueueUp | PacketOut | Change


@dataclass(frozen=True)
class ByHand:
    """Entries, and the numbers in them that the steps have names for."""

    entries: Sequence[Entry]
    policies: Mapping[str, int] = field(default_factory=dict)
    streams: Mapping[str, int] = field(default_factory=dict)
    queues: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """One possible mistake.

    Attributes:
        why: The mistake, in one line.
        policy: Native YAML, for the controller's compiler and push; None: only by hand.
        by_hand: Entries for gRPC alone; None: only by policy.
        also: Entries for both ways, of tables that no policy writes.
        counts: Further counters; ``drops``, ``policy_traffic``, ``policy_drops`` and ``port_transmit`` are always the
            sum over the steps, cell by cell.
        needs: Capabilities of its target; elsewhere it is skipped, with the capability table's reason.
        virtual: Whether time has to stand still between its steps.
        not_on_interfaces: Why such frames don't reach a switch by Linux's interfaces; empty: they do.
        keeps: Whether it changes nothing but counters. Of cases that do so, one after the other, the next one's policy
            or entries replace the last one's, without a new program, which takes bmv2 a second.
    """

    name: str
    why: str
    steps: Sequence[Step]
    policy: str | None = None
    by_hand: ByHand | None = None
    also: Sequence[Entry] = ()
    counts: Sequence[Count] = ()
    needs: Sequence[Capability] = ()
    virtual: bool = False
    not_on_interfaces: str = ""
    keeps: bool = False
