"""What ``phb monitor`` shows of the observations: classes with rates, losses and delays; objectives; sessions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from phb.cli import sessions_shown
from phb.cli.output import table
from phb.cli.sessions_shown import delays_as_json
from phb.delays import mean_us, percentile_us, time_in_words
from phb.monitor.changes import subject, words_of
from phb.monitor.judging import measured_words
from phb.monitor.observation import State, SubjectKind

if TYPE_CHECKING:
    from phb.cli.tables import Table
    from phb.inventory import StampSession, Switch
    from phb.monitor.active.measured import Measured
    from phb.monitor.observation import Change, Event, Judgement, Observation
    from phb.monitor.sample import ClassCount


def time_of(time_ns: int) -> str:
    """Write a moment as ISO 8601, UTC, milliseconds."""
    moment = datetime.fromtimestamp(time_ns / 1e9, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def event_as_json(event: Event) -> dict[str, Any]:
    """Give an event for programs."""
    told = {"time": time_of(event.time_ns), "switch": event.switch, "event": event.kind.value, "message": event.message}
    return told if event.judgement is None else told | judgement_as_json(event.judgement)


def judgement_as_json(judgement: Judgement) -> dict[str, Any]:
    """Give a judgement for programs."""
    about = judgement.subject
    return {
        about.kind.value: about.name,
        **({"direction": about.direction} if about.direction else {}),
        "measure": judgement.measure.value,
        **({} if judgement.percentile is None else {"percentile": judgement.percentile}),
        "value": judgement.value,
        "bound": judgement.bound,
        "unit": judgement.unit,
        "state": judgement.state.value,
        "since": time_of(judgement.since_ns),
    }


class Newest:
    """The newest observations by switch, which says something of an interval or that the switch is away.

    Attributes:
        whole: Set when there is one of each switch, and a period of each session.
    """

    def __init__(self, switches: Sequence[Switch], sessions: Sequence[StampSession] = ()) -> None:
        self.switches: dict[str, Observation | None] = {}
        self.sessions: dict[str, Measured | None] = {}
        self.whole = asyncio.Event()
        self.follow(switches, sessions)

    def follow(self, switches: Sequence[Switch], sessions: Sequence[StampSession]) -> None:
        """Show these from now on."""
        self.switches = {switch.name: self.switches.get(switch.name) for switch in switches}
        self.sessions = {session.name: self.sessions.get(session.name) for session in sessions}

    def take(self, observation: Observation) -> None:
        """Take one."""
        if observation.switch in self.switches and (observation.changes or observation.sample is None):
            self.switches[observation.switch] = observation
        for measured in observation.sessions:
            if measured.session.name in self.sessions and (measured.away or measured.figures is not None):
                self.sessions[measured.session.name] = measured
        if all(each is not None for each in (*self.switches.values(), *self.sessions.values())):
            self.whole.set()

    @property
    def trouble(self) -> bool:
        """Whether a switch or a reflector is away, or an objective isn't achieved."""
        return any(each is None or each.away for each in self.sessions.values()) or any(
            each is None
            or each.sample is None
            or any(judgement.state is State.NOT_ACHIEVED for judgement in each.judgements)
            for each in self.switches.values()
        )

    def tables(self) -> list[Table]:
        """Give a table of classes, and one of sessions where there are any."""
        return [self._classes(), *([self._sessions()] if self.sessions else [])]

    def _sessions(self) -> Table:
        shown = table(*sessions_shown.COLUMNS)
        for name, measured in sorted(self.sessions.items()):
            why = "" if measured is None else measured.why
            shown.add_row(name, *sessions_shown.row(measured, self._delays), below=why)
        return shown

    def _delays(self, switch: str, name: str) -> Mapping[int, int]:
        """Give what a class's packets waited in a switch in its last interval, by bucket."""
        observation = self.switches.get(switch)
        change = None if observation is None else observation.changes.get(subject(SubjectKind.CLASS, name))
        return {} if change is None else change.delays

    def _classes(self) -> Table:
        """Give a table of classes, with what isn't achieved below each."""
        shown = table("switch", "class", "kbit/s", "packets/s", "lost", "queued", "mean", "99 % below", "objectives")
        for name, observation in sorted(self.switches.items()):
            if observation is None or observation.sample is None:
                shown.add_row(name, "(away)" if observation is not None else "(waiting)", *[""] * 7)
                continue
            judgements = list(observation.judgements)
            for of_class, change in _classes(observation):
                mine = [each for each in judgements if _is_of(each, of_class.name)]
                judgements = [each for each in judgements if each not in mine]
                shown.add_row(name, of_class.name, *_figures(of_class, change), *_stated(mine))
            for about in dict.fromkeys(each.subject for each in judgements):
                mine = [each for each in judgements if each.subject == about]
                rest = observation.changes.get(about)
                figures = [""] * 6 if rest is None else [*_rates(rest), _lost(rest), "", "", ""]
                shown.add_row(name, words_of(about), *figures, *_stated(mine))
        return shown

    def as_json(self) -> dict[str, Any]:
        """Give the same for programs."""
        switches = [
            {
                "switch": name,
                "away": observation is None or observation.sample is None,
                "classes": []
                if observation is None
                else [_class_as_json(of_class, change) for of_class, change in _classes(observation)],
                "objectives": []
                if observation is None
                else [judgement_as_json(judgement) for judgement in observation.judgements],
            }
            for name, observation in sorted(self.switches.items())
        ]
        sessions = [
            sessions_shown.as_json(name, measured, self._delays) for name, measured in sorted(self.sessions.items())
        ]
        return {"switches": switches, "sessions": sessions}


def _is_of(judgement: Judgement, name: str) -> bool:
    return judgement.subject.kind is SubjectKind.CLASS and judgement.subject.name == name


def _classes(observation: Observation) -> Iterator[tuple[ClassCount, Change]]:
    if observation.sample is None:
        return
    for name, of_class in observation.sample.classes.items():
        change = observation.changes.get(subject(SubjectKind.CLASS, name))
        if change is not None:
            yield of_class, change


def _figures(of_class: ClassCount, change: Change) -> list[str]:
    mean, most = mean_us(change.delays), percentile_us(change.delays, 99)
    queued = "-" if of_class.queued is None else str(of_class.queued)
    return [
        *_rates(change),
        _lost(change),
        queued,
        *("-" if each is None else time_in_words(each) for each in (mean, most)),
    ]


def _rates(change: Change) -> list[str]:
    return [f"{change.sent_bps / 1000:.1f}", f"{change.sent_packets / change.seconds:.1f}"]


def _lost(change: Change) -> str:
    return f"{min(100.0, sum(change.drops.values()) / change.came_packets * 100):.1f} %" if change.came_packets else "-"


def _stated(judgements: Sequence[Judgement]) -> list[str]:
    broken = [each for each in judgements if each.state is State.NOT_ACHIEVED]
    if broken:
        return ["not achieved: " + ", ".join(measured_words(each) for each in broken)]
    states = {each.state for each in judgements}
    return ["" if not states else ("okay" if states == {State.OKAY} else "unknown yet")]


def _class_as_json(of_class: ClassCount, change: Change) -> dict[str, Any]:
    return {
        "class": of_class.name,
        "seconds": change.seconds,
        "sent_packets": change.sent_packets,
        "sent_bytes": change.sent_bytes,
        "came_packets": change.came_packets,
        "drops": dict(change.drops),
        "marked": change.marked,
        "queued": of_class.queued,
        "delay_us": delays_as_json(change.delays),
    }
