"""Queues in a switch that shapes by gNMI: its port 1 is so slow, for a moment, that all come before the first has left.

A frame that is being sent leaves when it was announced to, whatever becomes of the rate; those behind it leave at once
when the shaper has gone.
"""

from __future__ import annotations

from collections.abc import Sequence

from finsy import GNMIClient, GNMIPath
from finsy.proto import gnmi

from phb_device.control import Control, ControlError
from phb_device.counting import settle, transmitted, until
from phb_device.device import run_async

_HELD_S = 1.0
_POLICY = "qos/scheduler-policies/scheduler-policy[name=held]"
_SCHEDULER = f"{_POLICY}/schedulers/scheduler[sequence=0]/one-rate-two-color/config"
_BINDING = "qos/interfaces/interface[interface-id={}]/output/scheduler-policy/config/name"


def queue_up(control: Control, plug: bytes, frames: Sequence[bytes]) -> None:
    """Have packet-outs queue up at port 1 behind a plug sent slowly, and then leave; no policy may shape the port.

    Raises:
        ControlError: They weren't all queued before the plug had left.
    """
    before = transmitted(control, 1)
    name = run_async(_shape(control.address, round(len(plug) * 8 / _HELD_S)))
    try:
        control.packet_out(plug, 1)
        until(control, lambda: transmitted(control, 1) == before + 1)
        for frame in frames:
            control.packet_out(frame, 1)
        settle(control)
        if transmitted(control, 1) != before + 1:
            raise ControlError(f"frames did not queue up within {_HELD_S:g} s", control.address)
    finally:
        run_async(_unshape(control.address, name))


async def _shape(address: str, rate_bps: int) -> str:
    """Slow port 1 down; return gNMI's name of it."""
    client = GNMIClient(address)
    async with client:
        ids = await client.get(GNMIPath("interfaces/interface[name=*]/state/id"))
        name = next(str(update.path["interface", "name"]) for update in ids if int(update.value) == 1)
        await client.set(
            update=[
                (GNMIPath(f"{_SCHEDULER}/queuing-behavior"), gnmi.TypedValue(string_val="SHAPE")),
                (GNMIPath(f"{_SCHEDULER}/cir"), gnmi.TypedValue(uint_val=rate_bps)),
                (GNMIPath(_BINDING.format(name)), gnmi.TypedValue(string_val="held")),
            ]
        )
    return name


async def _unshape(address: str, name: str) -> None:
    client = GNMIClient(address)
    async with client:
        await client.set(delete=[GNMIPath(_POLICY), GNMIPath(_BINDING.format(name))])
