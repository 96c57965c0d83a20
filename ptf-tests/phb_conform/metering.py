"""Checks that the three meter RFCs share: single decisions, arithmetic, rates, sizes, real clocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from phb.model import MeterKind
from phb_conform import metered
from phb_conform.check import Finding, failed, judged, passed
from phb_conform.measures.offered import MeteredPacket, expected, passed_bytes, spelled, steady, train
from phb_device import Device
from phb_model.token_buckets import Colour, Meter

TOLERANCE = 0.005
"""Largest error of rates and bursts under a virtual clock."""

STILL_BPS = 1
"""A rate that gives nothing while a check lasts: then bursts alone decide, on any clock."""

RATES_BPS = (8_000, 64_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000, 10_000_000_000)
SIZES = (64, 256, 576, 1000, 1500)
_PACKETS = 2_500
_ECT = 1
_TRAIN = 10_000
_SEED = 1


@dataclass(frozen=True)
class Case:
    """Packets that come together to a meter, and the colours that they shall get, as letters: ``GGYR``."""

    name: str
    meter: Meter
    packets: Sequence[MeteredPacket]
    wanted: str


def decided(device: Device, *cases: Case) -> Finding:
    """Packets get the colours that the check spells, which are those of the RFC's arithmetic."""
    device.push(metered.several([case.meter for case in cases]))
    shown, wrong = [], []
    for port, case in enumerate(cases):
        assert spelled(expected(case.meter, case.packets)) == case.wanted, f"{case.name}: the check itself is wrong"
        found = spelled(metered.send(device, case.packets, port=port))
        if found == case.wanted:
            shown.append(f"{case.name} {found}")
        else:
            wrong.append(f"{case.name} {found} instead of {case.wanted}")
    return failed("; ".join(wrong)) if wrong else passed("; ".join(shown))


def arithmetic(device: Device, made: Mapping[str, Meter]) -> Finding:
    """Every packet of long trains gets the colour of the exact arithmetic, blind and aware."""
    device.push(metered.several(list(made.values())))
    compared = different = 0
    for port, meter in enumerate(made.values()):
        packets = list(train(_SEED + port, _TRAIN, 2 * meter.committed_bps, tuple(Colour)))
        found = metered.send(device, packets, port=port)
        wanted = expected(meter, packets)
        compared += len(packets)
        different += sum(one is not other for one, other in zip(found, wanted, strict=True))
    said = f"{compared:,} packets ({', '.join(made)}), {different} of another colour"
    return judged(different == 0, said, packets=compared, different=different)


def rates(device: Device, kind: MeterKind, *, other: bool = False) -> Finding:
    """From 8 kbit/s to 10 Gbit/s, twice the rate is offered, and the rate and the burst pass.

    With `other` the second rate is measured (peak or excess), not the committed one.
    """
    size, burst = LARGEST_STEADY, 20 * LARGEST_STEADY
    made = [_meter_of_rate(kind, rate, burst, other=other) for rate in RATES_BPS]
    device.push(metered.several(made))
    errors = {}
    for port, (rate, meter) in enumerate(zip(RATES_BPS, made, strict=True)):
        packets = steady(2 * rate, size, _PACKETS)
        found = metered.send(device, packets, port=port)
        errors[rate] = passed_bytes(packets, found, _let(kind, other), *_bucket(meter, other)).error
    worst = max(errors.values())
    said = f"{len(RATES_BPS)} rates, 8 kbit/s to 10 Gbit/s: at most {worst:.4%} off"
    return judged(worst <= TOLERANCE, said, worst_error=worst)


LARGEST_STEADY = 1000
"""IP packet of steady streams, bytes."""


def sizes(device: Device, kind: MeterKind) -> Finding:
    """The same rate passes whatever the packets' size."""
    rate, burst = 10_000_000, 15_000
    made = [_meter_of_rate(kind, rate, burst) for _ in SIZES]
    device.push(metered.several(made))
    errors = {}
    for port, size in enumerate(SIZES):
        packets = steady(2 * rate, size, _PACKETS)
        found = metered.send(device, packets, port=port)
        errors[size] = passed_bytes(packets, found, {Colour.GREEN}, rate, burst).error
    worst = max(errors.values())
    said = f"IP packets of {SIZES[0]} to {SIZES[-1]} bytes: at most {worst:.4%} off"
    return judged(worst <= TOLERANCE, said, worst_error=worst)


def _meter_of_rate(kind: MeterKind, rate: int, burst: int, *, other: bool = False) -> Meter:
    match kind:
        case MeterKind.SINGLE_RATE:
            return Meter(kind, rate, burst)
        # The rate that isn't measured has no effect: a peak above all that is offered, or next to nothing.
        case MeterKind.TWO_RATE:
            return Meter(kind, 1, 1, rate, burst) if other else Meter(kind, rate, burst, 4 * rate, 4 * burst)
        case MeterKind.TWO_RATE_SEPARATE:
            return Meter(kind, 1, 1, rate, burst) if other else Meter(kind, rate, burst, 1, 1)


def _let(kind: MeterKind, other: bool) -> set[Colour]:
    if not other:
        return {Colour.GREEN}
    return {Colour.GREEN, Colour.YELLOW} if kind is MeterKind.TWO_RATE else {Colour.YELLOW}


def _bucket(meter: Meter, other: bool) -> tuple[int, int]:
    return (meter.other_bps, meter.other_bytes) if other else (meter.committed_bps, meter.committed_bytes)


def marks(device: Device, meter: Meter) -> Finding:
    """Three packets that get the three colours leave with their drop precedences, and everything else as it was."""
    device.push(metered.policy(meter))
    wrong = []
    for colour in Colour:
        # As long as each burst; ECN's bits (RFC 3168) aren't the meter's.
        made = IP(src="10.0.1.1", dst="10.0.2.1", tos=_ECT) / UDP(sport=1, dport=2) / Raw(bytes(1000 - 28))
        frame = bytes(Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02") / made)
        made.tos = metered.DSCP_OUT[colour] << 2 | _ECT
        wanted = bytes(Ether(frame[: metered.ETHERNET_BYTES]) / made)
        left = device.exchange(metered.FROM, frame)
        if left != [(metered.TO, wanted)]:
            wrong.append(f"{colour.name.lower()}: {left[0][1][:20].hex() if left else 'nothing left'}")
    names = ", ".join(f"{colour.name.lower()} {dscp}" for colour, dscp in metered.DSCP_OUT.items())
    return judged(not wrong, "; ".join(wrong) or f"DSCP {names}; ECN and everything else unchanged")
