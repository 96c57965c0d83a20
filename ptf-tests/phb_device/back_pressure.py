"""Queues in bmv2, whose lines have no rate: they form while nothing reads the frames that it transmits.

Its transmitting thread waits for the stream's window, the buffer in front of it fills, and then each egress thread
(ports modulo four) waits with one packet in hand: jumbo frames fill the buffer through a port that no policy knows, the
plug is what the egress thread of port 1 has in hand.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from phb_device.control import Control, ControlError
from phb_device.counting import settle, transmitted, until
from phb_device.data_plane import DataPlane

# bmv2 keeps 128 packets before its ports, and 64 in each queue: half a queue at a time, so that none is dropped.
_FILLERS, _MOST_FILLERS = 32, 512
_FILLER = bytes(12) + b"\x88\xb5" + bytes(9000)  # IEEE 802 local experimental EtherType
# A port with another egress thread than port 1, and without a policy.
_FILLED = 8
_EGRESS_S = 0.1


def queue_up(plane: DataPlane, control: Control, plug: bytes, frames: Sequence[bytes]) -> None:
    """Have frames queue up at port 1, and then leave; beside them leave the plug, first, and fillers by other ports.

    `plane` is the only stream of the switch's data plane. The plug keeps the port's egress thread busy. Frames come as
    packet-outs, in order, for the switch takes nothing else meanwhile.

    Raises:
        ControlError: Its ports can't be held back.
    """
    plane.hold()
    try:
        _fill(control)
        before = transmitted(control, 1)
        control.packet_out(plug, 1)
        settle(control)
        until(control, lambda: transmitted(control, 1) == before + 1)
        for frame in frames:
            control.packet_out(frame, 1)
        settle(control)
        if transmitted(control, 1) != before + 1:
            raise ControlError("its ports can't be held back", control.address)
    finally:
        plane.release()


def _fill(control: Control) -> None:
    """Send jumbo frames, until no more of them pass egress."""
    passed = -1
    for _ in range(_MOST_FILLERS // _FILLERS):
        for _ in range(_FILLERS):
            control.packet_out(_FILLER, _FILLED)
        settle(control)
        time.sleep(_EGRESS_S)
        if (now := transmitted(control, _FILLED)) == passed:
            return
        passed = now
    raise ControlError("its ports can't be held back", control.address)
