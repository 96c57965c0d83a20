"""One look at a switch over a session that is open already."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import aclosing

from phb.deploying import Prepared
from phb.device.session import Session
from phb.monitor.reading.interfaces import Interfaces
from phb.monitor.reading.polling import PollingReader
from phb.monitor.reading.source import Source
from phb.monitor.reading.telemetry import NoTelemetryError, TelemetryReader
from phb.monitor.sample import Sample


async def read_once(
    session: Session, switch: str, prepared: Prepared | None = None, clock_ns: Callable[[], int] = time.time_ns
) -> Sample:
    """Read what a switch has counted; needs no mastership.

    Args:
        session: With the switch, entered.
        switch: Its name in the sample.
        prepared: The policies that it was given, for the names of ports, and of rules where entries have none.
        clock_ns: Gives the sample's time.

    Raises:
        SwitchError: It refuses, can't be reached, or runs another program.
    """
    interfaces = Interfaces(session)
    await interfaces.look()
    source = Source(session, switch, lambda: prepared, lambda: interfaces.now, clock_ns)
    for reader in (TelemetryReader(source), PollingReader(source)):
        try:
            async with aclosing(reader.samples(0)) as samples:
                async for sample in samples:
                    return sample
        except NoTelemetryError:
            continue
    raise AssertionError("a reader gives a sample or raises")
