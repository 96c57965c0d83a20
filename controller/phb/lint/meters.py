"""Meters whose bursts or treatments contradict their rates."""

from __future__ import annotations

from collections.abc import Iterator

from phb.lint.finding import Check, Context, Finding, Severity
from phb.lint.traffic import MTU_BYTES, blocks
from phb.model import Action, Meter, MeterKind

BELOW_MTU, SHORT, NO_EFFECT = "burst-below-mtu", "burst-below-a-millisecond", "meter-without-effect"
PEAK = "peak-below-committed"
MILLISECOND = 8000
"""Bit/s divided by this are the bytes of one millisecond."""


def _find(context: Context) -> Iterator[Finding]:
    for action in context.policy.actions:
        if action.meter is not None:
            yield from _bursts(action, action.meter)
            yield from _peak(action, action.meter)
            if action.meter.green == action.meter.yellow == action.meter.red and not blocks(action.meter):
                yield Finding(
                    NO_EFFECT,
                    Severity.WARNING,
                    action.origin("meter"),
                    f"the meter of '{action.name}' treats all colours alike",
                    "traffic is measured, and nothing follows from it",
                    "say what happens to 'yellow' and 'red', or remove the meter",
                )


def _bursts(action: Action, meter: Meter) -> Iterator[Finding]:
    bursts = [("committed-burst-bytes", meter.committed_burst_bytes, meter.committed_rate)]
    if meter.peak_rate is not None and meter.peak_burst_bytes is not None:
        bursts.append(("peak-burst-bytes", meter.peak_burst_bytes, meter.peak_rate))
    if meter.kind is MeterKind.TWO_RATE_SEPARATE and meter.peak_rate is not None and meter.excess_burst_bytes:
        bursts.append(("excess-burst-bytes", meter.excess_burst_bytes, meter.peak_rate))
    for name, size, rate in bursts:
        origin = meter.origin(name.replace("-", "_"))
        if size < MTU_BYTES:
            yield Finding(
                BELOW_MTU,
                Severity.WARNING,
                origin,
                f"{name} of '{action.name}' is {size}, below a packet of {MTU_BYTES} bytes",
                "a packet longer than the bucket is deep never conforms, however slow it comes; RFC 2697 section 2 and "
                "RFC 2698 section 2 want at least the largest packet",
                f"make it {MTU_BYTES} at least, rather some milliseconds of the rate",
            )
        elif size < rate.bits_per_second / MILLISECOND:
            yield Finding(
                SHORT,
                Severity.ADVICE,
                origin,
                f"{name} of '{action.name}' is {size}, less than {rate} brings in a millisecond",
                "senders that wake each millisecond send more than that at a time: the meter lets far less pass than "
                "its rate",
                f"make it {int(rate.bits_per_second / MILLISECOND)} at least; IOS takes 250 ms of the rate by default",
            )


def _peak(action: Action, meter: Meter) -> Iterator[Finding]:
    if meter.kind is not MeterKind.TWO_RATE or meter.peak_rate is None:
        return
    if meter.peak_rate.bits_per_second < meter.committed_rate.bits_per_second:
        yield Finding(
            PEAK,
            Severity.WARNING,
            meter.origin("peak_rate"),
            f"the peak rate of '{action.name}' is {meter.peak_rate}, below its committed rate",
            "what is above the peak rate is red, so the committed rate is never reached; RFC 2698 section 2 wants the "
            "peak rate to be no lower",
            f"make it {meter.committed_rate} at least",
        )


CHECK = Check(
    {BELOW_MTU: Severity.WARNING, SHORT: Severity.ADVICE, NO_EFFECT: Severity.WARNING, PEAK: Severity.WARNING}, _find
)
