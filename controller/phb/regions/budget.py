"""How long a question may take."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Final

_FOR_TELLING: Final = 0.3
"""The share of the time that is kept for telling what was found."""


class TimeOver(BaseException):
    """The time that was allowed is over: raised in the midst of things, and as little an error as Ctrl-C is."""


@dataclass
class Budget:
    """Limits of a search; it runs from when it is made: for a command, when the command begins.

    Attributes:
        seconds: Time that it may take; None is no limit.
        cells: Cells that it may give; None is no limit.
        clock: Seconds since any moment.
    """

    seconds: float | None = None
    cells: int | None = None
    clock: Callable[[], float] = time.monotonic
    given: int = field(default=0, init=False)
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.clock()

    @property
    def spent(self) -> bool:
        """Whether a limit is reached."""
        return (self.cells is not None and self.given >= self.cells) or (
            self.seconds is not None and self.clock() - self._began >= self.seconds
        )

    @property
    def left(self) -> float | None:
        """Seconds that are left, less than 0 where they are over; None is no limit."""
        return None if self.seconds is None else self._began + self.seconds - self.clock()

    @property
    def taken(self) -> float:
        """Seconds since it was made."""
        return self.clock() - self._began

    def part(self, share: float, *, most: float | None = None, cells: int | None = None) -> Budget:
        """Give a budget for a share of the time that is left, and for at most so many seconds and cells."""
        allowed = [each for each in (None if self.left is None else self.left * share, most) if each is not None]
        return Budget(min(allowed, default=None), cells, self.clock)

    def finding(self, *, cells: int | None = None) -> Budget:
        """Give a budget for finding, which leaves a share of the time for telling what was found."""
        return self.part(1 - _FOR_TELLING, cells=cells)

    @contextmanager
    def enforced(self) -> Iterator[None]:
        """Interrupt what runs inside once the time is over, as Ctrl-C does.

        A call of C is not interrupted before it returns. Other threads than the main one aren't interrupted at all.

        Raises:
            TimeOver: Inside.
        """
        left = self.left
        if left is None or threading.current_thread() is not threading.main_thread():
            yield
            return
        if left <= 0:
            raise TimeOver
        began, armed = time.monotonic(), True

        def over(number: int, frame: FrameType | None) -> None:
            if armed:
                raise TimeOver

        handler = signal.signal(signal.SIGALRM, over)
        outer = signal.getitimer(signal.ITIMER_REAL)[0]
        signal.setitimer(signal.ITIMER_REAL, min(left, outer or left))
        try:
            yield
        finally:
            armed = False
            # Whoever else waits for this signal, as tests with a limit of time do, gets it when it was due.
            rest = max(outer - (time.monotonic() - began), 1e-3) if outer else 0
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, handler)
            signal.setitimer(signal.ITIMER_REAL, rest)
