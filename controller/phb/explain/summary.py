"""Many packets in a few lines: by rule, by class, by drop reason."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from phb.explain.explanation import Explanation
from phb.names import NO_RULE


@dataclass(slots=True)
class Tally:
    """Packets that have something in common. Delays are of packets that the scheduler took, in ns."""

    packets: int = 0
    bytes: int = 0
    dropped: int = 0
    delay_sum_ns: int = 0
    delay_max_ns: int = 0
    taken: int = 0

    def add(self, told: Explanation) -> None:
        """Count one."""
        self.packets += 1
        self.bytes += told.length
        self.dropped += told.drop_reason is not None
        if told.queueing_ns is not None:
            self.taken += 1
            self.delay_sum_ns += told.queueing_ns
            self.delay_max_ns = max(self.delay_max_ns, told.queueing_ns)

    @property
    def delay_mean_ns(self) -> int:
        """The mean time in the scheduler."""
        return self.delay_sum_ns // self.taken if self.taken else 0


def _tallies() -> defaultdict[str, Tally]:
    return defaultdict(Tally)


@dataclass(slots=True)
class Summary:
    """All packets of a capture: by rule with its place, by class (dropped ones included), by drop reason, by colour."""

    rules: defaultdict[str, Tally] = field(default_factory=_tallies)
    classes: defaultdict[str, Tally] = field(default_factory=_tallies)
    reasons: defaultdict[str, Tally] = field(default_factory=_tallies)
    colours: defaultdict[str, Tally] = field(default_factory=_tallies)
    total: Tally = field(default_factory=Tally)

    def add(self, told: Explanation) -> None:
        """Count one packet."""
        self.total.add(told)
        for rule in filter(None, (told.input, told.output)):
            self.rules[f"{rule.name}  {rule.origin}"].add(told)
        if told.input is None and told.output is None:
            self.rules[NO_RULE].add(told)
        self.classes[told.traffic_class].add(told)
        self.colours[told.colour].add(told)
        if told.drop_reason is not None:
            self.reasons[told.drop_reason].add(told)

    def as_json(self) -> dict[str, object]:
        """Give the summary as JSON."""
        return {
            "total": _as_json(self.total),
            "rules": {name: _as_json(tally) for name, tally in self.rules.items()},
            "classes": {name: _as_json(tally) for name, tally in self.classes.items()},
            "colours": {name: _as_json(tally) for name, tally in self.colours.items()},
            "drops": {name: _as_json(tally) for name, tally in self.reasons.items()},
        }


def _as_json(tally: Tally) -> dict[str, int]:
    return {
        "packets": tally.packets,
        "bytes": tally.bytes,
        "dropped": tally.dropped,
        "delay_mean_ns": tally.delay_mean_ns,
        "delay_max_ns": tally.delay_max_ns,
    }
