"""Tests of a run, one after another on one time axis, as live messages: for a page, for a recording, or for both."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC

from phb import Report
from phb.deploying import Prepared
from phb.entries import Change
from phb.inventory import Switch
from phb.monitor.live import Live, line_of
from phb.monitor.live.recording import Recorder
from phb.monitor.observation import Event, EventKind
from phb_lab.description import Network
from phb_lab.errors import UsageError
from phb_lab.levels import Asked, Looks
from phb_lab.levels.achieved import NANOSECONDS
from phb_lab.live.overview import overview
from phb_lab.virtual import EPOCH

BEGAN_NS = int(EPOCH.replace(tzinfo=UTC).timestamp()) * NANOSECONDS
"""When the first test begins, by the clock of messages."""

_STEP_S = 0.1

_REST_S = 0.1
"""Between two updates of a page: as many as an eye follows, however fast virtual time is."""

_WAITING = 100
"""Looks at a switch that a page gets with one update: its charts have no gaps at a thousand virtual seconds in one."""


class Pace:
    """Makes virtual time pass no faster than so many of its seconds in one of ours.

    Args:
        rate: Seconds of virtual time in one second.
        check: Called while it waits; may raise to stop.
    """

    def __init__(
        self,
        rate: float,
        check: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._rate = rate
        self._check = check
        self._clock = clock
        self._sleep = sleep
        self._began = clock()

    def begin(self) -> None:
        """Begin anew: a test doesn't make up for the time that its set-up took."""
        self._began = self._clock()

    def wait(self, now_ns: int) -> None:
        """Wait until it is time for this moment since the beginning."""
        due = self._began + now_ns / NANOSECONDS / self._rate
        while (left := due - self._clock()) > 0:
            self._check()
            self._sleep(min(left, _STEP_S))


class Showing:
    """Shows tests while they run.

    Attributes:
        live: What tells of them.

    Args:
        title: Of the page.
        networks: All that will run.
        every_ns: Between two looks at the switches.
        pace: How fast virtual time passes; without it, as fast as it is worked out.

    Raises:
        UsageError: no network has a switch.
        phb.InputError: a policy file is wrong.
    """

    def __init__(
        self,
        title: str,
        networks: Iterable[Network],
        *,
        every_ns: int = NANOSECONDS,
        pace: Pace | None = None,
    ) -> None:
        self._recorder: Recorder | None = None
        self._every_ns = every_ns
        self._pace = pace
        self._before_ns = self._now_ns = 0
        self._pushes = 0
        self._prepared: Mapping[str, Prepared] = {}
        switches, links = overview(networks)
        if not switches:
            raise UsageError(f"{title}: found no switch in these tests, expected one to watch")
        self.live = Live(
            switches,
            links,
            every_ns / NANOSECONDS,
            title=title,
            clock_ns=lambda: BEGAN_NS + self._now_ns,
            record=self._write,
            rest_s=_REST_S,
            waiting=_WAITING,
        )

    def begin(self, name: str, levels: Asked | None = None) -> Looks:
        """Begin a test, right behind the one before; give how its switches are to be looked at.

        Args:
            name: What it is, in a line.
            levels: What is judged, if anything is.
        """
        if self._now_ns:
            self._now_ns += self._every_ns
        self._before_ns = self._now_ns
        self.live.happened(Event(BEGAN_NS + self._now_ns, "", EventKind.TEST, name))
        if self._pace is not None:
            self._pace.begin()
        return Looks(
            (self.live, *(levels.takers if levels is not None else ())),
            every_ns=self._every_ns,
            judged=levels is not None,
            at_all=True,
            before_ns=self._before_ns,
            pushed=self._pushed,
            opened=self._opened,
            after=self._looked,
        )

    def record(self, recorder: Recorder) -> None:
        """Record all that is told from now on."""
        self._recorder = recorder
        self._write(line_of(self.live.hello))

    def _write(self, line: bytes) -> None:
        if self._recorder is not None:
            self._recorder.write(line)

    def ended(self) -> None:
        """All tests have been run: the recording is whole."""
        if self._recorder is not None:
            self._recorder.close()
        self.live.ended({"first": BEGAN_NS // 1_000_000, "last": (BEGAN_NS + self._now_ns) // 1_000_000})

    def switch(self, name: str) -> Switch | None:
        """Give a switch of the test that runs; None where it has no such switch."""
        prepared = self._prepared.get(name)
        return None if prepared is None else prepared.switch

    def prepared(self, switch: str) -> Prepared | None:
        """Give the policies that a switch has in this test."""
        return self._prepared.get(switch)

    def _opened(self, prepared: Sequence[Prepared]) -> None:
        self._prepared = {each.switch.name: each for each in prepared}

    def _pushed(self, reports: Mapping[str, Report]) -> None:
        for switch, report in reports.items():
            self._pushes += 1
            self.live.mark(
                {
                    "kind": "mark",
                    "t": (BEGAN_NS + self._now_ns) // 1_000_000,
                    "switch": switch,
                    "number": self._pushes,
                    "command": "run",
                    "user": "phb-lab",
                    "outcome": "applied",
                    "inserted": report.count(Change.INSERT),
                    "modified": report.count(Change.MODIFY),
                    "deleted": report.count(Change.DELETE),
                }
            )

    def _looked(self, now_ns: int) -> None:
        self._now_ns = self._before_ns + now_ns
        if self._pace is not None:
            self._pace.wait(now_ns)
