"""What samples are read from, whichever way it is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from phb.deploying import Prepared
from phb.device.session import Session
from phb.monitor.reading.counting import Interface


@dataclass(frozen=True, slots=True)
class Source:
    """One switch over one session.

    Attributes:
        session: With the switch, entered.
        switch: Its name in samples.
        prepared: Gives the policies that the switch has been given, as they are now; None without.
        interfaces: Gives what gNMI says, by port number.
        clock_ns: Gives the time of samples (Unix).
        queues: Whether samples tell of each class at each port, too, where the switch has phb.telemetry. Without it
            their cells would have to be asked for one by one, each time all of them.
    """

    session: Session
    switch: str
    prepared: Callable[[], Prepared | None]
    interfaces: Callable[[], Mapping[int, Interface]]
    clock_ns: Callable[[], int] = time.time_ns
    queues: bool = False
