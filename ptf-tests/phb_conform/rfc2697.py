"""RFC 2697, a single-rate three-colour marker (srTCM): one rate, and two buckets of which the second is filled last."""

from __future__ import annotations

from phb.model import MeterKind
from phb_conform import configuration, link_bytes, metering, on_the_clock
from phb_conform.check import Finding, Level, check
from phb_conform.measures.offered import MeteredPacket, at_once
from phb_conform.metering import STILL_BPS, Case
from phb_device import Device
from phb_model.token_buckets import Colour, Meter

_RFC = "RFC 2697"
_KIND = MeterKind.SINGLE_RATE
_MS = 1_000_000


def _still(committed: int, excess: int, *, aware: bool = False) -> Meter:
    return Meter(_KIND, STILL_BPS, committed, other_bytes=excess, aware=aware)


@check(_RFC, "1", Level.DESCRIBED, "blind, the meter does not look at the colour that packets come with")
def srtcm_blind(device: Device) -> Finding:
    packets = [MeteredPacket(0, 1000, colour) for colour in (Colour.RED, Colour.YELLOW, Colour.GREEN)]
    return metering.decided(device, Case("red, yellow, green come:", _still(1000, 1000), packets, "GYR"))


@check(_RFC, "2", Level.DESCRIBED, "CIR is counted in bytes of IP packets: header included, no bytes of the link")
def srtcm_counts_ip_bytes(device: Device) -> Finding:
    return link_bytes.counts_ip_bytes(device, _KIND, link_bytes.plain())


@check(_RFC, "2", Level.DESCRIBED, "so also where a frame has a tag, or padding behind a short packet")
def srtcm_counts_ip_bytes_of_any_frame(device: Device) -> Finding:
    return link_bytes.counts_ip_bytes(device, _KIND, link_bytes.carried())


@check(_RFC, "2", Level.MUST, "at least one of CBS and EBS is above 0; one of them alone works")
def srtcm_one_burst_alone(device: Device) -> Finding:
    return metering.decided(
        device,
        Case("EBS 0:", _still(2000, 0), at_once([1000] * 3), "GGR"),
        Case("CBS 0:", _still(0, 2000), at_once([1000] * 3), "YYR"),
    )


@check(_RFC, "2", Level.SHOULD, "a burst above 0 is no smaller than the largest packet: a smaller one is warned of")
def srtcm_burst_below_a_packet_is_warned_of(device: Device) -> Finding:
    return configuration.warned(Meter(_KIND, 1_000_000, 1000, other_bytes=9000), "burst-below-mtu")


@check(_RFC, "3", Level.DESCRIBED, "both buckets are full at first: CBS passes green, then EBS yellow, the rest is red")
def srtcm_buckets_start_full(device: Device) -> Finding:
    return metering.decided(
        device,
        Case("CBS 3000, EBS 2000:", _still(3000, 2000), at_once([1000] * 7), "GGGYYRR"),
        Case("a byte less:", _still(2999, 1999), at_once([1000] * 5), "GGYRR"),
    )


@check(_RFC, "3", Level.DESCRIBED, "a packet takes of one bucket, all of it or nothing: what is red takes of neither")
def srtcm_red_takes_nothing(device: Device) -> Finding:
    sizes = [1400, 1000, 1400, 1000, 400, 400]
    return metering.decided(device, Case("1400, 1000, 400 bytes:", _still(1000, 1200), at_once(sizes), "RGRYRR"))


@check(_RFC, "3", Level.DESCRIBED, "tokens go to C until it is full, and only then to E", virtual=True)
def srtcm_fills_committed_first(device: Device) -> Finding:
    # A byte in a microsecond: 8 Mbit/s. Both are emptied; 2 ms bring 2000 bytes, 5 ms fill C and bring 2000 to E.
    meter = Meter(_KIND, 8_000_000, 3000, other_bytes=4000)
    emptied = at_once([1000] * 8)
    later = [MeteredPacket(time, 1000) for time, count in ((2 * _MS, 3), (7 * _MS, 6)) for _ in range(count)]
    return metering.decided(device, Case("emptied; 2 ms, 5 ms later:", meter, emptied + later, "GGGYYYYRGGRGGGYYR"))


@check(_RFC, "3", Level.DESCRIBED, "neither bucket holds more than its size, however long nothing comes", virtual=True)
def srtcm_never_above_the_bursts(device: Device) -> Finding:
    meter = Meter(_KIND, 8_000_000, 3000, other_bytes=2000)
    packets = [*at_once([1000] * 6), *(MeteredPacket(3_600_000 * _MS, 1000) for _ in range(6))]
    return metering.decided(device, Case("emptied; an hour later:", meter, packets, "GGGYYRGGGYYR"))


@check(_RFC, "3", Level.DESCRIBED, "aware: yellow is never made green and takes of E alone, red stays red")
def srtcm_aware(device: Device) -> Finding:
    come = [Colour.RED, *[Colour.YELLOW] * 2, *[Colour.GREEN] * 4, Colour.YELLOW, Colour.RED]
    packets = [MeteredPacket(0, 1000, colour) for colour in come]
    return metering.decided(device, Case("RYYGGGGYR come:", _still(2000, 3000, aware=True), packets, "RYYGGYRRR"))


@check(
    _RFC, "3", Level.DESCRIBED, "every packet gets the colour of the token arithmetic, blind and aware", virtual=True
)
def srtcm_arithmetic(device: Device) -> Finding:
    made = {
        "blind": Meter(_KIND, 1_000_000, 6000, other_bytes=9000),
        "aware": Meter(_KIND, 1_000_000, 6000, other_bytes=9000, aware=True),
    }
    return metering.arithmetic(device, made)


@check(_RFC, "3", Level.DESCRIBED, "never less green than CIR and CBS say, and never more, at any rate", virtual=True)
def srtcm_committed_rate(device: Device) -> Finding:
    return metering.rates(device, _KIND)


@check(_RFC, "3", Level.DESCRIBED, "the same for packets of any size", virtual=True)
def srtcm_any_size(device: Device) -> Finding:
    return metering.sizes(device, _KIND)


@check(_RFC, "3", Level.DESCRIBED, "the same on a clock: burst and rate within 3 %")
def srtcm_on_the_clock(device: Device) -> Finding:
    return on_the_clock.committed(device, _KIND)


@check(_RFC, "4", Level.DESCRIBED, "the colour is written into the DS field; in an AF class as drop precedence")
def srtcm_marks(device: Device) -> Finding:
    return metering.marks(device, _still(1000, 1000))
