"""The time of a run: one monotonic clock for all processes of the machine, counted from the start of the run."""

import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """When a run starts and ends, in ns of CLOCK_MONOTONIC."""

    zero_ns: int
    end_ns: int

    def now(self) -> int:
        """The time, in ns since the start of the run."""
        return time.monotonic_ns() - self.zero_ns

    @property
    def duration_ns(self) -> int:
        """How long the run takes."""
        return self.end_ns - self.zero_ns

    def of_realtime(self, realtime_ns: int) -> int:
        """A time of CLOCK_REALTIME, the kernel's stamps of packets, in ns since the start of the run.

        The difference of the two clocks is read each time, because CLOCK_REALTIME may be set.
        """
        return realtime_ns - time.time_ns() + self.now()
