"""What was found, in words: packets, who decides, what becomes of them, and one of them that is explained."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from phb.behaviour.behaviour import Behaviour, RouteKind
from phb.behaviour.deciding import route
from phb.behaviour.facts import SENT_TO, rate_words
from phb.behaviour.marks import Marks
from phb.behaviour.policy import behaviour_of_policy
from phb.behaviour.policy.statements import Statements
from phb.comparing.checking import Explaining
from phb.comparing.outcome import on_wire
from phb.explain import ingress_port, parse_packet
from phb.explain.explanation import Explanation
from phb.model import Colour, PolicySet
from phb.origin import Origin
from phb.packets.boxes import ValueBox
from phb.packets.epochs import Epochs
from phb.packets.example import Example, example, oddness, sent_to
from phb.packets.frames import packet_of_frame
from phb.packets.largest import about, largest_in_words, share
from phb.packets.many import Boxes, Subsets
from phb.packets.space import UNTAGGED, Subset
from phb.packets.words import Naming, Words, dscp_name
from phb.searching.asking import Found, is_ip
from phb.searching.conditions import class_name
from phb.searching.outcomes import Outcome, outcomes
from phb.searching.packets import every_frame

_COLOURS = tuple(colour.value for colour in Colour)
_NOWHERE = {
    RouteKind.OWN: "for the router itself",
    RouteKind.BROADCAST: "dropped: a broadcast of a connected network",
    RouteKind.DISCARD: "dropped by a route that discards",
    RouteKind.NONE: "dropped: no route",
}


@dataclass(frozen=True)
class Subject:
    """The policy of a node that is asked.

    Attributes:
        everything: All frames that can come in at its ports.
    """

    policy: PolicySet
    behaviour: Behaviour
    naming: Naming
    everything: tuple[ValueBox, ...]

    @classmethod
    def of(cls, policy: PolicySet, epochs: Epochs) -> Subject:
        """Take what is asked about a policy in these epochs."""
        naming = Naming.of([policy], epochs)
        return cls(policy, behaviour_of_policy(policy, epochs), naming, tuple(every_frame(policy, epochs.all)))

    def policy_port(self, number: int) -> str:
        """Give the policy's name of a port, or its number."""
        return next((port.name for port in self.policy.ports if port.number == number), str(number))

    @property
    def epochs(self) -> Epochs:
        """The classes of moments."""
        return self.naming.epochs


@dataclass(frozen=True)
class Place:
    """A rule or behaviour aggregate that decides.

    Attributes:
        statement: By which it takes the example, such as a line of an access list, unless that is the rule itself.
    """

    name: str
    origin: Origin
    statement: Origin | None = field(default=None, compare=False)

    def __str__(self) -> str:
        by = "" if self.statement is None else f", line {self.statement.line}: {self.statement.statement}"
        return f"rule '{self.name}' at {self.origin}{by}"

    def as_json(self) -> dict[str, Any]:
        """Give it for programs."""
        by = (
            {}
            if self.statement is None
            else {"statement": {"line": self.statement.line, "text": self.statement.statement}}
        )
        return {"rule": self.name, "file": self.origin.file, "line": self.origin.line, **by}


@dataclass(frozen=True)
class Becomes:
    """What becomes of packets of some colours; of all where there is no meter."""

    colours: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return f"{', '.join(self.colours)}: {self.text}" if self.colours else self.text


@dataclass(frozen=True)
class Region:
    """Packets that the same rules decide, and of which the same becomes.

    Attributes:
        packets: In words; of very many sets of packets those of the largest.
        more_parts: Sets of packets that `packets` doesn't say.
        share: Of all packets, from 0 to 1 (`phb.packets.largest`).
        example: A packet, of `found`.
        wrong: What `phb explain` says otherwise of the example, an error of phb; None where it agrees.
    """

    packets: tuple[Words, ...]
    more_parts: int
    share: float
    rules: tuple[Place, ...]
    becomes: tuple[Becomes, ...]
    example: Example
    found: Found
    wrong: str | None = None

    @property
    def options(self) -> str:
        """What gives the example to `phb explain` on a command line."""
        at = "" if self.example.at is None else f" --at {self.example.at:%Y-%m-%dT%H:%M}"
        return f'--packet "{self.example.text}"{at}'

    def as_json(self) -> dict[str, Any]:
        """Give it for programs."""
        return {
            "packets": [words.as_json() for words in self.packets],
            "more_parts": self.more_parts,
            "share": self.share,
            "rules": [each.as_json() for each in self.rules],
            "becomes": [{"colours": list(each.colours), "text": each.text} for each in self.becomes],
            "example": {
                "packet": self.example.text,
                "at": None if self.example.at is None else self.example.at.isoformat(),
            },
        }


class Regions:
    """What was found, put together where it is decided and treated alike; the largest regions first."""

    def __init__(self, subject: Subject, found: Iterable[Found]) -> None:
        self._subject, self._statements = subject, Statements(subject.policy)
        said: dict[Hashable, Hashable] = {}
        groups: dict[Hashable, list[Found]] = defaultdict(list)
        for each in found:
            # Of the many sets of packets most have this in common with others.
            known = (each.decided, id(each.outcomes), *each.subsets[Subset.TOS : Subset.TAG + 1])
            if known not in said:
                said[known] = _rules(each), tuple(_becomes(subject, each))
            groups[said[known]].append(each)
        self._groups = list(groups.values())

    def __len__(self) -> int:
        return len(self._groups)

    def told(self) -> Iterator[Region]:
        """Tell them one after another."""
        subject = self._subject
        parts = [[each.boxes for each in group] for group in self._groups]
        sizes = about(parts)
        for number in sorted(range(len(parts)), key=lambda each: -sizes[each]):
            boxes, group = Boxes.joined(parts[number]), self._groups[number]
            words, more = largest_in_words(boxes, subject.naming, subject.everything)
            shown = min(group, key=self._oddness)
            one, becomes = _example(subject, shown), tuple(_becomes(subject, shown))
            rules = self._places(shown, one)
            yield Region(tuple(words), more, float(share(boxes)), rules, becomes, one, shown)

    def _places(self, shown: Found, one: Example) -> tuple[Place, ...]:
        """Give the rules that decide, with the statements by which they take the example."""
        arrival = parse_packet(one.text, Origin("example"))
        packet = packet_of_frame(arrival.frame, ingress_port(self._subject.policy, arrival, None))
        return tuple(replace(each, statement=self._statements.of(each.name, packet)) for each in _rules(shown))

    def _oddness(self, found: Found) -> tuple[Any, ...]:
        """Sort packets that people know first, IPv4 before IPv6."""
        return *oddness(found.subsets, self._subject.naming), found.subsets[Subset.VERSION]


