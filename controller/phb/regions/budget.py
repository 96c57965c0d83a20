"""How long a question may take."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Budget:
    """Limits of a search; it runs from when it is made.

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
