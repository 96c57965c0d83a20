"""What service a packet is to get: the objectives of its rules, their actions and its class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from phb.explain.packet import TracedPacket
from phb.model import JUDGED, BehaviourAggregate, PolicySet, Rule
from phb.names import Names
from phb.origin import Origin


@dataclass(frozen=True, slots=True)
class Promise:
    """Objectives in words, of whom, and where they are said."""

    of: str
    words: str
    origin: Origin

    def as_json(self) -> dict[str, Any]:
        """Give it as JSON."""
        return {"of": self.of, "words": self.words, "file": self.origin.file, "line": self.origin.line}


class Promises:
    """The objectives of a policy, by the names that a packet meets."""

    def __init__(self, policy: PolicySet) -> None:
        self._by_name: dict[tuple[str, str], Promise] = {}
        for item in policy.judged:
            if item.objectives is not None:
                kind, name = JUDGED[type(item)], item.name
                origin = item.origin("objectives")
                self._by_name[kind, name] = Promise(f"{kind} '{name}'", str(item.objectives), origin)
        actions = {action.name: action for action in policy.actions}
        items: tuple[Rule | BehaviourAggregate, ...] = (*policy.behaviour_aggregates, *policy.rules)
        applied = {item.name: policy.action_of(item, actions) for item in items}
        self._action_of = {name: action.name for name, action in applied.items() if action is not None}

    def of(self, packet: TracedPacket, names: Names) -> tuple[Promise, ...]:
        """Give those of one packet."""
        if not self._by_name:
            return ()
        wanted = dict.fromkeys(self._asked(packet, names))
        return tuple(self._by_name[key] for key in wanted if key in self._by_name)

    def _asked(self, packet: TracedPacket, names: Names) -> Iterator[tuple[str, str]]:
        for entry in (packet.input_entry, packet.output_entry):
            policy = None if entry is None else names.policies.get(entry.parameters["policy"])
            if policy is not None:
                yield "rule", policy.rule
                yield "behaviour aggregate", policy.rule
                yield "action", self._action_of.get(policy.rule, "")
        yield "class", names.traffic_class(packet.traffic_class)
