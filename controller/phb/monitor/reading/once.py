"""Single looks at a switch over a session that is open already."""

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


class Looking:
    """Looks at a switch now and then; needs no mastership. Entries are read again only where they were written.

    Args:
        session: With the switch, entered.
        switch: Its name in samples.
        prepared: The policies that it was given, for the names of ports, and of rules where entries have none.
        clock_ns: Gives the samples' time.
        queues: Whether samples tell of each class at each port, too, where the switch has phb.telemetry.
    """

    def __init__(
        self,
        session: Session,
        switch: str,
        prepared: Prepared | None = None,
        clock_ns: Callable[[], int] = time.time_ns,
        *,
        queues: bool = False,
    ) -> None:
        self._interfaces = Interfaces(session)
        source = Source(session, switch, lambda: prepared, lambda: self._interfaces.now, clock_ns, queues)
        self._readers: list[TelemetryReader | PollingReader] = [TelemetryReader(source), PollingReader(source)]

    async def look(self, *, interfaces: bool = True) -> Sample:
        """Read what the switch has counted.

        Args:
            interfaces: Whether to ask anew for what gNMI tells of ports, too.

        Raises:
            SwitchError: It refuses, can't be reached, or runs another program.
        """
        if interfaces:
            await self._interfaces.look()
        while True:
            try:
                async with aclosing(self._readers[0].samples(0)) as samples:
                    async for sample in samples:
                        return sample
            except NoTelemetryError:
                del self._readers[0]


async def read_once(
    session: Session, switch: str, prepared: Prepared | None = None, clock_ns: Callable[[], int] = time.time_ns
) -> Sample:
    """Look once; arguments and errors are those of `Looking`."""
    return await Looking(session, switch, prepared, clock_ns).look()
