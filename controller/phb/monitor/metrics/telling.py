"""The page, and from a switch to rows of each family. One that is away has few: Prometheus ends series it misses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from phb.monitor.active.measured import Measured
from phb.monitor.metrics import families as f
from phb.monitor.metrics import sessions
from phb.monitor.metrics.chosen import OTHERS, Figures, Told, figures
from phb.monitor.metrics.delays import Bounds
from phb.monitor.metrics.families import Family, Row, escaped, worded
from phb.monitor.metrics.newest import View
from phb.monitor.observation import EventKind, Judgement, Measure, State
from phb.monitor.sample import ClassCount, PolicyCount, PortCount, StreamCount
from phb.names import NO_RULE
from phb.pipeline_names import COLOURS
from phb.state import PushOutcome

Teller = Callable[[View], Iterator[Row]]

_OF_NO_SWITCH: Final = (EventKind.REFLECTOR_AWAY, EventKind.REFLECTOR_BACK, EventKind.TEST)
_OF_SWITCHES: Final = [kind for kind in EventKind if kind not in _OF_NO_SWITCH]


def _one(value: Callable[[View], float | None]) -> Teller:
    def tell(view: View) -> Iterator[Row]:
        if (number := value(view)) is not None:
            yield view.label, number

    return tell


def _events(view: View) -> Iterator[Row]:
    for kind in _OF_SWITCHES:
        yield view.label, kind.value, view.known.events[kind]


def _pushes(view: View) -> Iterator[Row]:
    if (pushed := view.known.pushed) is not None:
        for outcome in PushOutcome:
            if outcome is not PushOutcome.STARTED:
                yield view.label, outcome.value, pushed.ended.get(outcome, 0)


def _push_outcome(view: View) -> Iterator[Row]:
    if (pushed := view.known.pushed) is not None:
        for outcome in PushOutcome:
            yield view.label, outcome.value, int(outcome is pushed.last.outcome)


def _push_entries(view: View) -> Iterator[Row]:
    if (pushed := view.known.pushed) is not None:
        for change in ("inserted", "modified", "deleted", "unchanged"):
            yield view.label, change, getattr(pushed.last, change)


def _classes(value: Callable[[ClassCount], int | None]) -> Teller:
    def tell(view: View) -> Iterator[Row]:
        if view.sample is not None:
            for each in view.sample.classes.values():
                if (number := value(each)) is not None:
                    yield view.label, escaped(each.name), number

    return tell


def _class_reasons(view: View) -> Iterator[Row]:
    if view.sample is not None:
        for each in view.sample.classes.values():
            for reason, packets in each.drops.items():
                if packets:
                    yield view.label, escaped(each.name), worded(reason), packets


def _ports(value: Callable[[PortCount], int | float | None]) -> Teller:
    def tell(view: View) -> Iterator[Row]:
        if view.sample is not None:
            for each in view.sample.ports.values():
                if (number := value(each)) is not None:
                    yield view.label, escaped(each.name), number

    return tell


def _chosen(view: View, streams: bool) -> Iterator[tuple[tuple[str, ...], Figures]]:
    """Give labels and figures of those with series of their own, and of the others."""
    if view.sample is None:
        return
    told: Told[PolicyCount] | Told[StreamCount] = view.streams if streams else view.policies
    for each in told.own:
        if isinstance(each, StreamCount):
            yield (view.label, escaped(each.action)), figures(each)
        else:
            # An empty label is none to Prometheus.
            rule = escaped(each.rule) if each.number else NO_RULE
            yield (view.label, rule, escaped(each.direction)), figures(each)
    if told.others is not None:
        yield ((view.label, OTHERS) if streams else (view.label, OTHERS, "")), told.others


def _counted(families: f.Counted, streams: bool) -> dict[Family, Teller]:
    def each(rows: Callable[[Figures], Iterable[Row]]) -> Teller:
        def tell(view: View) -> Iterator[Row]:
            for labels, counted in _chosen(view, streams):
                for row in rows(counted):
                    yield labels + row

        return tell

    def coloured(what: str) -> Teller:
        keys = tuple(((what, colour), colour) for colour in COLOURS.values())
        return each(lambda counted: [(colour, counted[key]) for key, colour in keys])

    def dropped(counted: Figures) -> list[tuple[int]]:
        return [(sum(packets for (what, _), packets in counted.items() if what == "drops"),)]

    def reasons(counted: Figures) -> list[tuple[str, int]]:
        return [(worded(reason), packets) for (what, reason), packets in counted.items() if what == "drops"]

    return {
        families.packets: coloured("packets"),
        families.bytes: coloured("bytes"),
        families.drops.packets: each(dropped),
        families.drops.bytes: each(lambda counted: [(counted["dropped", "bytes"],)]),
        families.drops.reasons: each(reasons),
        families.others: _one(
            lambda view: None if view.sample is None else (view.streams if streams else view.policies).number
        ),
    }


def _judgement(view: View, judgement: Judgement) -> tuple[str, ...]:
    subject = judgement.subject
    percentile = "" if judgement.percentile is None else f"{judgement.percentile:g}"
    name, direction = escaped(subject.name), escaped(subject.direction)
    return view.label, subject.kind.value, name, direction, judgement.measure.value, percentile


def _states(view: View) -> Iterator[Row]:
    for each in view.judgements:
        state = State.UNKNOWN if view.sample is None else each.state
        for one in State:
            yield *_judgement(view, each), one.value, int(one is state)


def _since(view: View) -> Iterator[Row]:
    for each in view.judgements:
        yield *_judgement(view, each), each.since_ns / 1e9


def _bounds(measures: tuple[Measure, ...], factor: float) -> Teller:
    def tell(view: View) -> Iterator[Row]:
        for each in view.judgements:
            if each.measure in measures:
                yield *_judgement(view, each), each.bound * factor

    return tell


def _values(measures: tuple[Measure, ...], factor: float) -> Teller:
    def tell(view: View) -> Iterator[Row]:
        for each in view.judgements:
            if each.measure in measures and each.value is not None and view.sample is not None:
                yield *_judgement(view, each), each.value * factor

    return tell


_RATES: Final = (Measure.MINIMUM_RATE, Measure.MAXIMUM_RATE), 1 / 8
_DELAYS: Final = (Measure.MEAN_DELAY, Measure.DELAY_PERCENTILE), 1 / 1000
_LOSSES: Final = (Measure.LOSS,), 1 / 100

_TELLERS: Final[dict[Family, Teller]] = {
    f.SWITCH_UP: _one(lambda view: int(view.sample is not None)),
    f.SWITCH_SAMPLE: _one(lambda view: None if view.known.sample_ns is None else view.known.sample_ns / 1e9),
    f.SWITCH_GAP: _one(lambda view: view.known.gap_s),
    f.SWITCH_ANEW: _one(lambda view: view.known.anew),
    f.EVENTS: _events,
    f.PUSHES: _pushes,
    f.PUSH_BEGAN: _one(lambda view: None if view.known.pushed is None else view.known.pushed.began_s),
    f.PUSH_OUTCOME: _push_outcome,
    f.PUSH_ENTRIES: _push_entries,
    f.CLASS_PACKETS: _classes(lambda each: each.sent.packets),
    f.CLASS_BYTES: _classes(lambda each: each.sent.bytes),
    f.CLASS_DROPS.packets: _classes(lambda each: sum(each.drops.values())),
    f.CLASS_DROPS.bytes: _classes(lambda each: each.dropped_bytes),
    f.CLASS_DROPS.reasons: _class_reasons,
    f.CLASS_MARKED: _classes(lambda each: each.marked),
    f.CLASS_QUEUED: _classes(lambda each: each.queued),
    **_counted(f.POLICY, streams=False),
    **_counted(f.STREAM, streams=True),
    f.PORT_PACKETS: _ports(lambda each: each.sent.packets),
    f.PORT_BYTES: _ports(lambda each: each.sent.bytes),
    f.PORT_IN_PACKETS: _ports(lambda each: None if each.received is None else each.received.packets),
    f.PORT_IN_BYTES: _ports(lambda each: None if each.received is None else each.received.bytes),
    f.PORT_IN_DISCARDS: _ports(lambda each: each.in_discards),
    f.PORT_OUT_DISCARDS: _ports(lambda each: each.out_discards),
    f.PORT_UP: _ports(lambda each: None if each.up is None else int(each.up)),
    f.PORT_SPEED: _ports(lambda each: None if each.speed_bps is None else each.speed_bps / 8),
    f.PORT_QUEUED: _ports(lambda each: each.queued),
    f.OBJECTIVE_STATE: _states,
    f.OBJECTIVE_SINCE: _since,
    f.RATE_BOUND: _bounds(*_RATES),
    f.RATE: _values(*_RATES),
    f.DELAY_BOUND: _bounds(*_DELAYS),
    f.DELAY: _values(*_DELAYS),
    f.LOSS_BOUND: _bounds(*_LOSSES),
    f.LOSS: _values(*_LOSSES),
}

FAMILIES: Final = (*_TELLERS, f.CLASS_DELAY, *sessions.FAMILIES)
"""All families of switches and sessions, in the order of the page."""


def texts(views: Sequence[View], measured: Sequence[Measured], bounds: Bounds, openmetrics: bool) -> Iterator[str]:
    """Write all families of all switches and sessions.

    It comes in pieces of some dozens of lines, so that other work finds room between.
    """
    for family in FAMILIES:
        head = family.head(openmetrics)
        if family in sessions.FAMILIES:
            pieces = sessions.lines(measured, family, bounds)
        else:
            pieces = _delays(views, bounds) if family is f.CLASS_DELAY else _lines(views, family)
        for text in pieces:
            yield head + text if head else text
            head = ""


def _lines(views: Sequence[View], family: Family) -> Iterator[str]:
    tell, template = _TELLERS[family], family.template
    for view in views:
        yield "".join([template % row for row in tell(view)])


def _delays(views: Sequence[View], bounds: Bounds) -> Iterator[str]:
    for view in views:
        if view.sample is not None:
            for each in view.sample.classes.values():
                yield bounds.text(f.CLASS_DELAY, (view.label, escaped(each.name)), each.delays)
