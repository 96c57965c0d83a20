"""Whether switches do worse since they were pushed to, as a monitor sees them.

What a switch didn't achieve before its push doesn't count, until it has achieved it once. A switch that is away counts
where it stays away: one that is given another program is, for a moment.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Final

from phb.model.policy_set import PolicySet
from phb.monitor.observation import Event, EventKind, Judgement, Measure, Observation, State, Subject

AWAY_S: Final = 5.0
"""Seconds that a switch may be away after a push."""
MARGIN_S: Final = 3.0
"""Seconds beyond the intervals of an objective in which it is judged: for the first sample, and the way to us."""

_Bound = tuple[Subject, Measure, float | None]


class Verdicts:
    """Takes a monitor's observations (`phb.monitor.observation.Taker`) and keeps what speaks against a push."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._broken: dict[str, set[_Bound]] = {}
        self._excused: dict[str, set[_Bound]] = {}
        self._away: dict[str, tuple[float, str]] = {}
        self._complaints: dict[str, str] = {}

    def take(self, observation: Observation) -> None:
        """Take one."""
        switch = observation.switch
        broken = {_bound(each) for each in observation.judgements if each.state is State.NOT_ACHIEVED}
        self._broken[switch] = broken
        for event in observation.events:
            self._event(switch, event)
        excused = self._excused.get(switch)
        if excused is not None and observation.sample is not None:
            excused &= broken

    def _event(self, switch: str, event: Event) -> None:
        if event.kind is EventKind.SWITCH_AWAY:
            self._away[switch] = self._clock(), event.message
        elif event.kind is EventKind.SWITCH_BACK:
            self._away.pop(switch, None)
        elif event.kind is EventKind.NOT_ACHIEVED and event.judgement is not None:
            excused = self._excused.get(switch)
            if excused is not None and _bound(event.judgement) not in excused:
                self._complaints.setdefault(switch, event.message)

    def pushed(self, switches: Iterable[str]) -> None:
        """From now on they are judged: what they don't achieve at this moment is excused. Those that are stay so."""
        for switch in switches:
            self._excused.setdefault(switch, set(self._broken.get(switch, ())))

    def complaints(self) -> dict[str, str]:
        """Give what has come up against switches since the last call, by their names."""
        now = self._clock()
        for switch, (since, message) in list(self._away.items()):
            if switch in self._excused and now - since >= AWAY_S:
                self._complaints.setdefault(switch, f"away since it was pushed to: {message}")
        found, self._complaints = self._complaints, {}
        for switch in found:
            self._away.pop(switch, None)
        return found


def judged_after_s(policies: Iterable[PolicySet]) -> float:
    """Give after how many seconds the slowest objective of policies is known to fail; 0 where none is stated."""
    stated = [item.objectives for policy in policies for item in policy.judged]
    found = [each.interval_s * each.not_achieved_after for each in stated if each is not None]
    return max(found) + MARGIN_S if found else 0.0


def _bound(judgement: Judgement) -> _Bound:
    return judgement.subject, judgement.measure, judgement.percentile
