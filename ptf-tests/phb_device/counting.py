"""Progress of the controller's packets, by counters: in real time there is no other sign."""

from __future__ import annotations

import time
from collections.abc import Callable

from phb_device.control import Control, ControlError

CONVERSATION_SLOTS = 65536
"""Of p4src/headers.p4: behind them is a slot for each port's one queue."""
# A port without a policy; its slot says that a frame for it was counted.
_MARKED = 11
_MARK = bytes(12) + b"\x88\xb5" + bytes(46)
_SETTLES_WITHIN_S = 10.0
_LOOKS_EVERY_S = 0.01


def settle(control: Control) -> None:
    """Wait until all packet-outs are through ingress, which takes one after the other: the last one is counted.

    Raises:
        ControlError: It takes too long.
    """
    cell = [CONVERSATION_SLOTS + _MARKED]
    name = "PhbIngress.schedule.conversation_enqueued"
    before = control.counter(name, cell)
    control.packet_out(_MARK, _MARKED)
    until(control, lambda: control.counter(name, cell) != before)


def transmitted(control: Control, port: int) -> int:
    """Return how many packets the scheduler of a port has taken."""
    return control.counter("PhbEgress.port_transmit", [port])[port][0]


def until(control: Control, holds: Callable[[], bool]) -> None:
    """Wait for a condition.

    Raises:
        ControlError: It takes too long.
    """
    deadline = time.monotonic() + _SETTLES_WITHIN_S
    while not holds():
        if time.monotonic() > deadline:
            raise ControlError(f"packets are not counted within {_SETTLES_WITHIN_S:g} s", control.address)
        time.sleep(_LOOKS_EVERY_S)
