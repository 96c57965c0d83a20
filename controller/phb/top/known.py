"""What messages have told: the newest figures of each switch, port and class, those of the last minute, and events."""

from __future__ import annotations

import math
from array import array
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from phb.monitor.live.messages import Detail, Mark, Message, ObjectiveFigures, Occurrence, Summary, SwitchInfo

PAST: Final = 60
"""Figures that are kept of each item: a minute, at an interval of a second."""
EVENTS: Final = 500
"""Events and pushes that are kept."""


class Item(NamedTuple):
    """A switch; or a port of it, a class of it, or a class at a port."""

    switch: str
    port: str | None = None
    traffic_class: str | None = None


@dataclass(frozen=True, slots=True)
class Figures:
    """One item's newest figures; None where it has none.

    Attributes:
        bps, pps: Bit/s and packets/s that left.
        dropped: Packets/s; of a class at a port those that found no room.
        mean, delay: In us: the mean, and what 99 percent don't exceed; of a switch its worst class's.
        met, unmet: Objectives, and of these those that aren't achieved; `unknown` aren't judged yet.
        condition: Of a switch ``waiting``, ``okay``, ``not-achieved`` or ``away``; of a port ``down`` if it is.
    """

    bps: float | None = None
    pps: float | None = None
    dropped: float | None = None
    queued: int | None = None
    mean: float | None = None
    delay: float | None = None
    met: int = 0
    unmet: int = 0
    unknown: int = 0
    condition: str = ""


class Past(NamedTuple):
    """The figures of the last minute, the newest last; not a number where there was none."""

    bps: array[float]
    dropped: array[float]
    delay: array[float]


