"""Meters on a real clock: twice the rate for some seconds, and the tokens of that time.

A machine that stalls delays packets, and the moment at which a switch meters one isn't seen. But the first one was
metered after it was sent and before it was seen, and so was the last: the true time lies between two known ones. A
measurement in which these are too far apart is repeated.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from phb.model import MeterKind
from phb.pipeline_names import COLOURS_PER_POLICY
from phb_conform import metered
from phb_conform.check import Finding, failed, judged, not_applicable
from phb_conform.measures.offered import steady
from phb_device import Departure, Device
from phb_model.token_buckets import Colour, Meter

TOLERANCE = 0.03
"""Largest error of rates and bursts on real interfaces."""

_RATE_BPS = 800_000
_BURST_BYTES = 50_000
"""Half a second of the rate: once the bucket is empty, a stall as long as that loses no tokens."""
_EMPTYING_BPS = 10 * _RATE_BPS
_SIZE = 250
_POLICY = 1
"""Number of the only rule."""
_SECONDS = 2.0
_ATTEMPTS = 3
_LAST_LEAVES_WITHIN_S = 2.0


@dataclass(frozen=True)
class _Measured:
    least_s: float
    most_s: float
    bytes: dict[Colour, int]


def committed(device: Device, kind: MeterKind) -> Finding:
    """Green bytes are the burst and the committed rate's."""
    match kind:
        case MeterKind.SINGLE_RATE:
            meter = Meter(kind, _RATE_BPS, _BURST_BYTES)
        case MeterKind.TWO_RATE:
            meter = Meter(kind, _RATE_BPS, _BURST_BYTES, 4 * _RATE_BPS, 4 * _BURST_BYTES)
        case MeterKind.TWO_RATE_SEPARATE:
            meter = Meter(kind, _RATE_BPS, _BURST_BYTES, 1, 1)
    return _judged(device, meter, {Colour.GREEN})


def other(device: Device, kind: MeterKind) -> Finding:
    """Bytes within the peak rate are the peak burst and the peak rate's (RFC 2698); the same of excess (RFC 4115)."""
    meter = Meter(kind, 1, 1, _RATE_BPS, _BURST_BYTES)
    return _judged(device, meter, {Colour.GREEN, Colour.YELLOW} if kind is MeterKind.TWO_RATE else {Colour.YELLOW})


def _judged(device: Device, meter: Meter, let: set[Colour]) -> Finding:
    if device.virtual:
        return not_applicable("time is an argument here, and the rates are measured exactly above")
    said = "no measurement"
    for _ in range(_ATTEMPTS):
        device.reset()
        device.push(metered.policy(meter))
        measured = _offer(device)
        if measured is None:
            continue
        passed_bytes = sum(measured.bytes[colour] for colour in let)
        least, most = (_BURST_BYTES + _RATE_BPS / 8 * seconds for seconds in (measured.least_s, measured.most_s))
        error = max(abs(passed_bytes - least), abs(passed_bytes - most)) / least
        said = (
            f"{passed_bytes:,} of {(least + most) / 2:,.0f} bytes in {measured.most_s:.2f} s: at most {error:.2%} off"
        )
        if error <= TOLERANCE or (most - least) / least < TOLERANCE / 2:
            return judged(error <= TOLERANCE, said, error=error)
    return failed(f"{said}; the machine stalled in {_ATTEMPTS} measurements, so that none says more")


def _offer(device: Device) -> _Measured | None:
    """Send the burst, and twice the rate; None if the first or the last packet was lost, whose times are needed."""
    emptying = steady(_EMPTYING_BPS, _SIZE, _BURST_BYTES // _SIZE)
    stream = steady(2 * _RATE_BPS, _SIZE, round(_SECONDS * 2 * _RATE_BPS / 8 / _SIZE))
    packets = emptying + [replace(packet, time_ns=packet.time_ns + emptying[-1].time_ns) for packet in stream]
    frames = [metered.numbered(_SIZE, number) for number in range(len(packets))]
    sent_ns: list[int] = []
    seen_ns: dict[int, int] = {}

    def see(departure: Departure) -> None:
        seen_ns[metered.number_of(departure.frame)] = time.monotonic_ns()

    start = time.monotonic_ns()
    for packet, frame in zip(packets, frames, strict=True):
        while (wait := packet.time_ns - (time.monotonic_ns() - start)) > 0:
            if (departure := device.poll(min(wait / 1e9, 0.001))) is not None:
                see(departure)
        sent_ns.append(time.monotonic_ns())
        device.send(metered.FROM, frame)
    last = len(packets) - 1
    while last not in seen_ns and (departure := device.poll(_LAST_LEAVES_WITHIN_S)) is not None:
        see(departure)
    if 0 not in seen_ns or last not in seen_ns:
        return None
    # By the switch's own counters: packets that its queue lost behind the meter have been metered.
    cells = {colour: _POLICY * COLOURS_PER_POLICY + colour for colour in Colour}
    counted = device.counter("policy_traffic", cells.values())
    passed = {colour: counted.get(cell, (0, 0)) for colour, cell in cells.items()}
    return _Measured(
        (sent_ns[-1] - seen_ns[0]) / 1e9,
        (seen_ns[last] - sent_ns[0]) / 1e9,
        {colour: total - count * metered.ETHERNET_BYTES for colour, (count, total) in passed.items()},
    )
