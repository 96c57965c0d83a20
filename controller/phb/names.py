"""Names of the numbers in entries and counters: rules, classes, streams, ports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from phb.intent import NodeIntent, Policy
from phb.model import DEFAULT_CLASS, PolicySet

NO_RULE: Final = "(no rule)"
"""The rule of packets that none took."""


@dataclass(frozen=True)
class Names:
    """Names of rules, traffic classes, ports and streams by number; a number without one is shown as it is.

    A stream has the name of the action that has a meter or a buffer of its own.
    """

    policies: Mapping[int, Policy] = field(default_factory=dict)
    classes: Mapping[int, str] = field(default_factory=dict)
    ports: Mapping[int, str] = field(default_factory=dict)
    streams: Mapping[int, str] = field(default_factory=dict)

    @classmethod
    def of(cls, intent: NodeIntent, policy: PolicySet) -> Names:
        """Name what files compiled to."""
        return cls(
            {each.number: each for each in intent.policies},
            {0: DEFAULT_CLASS, **{number: name for name, number in intent.classes.items()}},
            {port.number: port.name for port in policy.ports if port.number is not None},
            {stream.number: stream.action for stream in intent.streams},
        )

    def policy(self, number: int) -> str:
        """Name the rule that became this policy."""
        if number == 0:
            return NO_RULE
        known = self.policies.get(number)
        if known is None:
            return f"policy {number}"
        return f"'{known.rule}'" + ("" if known.direction == "any" else f" ({known.direction})")

    def traffic_class(self, number: int) -> str:
        """Name the class of this number."""
        return self.classes.get(number, DEFAULT_CLASS if number == 0 else str(number))

    def port(self, number: int) -> str:
        """Name the port of this number."""
        return self.ports.get(number, str(number))