class Known:
    """What messages have told.

    Attributes:
        changes: Grows with each message that may be seen.
        now: The newest moment that was told, in ms since 1970; 0 before.
        events: Newest last.
        trouble: Why nothing comes any more; empty while something does.
    """

    def __init__(self) -> None:
        self.changes = 0
        self.now = 0.0
        self.title = ""
        self.trouble = ""
        self.switches: dict[str, SwitchInfo] = {}
        self.summaries: dict[str, Summary] = {}
        self.details: dict[str, Detail] = {}
        self.events: deque[Occurrence | Mark] = deque(maxlen=EVENTS)
        self._past: dict[str, dict[Item, Past]] = {}

    def take(self, message: Message) -> None:
        """Take one."""
        self.changes += 1
        if message["kind"] == "hello":
            self.title, self.now = message["title"], message["now"]
            self.follow(message["switches"])
            return
        self.now = max(self.now, message["t"])
        if message["kind"] == "tick":
            self.summaries.update(message["switches"])
            for name, summary in message["switches"].items():
                self._remember(Item(name), summary["bps"], summary["dropped"], summary["delay"])
        elif message["kind"] == "detail":
            self._take_detail(message)
        else:
            self._take_event(message)

    def follow(self, switches: list[SwitchInfo]) -> None:
        """Know these switches from now on, and forget what others told."""
        self.changes += 1
        self.switches = {each["name"]: each for each in switches}
        for of_all in (self.summaries, self.details, self._past):
            for gone in of_all.keys() - self.switches.keys():
                del of_all[gone]

    def forget_details(self, switch: str) -> None:
        """Forget the details of a switch, which nobody tells any more."""
        self.details.pop(switch, None)
        self._past[switch] = {item: past for item, past in self._past.get(switch, {}).items() if item == Item(switch)}

    def past(self, item: Item) -> Past | None:
        """Give the figures of the last minute; of a class at a port those of the class."""
        at = item if item.traffic_class is None else item._replace(port=None)
        return self._past.get(item.switch, {}).get(at)

    def figures(self, item: Item) -> Figures:
        """Give the newest figures."""
        switch, port, traffic_class = item
        detail = self.details.get(switch)
        if traffic_class is not None and port is None:
            return _of_class(detail, traffic_class)
        if port is None:
            return self._of_switch(switch, detail)
        of_port = None if detail is None else detail["ports"].get(port)
        if of_port is None:
            return Figures()
        if traffic_class is None:
            down = "down" if of_port["up"] is False else ""
            return Figures(of_port["bps"], of_port["pps"], queued=of_port["queued"], condition=down)
        queue = of_port["queues"].get(traffic_class)
        return Figures() if queue is None else Figures(queue["bps"], queue["pps"], queue["refused"], queue["queued"])

    def objectives(self, item: Item) -> Iterator[ObjectiveFigures]:
        """Give those of a class or, of a switch, all."""
        detail = self.details.get(item.switch)
        name = None if item.traffic_class is None else f"class '{item.traffic_class}'"
        if detail is not None and (item.port is None or name is not None):
            yield from (each for each in detail["objectives"] if name in (None, each["of"]))

    def _of_switch(self, switch: str, detail: Detail | None) -> Figures:
        summary = self.summaries.get(switch)
        if summary is None or summary["condition"] in ("waiting", "away"):
            return Figures(condition="waiting" if summary is None else summary["condition"])
        found = Figures(
            summary["bps"],
            dropped=summary["dropped"],
            delay=summary["delay"],
            unmet=summary["unmet"],
            condition=summary["condition"],
        )
        if detail is None or "away" in detail:
            return found
        states = [each["state"] for each in detail["objectives"]]
        queued = [each["queued"] for each in detail["ports"].values() if each["queued"] is not None]
        return replace(
            found,
            pps=sum(each["pps"] for each in detail["ports"].values()),
            queued=sum(queued) if queued else None,
            met=states.count("okay"),
            unknown=states.count("unknown"),
        )

    def _take_detail(self, detail: Detail) -> None:
        switch = detail["switch"]
        self.details[switch] = detail
        if "away" in detail:
            for item in self._past.get(switch, {}):
                if item != Item(switch):
                    self._remember(item, math.nan, math.nan, None)
            return
        for name, port in detail["ports"].items():
            refused = sum(each["refused"] for each in port["queues"].values())
            self._remember(Item(switch, name), port["bps"], refused, None)
        for name, of_class in detail["classes"].items():
            delays = of_class["delays"]
            dropped = sum(of_class["dropped"].values())
            self._remember(Item(switch, None, name), of_class["bps"], dropped, None if delays is None else delays["99"])

    def _take_event(self, event: Occurrence | Mark) -> None:
        if event["kind"] == "mark":
            # The outcome of a push takes the place of its beginning.
            for place, known in enumerate(self.events):
                same = known["kind"] == "mark" and known["switch"] == event["switch"]
                if same and known["kind"] == "mark" and known["number"] == event["number"]:
                    self.events[place] = event
                    return
        # A monitor that is asked again tells its last ones again.
        if event not in self.events:
            self.events.append(event)

    def _remember(self, item: Item, bps: float, dropped: float, delay: float | None) -> None:
        of_switch = self._past.setdefault(item.switch, {})
        past = of_switch.get(item)
        if past is None:
            past = of_switch[item] = Past(array("d"), array("d"), array("d"))
        for kept, value in zip(past, (bps, dropped, math.nan if delay is None else delay), strict=True):
            kept.append(value)
            if len(kept) > PAST:
                del kept[0]


def _of_class(detail: Detail | None, name: str) -> Figures:
    found = None if detail is None else detail["classes"].get(name)
    if detail is None or found is None:
        return Figures()
    delays = found["delays"]
    states = [each["state"] for each in detail["objectives"] if each["of"] == f"class '{name}'"]
    return Figures(
        found["bps"],
        found["pps"],
        sum(found["dropped"].values()),
        found["queued"],
        found["mean"],
        None if delays is None else delays["99"],
        states.count("okay"),
        states.count("not-achieved"),
        states.count("unknown"),
    )
