"""What a monitor in this process finds, as messages."""

from __future__ import annotations

from collections.abc import Iterable

from phb.inventory import Switch
from phb.monitor.live.making import detail_of, milliseconds, occurrence_of, summary_of
from phb.monitor.observation import Observation
from phb.monitor.sample import Sample
from phb.top.known import Known


class Feed:
    """Takes observations (`phb.monitor.observation.Taker`), and has `known` know details of all switches."""

    def __init__(self, known: Known, switches: Iterable[Switch]) -> None:
        self._known = known
        self._before: dict[str, Sample] = {}
        self.follow(switches)

    def follow(self, switches: Iterable[Switch]) -> None:
        """Have these switches known from now on."""
        self._known.follow(
            [{"name": each.name, "address": each.address, "groups": list(each.groups)} for each in switches]
        )

    def take(self, observation: Observation) -> None:
        """Take one."""
        known, name = self._known, observation.switch
        for event in observation.events:
            known.take(occurrence_of(event))
        if name not in known.switches:
            return
        before = self._before.pop(name, None)
        if observation.sample is not None:
            self._before[name] = observation.sample
        detail, summary = detail_of(observation, before), summary_of(observation, before)
        known.take({"kind": "tick", "t": milliseconds(observation.time_ns), "switches": {name: summary}})
        known.take(detail)
