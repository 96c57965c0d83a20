"""PolicyPerformanceCollection: how often the agent samples rules and actions, here the interval of their objectives.

Of its attributes only the sampling interval says something that phb has, too; the others steer a log file of the agent.
"""

from __future__ import annotations

from collections.abc import Sequence

from phb.formats.policy_agent import attributes as values
from phb.formats.policy_agent.attributes import parse_line
from phb.formats.policy_agent.blocks import Block, StatementLine
from phb.model import Action
from phb.notice import Notice

STATEMENT = "PolicyPerformanceCollection"
INTERVAL = "MinimumSamplingInterval"
KEYWORDS = frozenset({INTERVAL.lower()})

_WHY = "phb monitor reads all rules and actions, and keeps what its --history says"


def read_interval(block: Block, notices: list[Notice]) -> StatementLine | None:
    """Give the line of the sampling interval, its value checked; name all that has no effect."""
    found: StatementLine | None = None
    others: list[str] = []
    for line in block.attributes:
        if line.keyword.lower() in KEYWORDS:
            if found is not None:
                line.fail(f"{line.keyword} again", f"it once; it also stands at {found.origin}")
            seconds_of(line)
            found = line
        else:
            others.append(line.keyword)
    if others or found is None:
        what = f"{', '.join(dict.fromkeys(others))} of {STATEMENT}" if found is not None else STATEMENT
        notices.append(Notice(block.head.origin, f"{what} {'have' if len(others) > 1 else 'has'} no effect: {_WHY}"))
    return found


def seconds_of(line: StatementLine) -> int:
    """Read the interval."""
    return parse_line(line, values.whole(1, 3600), "seconds as a whole number from 1 to 3600")


def with_interval(actions: Sequence[Action], line: StatementLine | None, notices: list[Notice]) -> list[Action]:
    """Give the actions, their objectives measured over the sampling interval; say so if there are none."""
    if line is None:
        return list(actions)
    if not any(action.objectives for action in actions):
        notices.append(Notice(line.origin, f"{line.keyword} has no effect: no action has a MaxDelay to be measured"))
    return [_measured(action, line) for action in actions]


def _measured(action: Action, line: StatementLine) -> Action:
    said = action.objectives
    if said is None:
        return action
    measured = said.model_copy(update={"interval_s": seconds_of(line)})
    measured.at(said.origin(), {**said.origins(), "interval_s": line.origin})
    return action.model_copy(update={"objectives": measured}).at(action.origin(), action.origins())
