"""Capabilities of ports: limits of their rate."""

from __future__ import annotations

import phb
from phb.targets import Capability
from phb_conform.capabilities.probe import EVERYTHING, Probed, datagram, probe
from phb_device import CONNECTED, Arrival, Device

_RATE_BPS = 1_000_000
_BYTES = 1_250
_FRAMES = 60
# Margin of a switch in real time: the machine may be busy.
_TOLERANCE = 0.03


def _departures_ns(device: Device, burst_bytes: int) -> list[int] | str:
    burst = f", burst-bytes: {burst_bytes}" if burst_bytes else ""
    shaper = f"{{rate: {{value: {_RATE_BPS}, unit: bit/s, basis: ethernet}}{burst}}}"
    queueing = f"queueing: [{{port: line, schedule: {{kind: fifo}}, shaper: {shaper}}}]\n"
    try:
        device.push(CONNECTED + queueing, target=EVERYTHING)
    except phb.SwitchError as error:
        # Without the place in the temporary policy file.
        return f"refused: {str(error).removeprefix(f'{device.address}: ').partition(',')[0]}"
    left = device.run([Arrival(number, 2, datagram(number, size=_BYTES)) for number in range(_FRAMES)])
    return [departure.time_ns for departure in left]


@probe(Capability.SHAPING)
def shaping(device: Device) -> Probed:
    """Frames that arrive at once leave at the shaper's rate."""
    times = _departures_ns(device, 0)
    if isinstance(times, str):
        return Probed(False, times)
    rate = (len(times) - 1) * _BYTES * 8 * 1_000_000_000 / (times[-1] - times[0])
    holds = len(times) == _FRAMES and abs(rate / _RATE_BPS - 1) <= (0 if device.virtual else _TOLERANCE)
    return Probed(holds, f"{len(times)} frames left at {rate:,.0f} bit/s of {_RATE_BPS:,}")


@probe(Capability.SHAPER_BURST)
def shaper_burst(device: Device) -> Probed:
    """After a pause a burst leaves at the line's own rate; frames beyond it wait for their tokens."""
    burst = 20 * _BYTES
    times = _departures_ns(device, burst)
    if isinstance(times, str):
        return Probed(False, times)
    interval = _BYTES * 8 * 1_000_000_000 // _RATE_BPS
    at_once = sum(time - times[0] < interval // 2 for time in times)
    return Probed(at_once == 20, f"a burst of {burst:,} bytes let {at_once} frames of {_BYTES:,} bytes pass at once")
