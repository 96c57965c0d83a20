"""Overload: generators that are processes, each with frames of its own, bounded in rate and time."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from phb_device.processes import dies_with_us
from soak.target import tester_end

_ENDS_WITHIN_S = 30.0
LONGEST_S = 120.0
"""A flood that nobody ends stops by itself."""


@dataclass(frozen=True)
class Flooded:
    """Frames of floods: `sent` to the kernel, and `received` from the switch."""

    sent: int = 0
    received: int = 0

    def __add__(self, other: Flooded) -> Flooded:
        return Flooded(self.sent + other.sent, self.received + other.received)


class Flood:
    """A flood at some ports for a time; use it with ``with``.

    `generator` is that of `benchmarks.veth.programs`; `frames` are by port of arrival, and `per_second` is at each of
    them, 0 for as fast as it can. `counted` is the result, without generators whose interface went.
    """

    def __init__(
        self, generator: str, folder: Path, frames: Mapping[int, Sequence[bytes]], per_second: int, seconds: float
    ) -> None:
        self._commands = []
        for port, drawn in frames.items():
            path = folder / f"flood-{port}"
            path.write_text("".join(f"{frame.hex()}\n" for frame in drawn))
            interface = tester_end(port)
            self._commands.append(
                [generator, interface, interface, str(path), str(per_second), str(min(seconds, LONGEST_S))]
            )
        self.counted = Flooded()

    def __enter__(self) -> Self:
        self._processes = [
            subprocess.Popen(dies_with_us(command), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            for command in self._commands
        ]
        # The switch is to be overloaded, not the tester: it goes first where both want a processor.
        for process in self._processes:
            os.setpriority(os.PRIO_PROCESS, process.pid, 5)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        deadline = time.monotonic() + (_ENDS_WITHIN_S if error is None else 0.0)
        for process in self._processes:
            try:
                said, _ = process.communicate(timeout=max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
                continue
            if process.returncode == 0:
                counted = json.loads(said)
                self.counted += Flooded(counted["sent"], counted["received"])
