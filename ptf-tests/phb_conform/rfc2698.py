"""RFC 2698, a two-rate three-colour marker (trTCM): a peak and a committed bucket; green takes of both."""

from __future__ import annotations

from phb.model import MeterKind
from phb_conform import configuration, link_bytes, metering, on_the_clock
from phb_conform.check import Finding, Level, check
from phb_conform.measures.offered import MeteredPacket, at_once
from phb_conform.metering import STILL_BPS, Case
from phb_device import Device
from phb_model.token_buckets import Colour, Meter

_RFC = "RFC 2698"
_KIND = MeterKind.TWO_RATE
_MS = 1_000_000


def _still(committed: int, peak: int, *, aware: bool = False) -> Meter:
    return Meter(_KIND, STILL_BPS, committed, STILL_BPS, peak, aware)


@check(_RFC, "1", Level.DESCRIBED, "blind, the meter does not look at the colour that packets come with")
def trtcm_blind(device: Device) -> Finding:
    packets = [MeteredPacket(0, 1000, colour) for colour in (Colour.RED, Colour.YELLOW, Colour.GREEN)]
    return metering.decided(device, Case("red, yellow, green come:", _still(1000, 2000), packets, "GYR"))


@check(_RFC, "2", Level.DESCRIBED, "PIR and CIR are counted in bytes of IP packets: no bytes of the link")
def trtcm_counts_ip_bytes(device: Device) -> Finding:
    return link_bytes.counts_ip_bytes(device, _KIND, link_bytes.plain())


@check(_RFC, "2", Level.DESCRIBED, "so also where a frame has a tag, or padding behind a short packet")
def trtcm_counts_ip_bytes_of_any_frame(device: Device) -> Finding:
    return link_bytes.counts_ip_bytes(device, _KIND, link_bytes.carried())


@check(_RFC, "2", Level.MUST, "PIR is not below CIR: such a meter is warned of")
def trtcm_peak_below_committed_is_warned_of(device: Device) -> Finding:
    return configuration.warned(Meter(_KIND, 2_000_000, 9000, 1_000_000, 9000), "peak-below-committed")


@check(_RFC, "2", Level.MUST, "PBS and CBS are above 0: a meter without a burst is warned of")
def trtcm_no_burst_is_warned_of(device: Device) -> Finding:
    return configuration.warned(Meter(_KIND, 1_000_000, 0, 2_000_000, 9000), "burst-below-mtu")


@check(_RFC, "2", Level.SHOULD, "a burst is no smaller than the largest packet: a smaller one is warned of")
def trtcm_burst_below_a_packet_is_warned_of(device: Device) -> Finding:
    return configuration.warned(Meter(_KIND, 1_000_000, 9000, 2_000_000, 1000), "burst-below-mtu")


@check(_RFC, "3", Level.DESCRIBED, "both buckets are full at first: CBS passes green, PBS in all, the rest is red")
def trtcm_buckets_start_full(device: Device) -> Finding:
    return metering.decided(
        device,
        Case("CBS 3000, PBS 5000:", _still(3000, 5000), at_once([1000] * 7), "GGGYYRR"),
        Case("a byte less:", _still(2999, 4999), at_once([1000] * 6), "GGYYRR"),
    )


@check(_RFC, "3", Level.DESCRIBED, "the peak is asked first: above it a packet is red, whatever C has")
def trtcm_peak_first(device: Device) -> Finding:
    return metering.decided(device, Case("CBS 9000, PBS 2000:", _still(9000, 2000), at_once([1000] * 4), "GGRR"))


@check(_RFC, "3", Level.DESCRIBED, "green takes of both buckets, yellow of P alone, red of neither")
def trtcm_takes_of_the_right_buckets(device: Device) -> Finding:
    return metering.decided(
        device,
        # 1400: yellow, for C has 1000; then C has still room for 1000, and P for 100 more.
        Case("yellow, then green:", _still(1000, 2500), at_once([1400, 1000, 200, 100]), "YGRY"),
        Case("red, then green:", _still(1000, 1200), at_once([1400, 1000, 400, 200]), "RGRY"),
    )


@check(_RFC, "3", Level.DESCRIBED, "neither bucket holds more than its size, however long nothing comes", virtual=True)
def trtcm_never_above_the_bursts(device: Device) -> Finding:
    meter = Meter(_KIND, 8_000_000, 3000, 16_000_000, 5000)
    packets = [*at_once([1000] * 6), *(MeteredPacket(3_600_000 * _MS, 1000) for _ in range(6))]
    return metering.decided(device, Case("emptied; an hour later:", meter, packets, "GGGYYRGGGYYR"))


@check(_RFC, "3", Level.DESCRIBED, "each bucket is filled at its own rate", virtual=True)
def trtcm_each_bucket_at_its_rate(device: Device) -> Finding:
    # One and three bytes in a microsecond: after 1 ms C has 1000 and P 3000.
    meter = Meter(_KIND, 8_000_000, 3000, 24_000_000, 5000)
    packets = [*at_once([1000] * 6), *(MeteredPacket(_MS, 1000) for _ in range(4))]
    return metering.decided(device, Case("emptied; a millisecond later:", meter, packets, "GGGYYRGYYR"))


@check(_RFC, "3", Level.DESCRIBED, "aware: yellow is never made green, red stays red and takes nothing")
def trtcm_aware(device: Device) -> Finding:
    come = [Colour.RED, *[Colour.YELLOW] * 2, *[Colour.GREEN] * 4, Colour.YELLOW]
    packets = [MeteredPacket(0, 1000, colour) for colour in come]
    return metering.decided(device, Case("RYYGGGGY come:", _still(2000, 5000, aware=True), packets, "RYYGGYRR"))


@check(
    _RFC, "3", Level.DESCRIBED, "every packet gets the colour of the token arithmetic, blind and aware", virtual=True
)
def trtcm_arithmetic(device: Device) -> Finding:
    made = {
        "blind": Meter(_KIND, 1_000_000, 6000, 1_500_000, 9000),
        "aware": Meter(_KIND, 1_000_000, 6000, 1_500_000, 9000, True),
        "PIR = CIR": Meter(_KIND, 1_000_000, 6000, 1_000_000, 9000),
    }
    return metering.arithmetic(device, made)


@check(_RFC, "3", Level.DESCRIBED, "green passes at CIR with a burst of CBS, at any rate", virtual=True)
def trtcm_committed_rate(device: Device) -> Finding:
    return metering.rates(device, _KIND)


@check(_RFC, "3", Level.DESCRIBED, "green and yellow pass at PIR with a burst of PBS, at any rate", virtual=True)
def trtcm_peak_rate(device: Device) -> Finding:
    return metering.rates(device, _KIND, other=True)


@check(_RFC, "3", Level.DESCRIBED, "the same for packets of any size", virtual=True)
def trtcm_any_size(device: Device) -> Finding:
    return metering.sizes(device, _KIND)


@check(_RFC, "3", Level.DESCRIBED, "CIR and CBS on a clock, within 3 %")
def trtcm_committed_on_the_clock(device: Device) -> Finding:
    return on_the_clock.committed(device, _KIND)


@check(_RFC, "3", Level.DESCRIBED, "PIR and PBS on a clock, within 3 %")
def trtcm_peak_on_the_clock(device: Device) -> Finding:
    return on_the_clock.other(device, _KIND)


@check(_RFC, "4", Level.DESCRIBED, "the colour is written into the DS field; in an AF class as drop precedence")
def trtcm_marks(device: Device) -> Finding:
    return metering.marks(device, _still(1000, 2000))
