"""The last minutes of one switch: details as lines of JSON, packed together.

As objects, 15 minutes of a switch with 20 classes would be tens of megabytes. Packed, they take a twentieth.
"""

from __future__ import annotations

import zlib
from collections import deque
from typing import Final, NamedTuple

BLOCK: Final = 16
"""Lines that are packed together."""


class _Block(NamedTuple):
    times: tuple[float, ...]
    packed: bytes


class Past:
    """Lines with their times (ms), for so many seconds."""

    def __init__(self, seconds: float) -> None:
        self._longest_ms = seconds * 1000
        self._blocks: deque[_Block] = deque()
        self._open: list[tuple[float, bytes]] = []

    def add(self, t: float, line: bytes) -> None:
        """Add a line; forget what is too old."""
        self._open.append((t, line))
        if len(self._open) < BLOCK:
            return
        times, lines = zip(*self._open, strict=True)
        self._blocks.append(_Block(times, zlib.compress(b"\n".join(lines), 6)))
        # Another list: somebody may be reading this one in another thread.
        self._open = []
        while self._blocks and t - self._blocks[0].times[-1] > self._longest_ms:
            self._blocks.popleft()

    def snapshot(self) -> Past:
        """Give what is there now, to be read in another thread."""
        copy = Past(self._longest_ms / 1000)
        copy._blocks, copy._open = self._blocks.copy(), self._open.copy()
        return copy

    def since(self, t: float) -> list[bytes]:
        """Give the lines of this moment and later ones."""
        found: list[bytes] = []
        for times, packed in self._blocks:
            if times[-1] >= t:
                lines = zlib.decompress(packed).split(b"\n")
                found += [line for moment, line in zip(times, lines, strict=True) if moment >= t]
        return found + [line for moment, line in self._open if moment >= t]
