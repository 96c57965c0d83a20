"""Takes observations, and tells of them: now to subscribers, and for some minutes to those who come later."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from threading import Lock, Timer
from typing import Final

from phb.monitor.live.making import WAITING, detail_of, milliseconds, objective_of, occurrence_of, rules_of, summary_of
from phb.monitor.live.messages import (
    VERSION,
    Detail,
    Hello,
    Link,
    Mark,
    Message,
    Occurrence,
    Span,
    Summary,
    SwitchInfo,
    Tick,
)
from phb.monitor.live.past import Past
from phb.monitor.live.subscription import Subscription, Told
from phb.monitor.live.thinning import thinned
from phb.monitor.observation import Event, Judgement, Observation
from phb.monitor.sample import Sample

PAST_S: Final = 900.0
"""Seconds of details that are kept of each switch."""

MADE_S: Final = 0.05
"""Seconds after which details are made that nobody has asked for."""

MOST_PENDING: Final = 1000
"""Details that may wait for that; with one more, who brings it makes all of them."""

KEPT: Final = 200
"""Events and marks that a new reader is told."""

MOST_KEPT: Final = 2000
"""Events, and marks, that are kept for those who ask for them."""


def line_of(message: Message) -> bytes:
    """Give a message as one line of JSON, without its end: no name can make another line of it."""
    return json.dumps(message, separators=(",", ":"), allow_nan=False).encode("ascii")


class _Seen:
    """An observation, and what is made of it when somebody wants it."""

    def __init__(self, observation: Observation, before: Sample | None) -> None:
        self.observation = observation
        self._before = before

    @cached_property
    def detail(self) -> Detail:
        """All but its rules."""
        return detail_of(self.observation, self._before)

    @cached_property
    def whole(self) -> Told:
        """All of it."""
        return _told({**self.detail, "policies": rules_of(self.observation)})


class Live:
    """Takes observations (`phb.monitor.observation.Taker`); all of it may be called from any thread.

    Attributes:
        interval_s: Seconds between two observations of a switch.
        rest_s: Seconds for which a page is told nothing after it was told something: where virtual time is faster than
            pages are drawn.

    Args:
        record: Gets each message of a recording as a line without its end, in the thread that this is told in.
        waiting: How many details of its switch may wait for a page; of more it gets the newest.
    """

    def __init__(
        self,
        switches: Iterable[SwitchInfo],
        links: Iterable[Link] = (),
        interval_s: float = 1.0,
        *,
        title: str = "phb monitor",
        writable: bool = False,
        past_s: float = PAST_S,
        clock_ns: Callable[[], int] = time.time_ns,
        record: Callable[[bytes], None] | None = None,
        rest_s: float = 0.0,
        waiting: int = 1,
    ) -> None:
        self.interval_s = interval_s
        self.rest_s = rest_s
        self._waiting = waiting
        self._title = title
        self._writable = writable
        self._past_s = past_s
        self._clock_ns = clock_ns
        self._record = record
        self._recording: Span | None = None
        # For all that follows; held for as short as a switch's figures take.
        self._lock = Lock()
        self._switches: dict[str, SwitchInfo] = {}
        self._links: list[Link] = []
        self._before: dict[str, Sample] = {}
        self._newest: dict[str, _Seen] = {}
        # Observations whose details aren't among the past yet, and who makes them soon.
        self._pending: deque[_Seen] = deque()
        self._making = Lock()
        self._maker: Timer | None = None
        self._summaries: dict[str, Summary] = {}
        self._past: dict[str, Past] = {}
        self._events: deque[Told] = deque(maxlen=MOST_KEPT)
        self._marks: dict[int, Told] = {}
        self._judged: dict[str, deque[tuple[float, Judgement]]] = {}
        self._subscriptions: set[Subscription] = set()
        self.follow(switches, links)

    # -- what is told to it -------------------------------------------------

    def follow(self, switches: Iterable[SwitchInfo], links: Iterable[Link] = ()) -> None:
        """Tell of these switches from now on; what is known of those that stay is kept."""
        with self._lock:
            self._switches = {each["name"]: each for each in switches}
            self._links = list(links)
            self._summaries = {name: self._summaries.get(name, WAITING) for name in self._switches}
            self._past = {name: self._past.get(name) or Past(self._past_s) for name in self._switches}
            for known in (self._before, self._newest, self._judged):
                for name in known.keys() - self._switches.keys():
                    del known[name]
            hello = _told(self._hello())
        self._tell_all(hello)

    def take(self, observation: Observation) -> None:
        """Take one."""
        name = observation.switch
        for event in observation.events:
            self.happened(event)
        with self._lock:
            if name not in self._switches:
                return
            before = self._before.get(name)
            if observation.sample is None:
                self._before.pop(name, None)
            else:
                self._before[name] = observation.sample
            self._newest[name] = seen = _Seen(observation, before)
            self._summaries[name] = summary = summary_of(observation, before)
            readers = list(self._subscriptions)
        # Nobody looks at most switches: what they are told of later is made when all others have been taken.
        self._keep(seen)
        if self._record is not None:
            self._record(seen.whole.line)
        for reader in readers:
            reader.summary(milliseconds(observation.time_ns), name, summary)
            if reader.switch == name:
                reader.detail(seen.whole)

    def _keep(self, seen: _Seen) -> None:
        with self._lock:
            self._pending.append(seen)
            maker, many = None, len(self._pending) > MOST_PENDING
            if self._maker is None:
                self._maker = maker = Timer(MADE_S, self._make)
                maker.daemon = True
        if maker is not None:
            maker.start()
        if many:
            self._make()

    def _make(self) -> None:
        """Make the details that wait for it; one after the other, so that lines stay in their order."""
        with self._making:
            while True:
                with self._lock:
                    if not self._pending:
                        self._maker = None
                        return
                    seen = self._pending.popleft()
                    past = self._past.get(seen.observation.switch)
                if past is not None:
                    past.add(seen.detail["t"], line_of(seen.detail))

    def happened(self, event: Event) -> None:
        """Take an event that no observation carries."""
        told = _told(occurrence_of(event))
        with self._lock:
            self._events.append(told)
            if event.judgement is not None:
                judged = self._judged.setdefault(event.switch, deque(maxlen=MOST_KEPT))
                judged.append((milliseconds(event.time_ns), event.judgement))
        self._tell_all(told)

    def mark(self, mark: Mark) -> None:
        """Take a push, or its outcome."""
        told = _told(mark)
        with self._lock:
            if self._marks.get(mark["number"]) == told:
                return
            self._marks[mark["number"]] = told
            if len(self._marks) > MOST_KEPT:
                del self._marks[min(self._marks)]
        self._tell_all(told)

    def ended(self, recording: Span) -> None:
        """Take it that nothing comes any more, and that the recording of all of it can be had."""
        with self._lock:
            self._recording = recording
            hello = _told(self._hello())
            readers = list(self._subscriptions)
        for reader in readers:
            reader.tell(hello)

    def _tell_all(self, told: Told) -> None:
        if self._record is not None:
            self._record(told.line)
        with self._lock:
            readers = list(self._subscriptions)
        for reader in readers:
            reader.tell(told)

    # -- what it tells ------------------------------------------------------

    @contextmanager
    def subscribe(self, switch: str | None = None) -> Iterator[Subscription]:
        """Give what is told from now on, after what is to be known first: `async for told in subscription`.

        First come a hello, a tick of all switches, the last events and marks, and the newest detail of `switch`, the
        one whose details are wanted.
        """
        with self._lock:
            first = [_told(self._hello()), _told(self._tick())]
            first += list(self._events)[-KEPT:]
            first += list(self._marks.values())[-KEPT:]
            if switch is not None and (known := self._newest.get(switch)) is not None:
                first.append(known.whole)
            subscription = Subscription(switch, first, _told, details=self._waiting)
            self._subscriptions.add(subscription)
        try:
            yield subscription
        finally:
            with self._lock:
                self._subscriptions.discard(subscription)
            subscription.end()

    @property
    def hello(self) -> Hello:
        """The first message, as of now."""
        with self._lock:
            return self._hello()

    @property
    def tick(self) -> Tick:
        """All switches in one look."""
        with self._lock:
            return self._tick()

    @property
    def switches(self) -> Mapping[str, SwitchInfo]:
        """The switches, by name."""
        return self._switches

    def detail(self, switch: str) -> Detail | None:
        """Give the newest detail of a switch, with its rules; None before the first."""
        known = self._newest.get(switch)
        return None if known is None else _detail(known.whole)

    def observation(self, switch: str) -> Observation | None:
        """Give what the newest detail was made of."""
        known = self._newest.get(switch)
        return None if known is None else known.observation

    @property
    def read_by(self) -> int:
        """How many readers there are."""
        return len(self._subscriptions)

    @property
    def events(self) -> Sequence[Occurrence]:
        """The last `MOST_KEPT` events, the oldest first."""
        with self._lock:
            return [each.message for each in self._events if each.message["kind"] == "event"]

    @property
    def marks(self) -> Sequence[Mark]:
        """The last `MOST_KEPT` pushes, by their number."""
        with self._lock:
            marks = [each.message for _, each in sorted(self._marks.items())]
        return [each for each in marks if each["kind"] == "mark"]

    def heartbeat(self) -> Told:
        """Give a tick of no switch, for a reader that has long been told nothing."""
        return _told({"kind": "tick", "t": milliseconds(self._clock_ns()), "switches": {}})

    def objectives(self, switch: str, seconds: float) -> list[dict[str, object]]:
        """Give a switch's objectives, each with the `changes` of its state in the last seconds: time, state, value.

        Those that it had before the oldest `MOST_KEPT` changes, or before this process began, aren't known.
        """
        with self._lock:
            known, judged = self._newest.get(switch), list(self._judged.get(switch, ()))
        if known is None:
            return []
        first = milliseconds(known.observation.time_ns) - seconds * 1000
        changes: dict[object, list[dict[str, object]]] = {}
        for t, each in judged:
            if t >= first:
                change: dict[str, object] = {"t": t, "state": each.state.value, "value": each.value}
                changes.setdefault(_about(each), []).append(change)
        return [
            {**objective_of(each), "changes": changes.get(_about(each), [])} for each in known.observation.judgements
        ]

    def lines(self, switch: str, seconds: float = PAST_S, most: int | None = None) -> list[bytes]:
        """Give the details of the last seconds without their rules, each as a line of JSON, the oldest first.

        Where there are more than `most`, each stands for several moments. That takes tenths of a second for a large
        switch: who must not be held up calls it in a thread.
        """
        self._make()
        past, now = self._past.get(switch), self._newest.get(switch)
        if past is None or now is None:
            return []
        with self._making:
            past = past.snapshot()
        lines = past.since(milliseconds(now.observation.time_ns) - seconds * 1000)
        return lines if most is None else thinned(lines, most)

    def series(self, switch: str, seconds: float = PAST_S, most: int | None = None) -> list[Detail]:
        """Give the same as messages."""
        return [json.loads(line) for line in self.lines(switch, seconds, most)]

    def _hello(self) -> Hello:
        hello: Hello = {
            "kind": "hello",
            "version": VERSION,
            "title": self._title,
            "now": milliseconds(self._clock_ns()),
            "interval": self.interval_s,
            "writable": self._writable,
            "switches": list(self._switches.values()),
            "links": self._links,
        }
        if self._recording is not None:
            hello["recording"] = self._recording
        return hello

    def _tick(self) -> Tick:
        return {"kind": "tick", "t": milliseconds(self._clock_ns()), "switches": dict(self._summaries)}


def _about(judgement: Judgement) -> object:
    return judgement.subject, judgement.measure, judgement.percentile, judgement.bound


def _told(message: Message) -> Told:
    return Told(message, line_of(message))


def _detail(told: Told) -> Detail:
    assert told.message["kind"] == "detail"
    return told.message
