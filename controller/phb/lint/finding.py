"""A finding of a lint check, for an engineer to know before a push."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property

from phb.lint.regions import Region, Regions
from phb.model import Action, BehaviourAggregate, PolicySet, Rule
from phb.origin import Origin


class Severity(StrEnum):
    """How bad a finding is; errors and warnings make ``phb lint`` give exit code 1."""

    ERROR = "error"
    """The policy can't do what it says."""
    WARNING = "warning"
    """The policy does something that its author hardly wanted."""
    ADVICE = "advice"
    """Experience advises against it; a policy may have its reasons."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or unwise.

    Attributes:
        kind: Its id, such as ``shadowed-rule``; docs/policies/lint.md has a section for each.
        origin: The statement it is about.
        what: The finding, in one sentence.
        why: Its consequence, or the document that advises against it.
        advice: The remedy.
    """

    kind: str
    severity: Severity
    origin: Origin
    what: str
    why: str
    advice: str

    def __str__(self) -> str:
        return f"{self.origin}: {self.severity}: {self.what} [{self.kind}]"


@dataclass(frozen=True)
class Context:
    """The input of every check; windows that are over at `at` never come again.

    `shadowed` are the rules and behaviour aggregates that are known never to be asked, with the earlier ones that take
    their traffic: the check for them finds them, and runs before those that want to know.
    """

    policy: PolicySet
    at: datetime
    shadowed: list[tuple[Region, list[Region]]] = field(default_factory=list)

    @cached_property
    def askers(self) -> tuple[Rule | BehaviourAggregate, ...]:
        """The rules, then the behaviour aggregates: the order in which they are asked."""
        return (*self.policy.rules, *self.policy.behaviour_aggregates)

    @cached_property
    def users(self) -> Mapping[str, Sequence[Rule | BehaviourAggregate]]:
        """The rules and aggregates that name each action."""
        users: dict[str, list[Rule | BehaviourAggregate]] = {action.name: [] for action in self.policy.actions}
        for item in self.askers:
            for name in item.actions:
                users.setdefault(name, []).append(item)
        return users

    @cached_property
    def actions(self) -> Mapping[str, Action]:
        """Actions by name."""
        return {action.name: action for action in self.policy.actions}

    def actions_of(self, item: Rule | BehaviourAggregate) -> list[Action]:
        """Give the actions that an item names; a name without an action is the compiler's error."""
        return [self.actions[name] for name in item.actions if name in self.actions]

    @cached_property
    def regions(self) -> Regions:
        """The packets of each rule and aggregate."""
        return Regions(self.policy, self.actions, self.at)


@dataclass(frozen=True, slots=True)
class Check:
    """A kind of finding: `run` gives findings in any order, with ids and severities of `kinds`."""

    kinds: dict[str, Severity]
    run: Callable[[Context], Iterable[Finding]]