def _rules(found: Found) -> tuple[Place, ...]:
    steps = {step.name: step for outcome in found.outcomes for step in outcome.steps}
    return tuple(Place(step.name, step.origin) for step in steps.values())


def _example(subject: Subject, found: Found) -> Example:
    one = example(found.boxes.largest(1)[0], subject.naming)
    mac = dict(route(subject.behaviour, found.decided.forwarding).facts).get(SENT_TO)
    return sent_to(one, mac) if isinstance(mac, str) else one


def _becomes(subject: Subject, found: Found) -> Iterator[Becomes]:
    colours: dict[str, list[str]] = defaultdict(list)
    for outcome in found.outcomes:
        said = ", then ".join(dict.fromkeys(_COLOURS[each] for each in outcome.colours)) if outcome.meters else ""
        colours[_words(subject, outcome, found.subsets)].append(said)
    for text, names in colours.items():
        yield Becomes(tuple(filter(None, names)), text)


def _words(subject: Subject, outcome: Outcome, subsets: Subsets) -> str:
    if outcome.blocked:
        return "blocked"
    words = [f"class {class_name(subject.behaviour, outcome.traffic_class)}"]
    words += [f"metered at {rate_words(meter.rate)}" for meter in outcome.meters]
    if outcome.policed:
        return ", ".join((*words, "dropped by its meter"))
    if outcome.port is None:
        return ", ".join((*words, _NOWHERE[outcome.route.kind]))
    words.append(f"to {subject.naming.shown(outcome.port)}")
    level = outcome.fact("level")
    words += [] if level is None else [f"level {level}"]
    return ", ".join((*words, _marks(outcome.new_marks, outcome.priorities, *subsets[Subset.TOS : Subset.TAG + 1])))


@cache
def _marks(
    new: tuple[Marks, Marks | None], priorities: tuple[int | None, ...] | None, came: int, came_tags: int
) -> str:
    """Say with which marks packets leave that came with some ToS octets and TAGs, which are subsets."""
    octets = [octet for octet in range(256) if came >> octet & 1]
    tags = [tag for tag in range(UNTAGGED + 1) if came_tags >> tag & 1]
    tos, tag = (each[np.ix_(octets, tags)] for each in on_wire(new, priorities))
    words = []
    if (tos != np.array(octets)[:, None]).any():
        code_points = np.unique(tos >> 2)
        words.append(f"dscp {dscp_name(int(code_points[0]))}" if len(code_points) == 1 else "other marks")
    if (tag != np.array(tags)).any():
        numbers = np.unique(tag[tag != UNTAGGED])
        words.append(f"pcp {numbers[0]}" if len(numbers) == 1 else "other pcp")
    return ", ".join(words) or "marks kept"


def explained(subject: Subject, explaining: Explaining, region: Region) -> Region:
    """Run the example of a region through the model of the pipeline, and note where that says something else."""
    arrival = parse_packet(region.example.text, Origin("example"))
    told = explaining.explain(arrival, region.example.at or subject.epochs.moments[0])
    found = region.found
    # Which colour the one packet gets is its meter's choice: it need not be one that was looked for.
    possible = outcomes(subject.behaviour, found.decided, is_ip=is_ip(found.subsets))
    if any(_agrees(subject, outcome, found.subsets, told) for outcome in possible):
        return region
    rules = ", ".join(rule.name for rule in (told.input, told.output) if rule is not None) or "no rule"
    words = f"phb explain says of this packet: {rules}, {told.colour}, {told.outcome}, class {told.traffic_class}"
    return replace(region, wrong=words)


def _agrees(subject: Subject, outcome: Outcome, subsets: Subsets, told: Explanation) -> bool:
    rules = [rule.name for rule in (told.input, told.output) if rule is not None]
    # The output policy isn't asked of a packet that forwarding drops for what only that packet has, such as its TTL.
    steps = outcome.steps if told.egress_port is not None or outcome.blocked else outcome.steps[: len(rules)]
    if len(rules) != len(steps) or _COLOURS[outcome.colour] != told.colour:
        return False
    if not all(name.startswith(f"'{step.name}'") for name, step in zip(rules, steps, strict=True)):
        return False
    if outcome.blocked or outcome.policed:
        return told.drop_reason == ("blocked" if outcome.blocked else "policed")
    if told.drop_reason is not None:
        return told.drop_reason not in ("blocked", "policed")
    if told.egress_port == "the controller":
        return True
    tags = [tag for tag in range(UNTAGGED + 1) if subsets[Subset.TAG] >> tag & 1]
    return (
        outcome.port is not None
        and told.egress_port == subject.policy_port(outcome.port)
        and told.traffic_class == class_name(subject.behaviour, outcome.traffic_class)
        and told.tos_after in outcome.marks[0][told.tos_before, tags]
    )
