"""The page of `/metrics`: made when somebody asks, in small pieces between the monitor's other work, and kept.

However often it is asked for, making it takes at most a tenth of a processor; who asks meanwhile gets the last one.
It is kept compressed, a tenth of its length, and expanded for the few who can't take it so, as they read.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from typing import Final

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.openmetrics import exposition
from prometheus_client.registry import Collector

from phb.monitor.metrics.delays import Bounds
from phb.monitor.metrics.newest import Newest
from phb.monitor.metrics.telling import texts

SLICE_S: Final = 0.001
"""After so long others of the process have their turn."""

SHARE: Final = 10
"""After a page was made, none is for so many times as long."""

PIECE: Final = 1 << 16
"""Bytes that are compressed or expanded at once."""

_GZIP: Final = 16 + zlib.MAX_WBITS


@dataclass(frozen=True, slots=True)
class Page:
    """A page.

    Attributes:
        zipped: In gzip.
        length: Expanded, in bytes.
    """

    zipped: bytes
    length: int

    def pieces(self) -> Iterator[bytes]:
        """Give it in pieces, compressed."""
        for start in range(0, len(self.zipped), PIECE):
            yield self.zipped[start : start + PIECE]

    def expanded(self) -> Iterator[bytes]:
        """Give it in pieces."""
        machine = zlib.decompressobj(_GZIP)
        rest = self.zipped
        while rest:
            yield machine.decompress(rest, PIECE)
            rest = machine.unconsumed_tail


class Pages:
    """Makes and keeps the page, in either format.

    Args:
        newest: What it tells of.
        bounds: Of the delay histograms.
    """

    def __init__(self, newest: Newest, bounds: Bounds) -> None:
        self._newest = newest
        self._bounds = bounds
        self._kept: dict[bool, Page] = {}
        self._rests_until_s = 0.0
        self._making = asyncio.Lock()
        self._own = Own()
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._registry.register(self._own)

    async def page(self, openmetrics: bool) -> Page:
        """Give the page."""
        self._own.asked += 1
        if (page := self._fresh(openmetrics)) is None:
            async with self._making:
                # Another may have made it meanwhile.
                page = self._fresh(openmetrics) or await self._make(openmetrics)
        return page

    def _fresh(self, openmetrics: bool) -> Page | None:
        return self._kept.get(openmetrics) if self._newest.clock() < self._rests_until_s else None

    async def _make(self, openmetrics: bool) -> Page:
        clock = self._newest.clock
        began = clock()
        busy = 0.0
        machine = zlib.compressobj(1, wbits=_GZIP)
        zipped: list[bytes] = []
        length = 0
        for piece in self._pieces(openmetrics):
            length += len(piece)
            zipped.append(machine.compress(piece))
            if (spent := clock() - began) > SLICE_S:
                busy += spent
                await asyncio.sleep(0)
                began = clock()
        zipped.append(machine.flush())
        page = Page(b"".join(zipped), length)
        now = clock()
        busy += now - began
        self._own.made(busy, page)
        self._kept[openmetrics] = page
        self._rests_until_s = now + SHARE * busy
        return page

    def _pieces(self, openmetrics: bool) -> Iterator[bytes]:
        for text in texts(self._newest.views(), self._newest.sessions, self._bounds, openmetrics):
            yield text.encode("utf-8", "replace")
        write: Callable[[Collector], bytes] = exposition.generate_latest if openmetrics else generate_latest
        yield write(self._registry)


class Own(Collector):
    """What the monitor and its page cost."""

    def __init__(self) -> None:
        self.asked = 0
        self._made = 0
        self._seconds = 0.0
        self._length = 0
        self._version = version("phb")

    def made(self, seconds: float, page: Page) -> None:
        """Count a page, and the time of the processor that it took."""
        self._made += 1
        self._seconds += seconds
        self._length = page.length

    def collect(self) -> Iterator[Metric]:
        """Give the families."""
        about = GaugeMetricFamily("phb_monitor_info", "1; which phb the monitor is of.", labels=("version",))
        about.add_metric((self._version,), 1)
        yield about
        yield CounterMetricFamily("phb_metrics_scrapes_total", "How often this page was asked for.", self.asked)
        yield CounterMetricFamily("phb_metrics_pages_total", "How often this page was made anew.", self._made)
        yield CounterMetricFamily("phb_metrics_seconds_total", "Time that making this page took.", self._seconds)
        yield GaugeMetricFamily("phb_metrics_page_bytes", "Length of the last page, expanded.", self._length)
