"""RFC 4115, a two-rate three-colour marker that handles in-profile traffic efficiently: two buckets apart."""

from __future__ import annotations

from phb.model import MeterKind
from phb_conform import configuration, link_bytes, metered, metering, on_the_clock
from phb_conform.check import Finding, Level, check, judged
from phb_conform.measures.offered import MeteredPacket, at_once, passed_bytes, steady
from phb_conform.metering import STILL_BPS, TOLERANCE, Case
from phb_device import Device
from phb_model.token_buckets import Colour, Meter

_RFC = "RFC 4115"
_KIND = MeterKind.TWO_RATE_SEPARATE
_MS = 1_000_000


def _still(committed: int, excess: int, *, aware: bool = False) -> Meter:
    return Meter(_KIND, STILL_BPS, committed, STILL_BPS, excess, aware)


@check(_RFC, "2", Level.DESCRIBED, "CIR and EIR are set independently: EIR may be below CIR", virtual=True)
def rfc4115_rates_are_independent(device: Device) -> Finding:
    made = {
        "EIR < CIR": Meter(_KIND, 2_000_000, 6000, 500_000, 9000),
        "EIR > CIR": Meter(_KIND, 500_000, 6000, 2_000_000, 9000),
    }
    return metering.arithmetic(device, made)


@check(
    _RFC, "2", Level.DESCRIBED, "or by one duration: with CBS/CIR = EBS/EIR both are full again at once", virtual=True
)
def rfc4115_one_duration(device: Device) -> Finding:
    # 3 ms of one and of two bytes in a microsecond, and a byte that has to be left over.
    meter = Meter(_KIND, 8_000_000, 3000, 16_000_000, 6000)
    packets = [*at_once([999] * 10), *(MeteredPacket(3 * _MS, 999) for _ in range(10))]
    return metering.decided(device, Case("emptied; 3 ms later:", meter, packets, "GGGYYYYYYRGGGYYYYYYR"))


@check(_RFC, "2", Level.MUST, "CBS and EBS are larger than the largest packet: smaller ones are warned of")
def rfc4115_burst_below_a_packet_is_warned_of(device: Device) -> Finding:
    return configuration.warned(Meter(_KIND, 1_000_000, 9000, 2_000_000, 1000), "burst-below-mtu")


@check(_RFC, "2", Level.DESCRIBED, "bursts are bytes of packets, without bytes of the link")
def rfc4115_counts_ip_bytes(device: Device) -> Finding:
    return link_bytes.counts_ip_bytes(device, _KIND, link_bytes.plain())


@check(_RFC, "2", Level.DESCRIBED, "so also where a frame has a tag, or padding behind a short packet")
def rfc4115_counts_ip_bytes_of_any_frame(device: Device) -> Finding:
    return link_bytes.counts_ip_bytes(device, _KIND, link_bytes.carried())


@check(_RFC, "3", Level.DESCRIBED, "both buckets are full at first; more tokens are asked for than the packet takes")
def rfc4115_buckets_start_full(device: Device) -> Finding:
    return metering.decided(
        device,
        Case("a byte above:", _still(3001, 2001), at_once([1000] * 7), "GGGYYRR"),
        # Exactly these bytes are there only in full buckets: any time at all brings a bit more.
        Case("CBS 1000:", _still(1000, 2001), at_once([1000]), "Y"),
        Case("EBS 1000:", _still(1000, 1000), at_once([1000]), "R"),
    )


@check(_RFC, "3", Level.DESCRIBED, "green takes of C alone, else as yellow of E alone; red takes of neither")
def rfc4115_takes_of_the_right_buckets(device: Device) -> Finding:
    sizes = [1400, 1000, 1400, 1000, 400, 200, 190]
    return metering.decided(device, Case("1400 to 190 bytes:", _still(1001, 1201), at_once(sizes), "RGRYRYR"))


@check(_RFC, "3", Level.DESCRIBED, "blind, all packets are treated as green")
def rfc4115_blind(device: Device) -> Finding:
    packets = [MeteredPacket(0, 1000, colour) for colour in (Colour.RED, Colour.YELLOW, Colour.GREEN)]
    return metering.decided(device, Case("red, yellow, green come:", _still(1001, 1001), packets, "GYR"))


@check(_RFC, "3", Level.DESCRIBED, "aware: yellow takes of E alone and is never made green, red stays red")
def rfc4115_aware(device: Device) -> Finding:
    come = [Colour.RED, *[Colour.YELLOW] * 3, *[Colour.GREEN] * 3, Colour.RED]
    packets = [MeteredPacket(0, 1000, colour) for colour in come]
    return metering.decided(device, Case("RYYYGGGR come:", _still(2001, 2001, aware=True), packets, "RYYRGGRR"))


@check(
    _RFC, "1", Level.DESCRIBED, "aware: yellow traffic above its share takes nothing from green traffic", virtual=True
)
def rfc4115_in_profile_traffic_is_safe(device: Device) -> Finding:
    # Four times EIR of yellow packets between green ones at 90 % of CIR.
    meter = Meter(_KIND, 1_000_000, 6000, 1_000_000, 6000, True)
    green = steady(900_000, 1000, 900)
    yellow = steady(4_000_000, 1000, 4000, Colour.YELLOW)
    packets = sorted([*green, *yellow], key=lambda packet: (packet.time_ns, packet.colour))
    device.push(metered.policy(meter))
    found = metered.send(device, packets)
    stayed = sum(
        colour is Colour.GREEN for packet, colour in zip(packets, found, strict=True) if packet.colour is Colour.GREEN
    )
    return judged(stayed == len(green), f"{stayed} of {len(green)} green packets stayed green", green=stayed)


@check(_RFC, "3", Level.DESCRIBED, "neither bucket holds more than its size, however long nothing comes", virtual=True)
def rfc4115_never_above_the_bursts(device: Device) -> Finding:
    meter = Meter(_KIND, 8_000_000, 3001, 16_000_000, 2001)
    packets = [*at_once([1000] * 6), *(MeteredPacket(3_600_000 * _MS, 1000) for _ in range(6))]
    return metering.decided(device, Case("emptied; an hour later:", meter, packets, "GGGYYRGGGYYR"))


@check(
    _RFC, "3", Level.DESCRIBED, "every packet gets the colour of the token arithmetic, blind and aware", virtual=True
)
def rfc4115_arithmetic(device: Device) -> Finding:
    made = {
        "blind": Meter(_KIND, 1_000_000, 6000, 500_000, 9000),
        "aware": Meter(_KIND, 1_000_000, 6000, 500_000, 9000, True),
    }
    return metering.arithmetic(device, made)


@check(_RFC, "3", Level.DESCRIBED, "green passes at CIR with a burst of CBS, at any rate", virtual=True)
def rfc4115_committed_rate(device: Device) -> Finding:
    return metering.rates(device, _KIND)


@check(_RFC, "3", Level.DESCRIBED, "yellow passes at EIR with a burst of EBS, at any rate", virtual=True)
def rfc4115_excess_rate(device: Device) -> Finding:
    return metering.rates(device, _KIND, other=True)


@check(_RFC, "3", Level.DESCRIBED, "the same for packets of any size", virtual=True)
def rfc4115_any_size(device: Device) -> Finding:
    return metering.sizes(device, _KIND)


@check(_RFC, "3", Level.DESCRIBED, "CIR and CBS on a clock, within 3 %")
def rfc4115_committed_on_the_clock(device: Device) -> Finding:
    return on_the_clock.committed(device, _KIND)


@check(_RFC, "3", Level.DESCRIBED, "EIR and EBS on a clock, within 3 %")
def rfc4115_excess_on_the_clock(device: Device) -> Finding:
    return on_the_clock.other(device, _KIND)


@check(_RFC, "4", Level.DESCRIBED, "a service may have CIR 0, and excess traffic alone", virtual=True)
def rfc4115_without_a_committed_rate(device: Device) -> Finding:
    # By hand: a policy's rates are above 0.
    meter = Meter(_KIND, 0, 0, 1_000_000, 15_000)
    device.write(metered.entries(meter))
    packets = steady(2_000_000, 1000, 2500)
    found = metered.send(device, packets)
    passed = passed_bytes(packets, found, {Colour.YELLOW}, meter.other_bps, meter.other_bytes)
    green = sum(colour is Colour.GREEN for colour in found)
    said = f"{green} packets green, yellow at EIR: {passed.error:.4%} off"
    return judged(green == 0 and passed.error <= TOLERANCE, said, green=green, error=passed.error)


@check(_RFC, "3", Level.DESCRIBED, "the colour is written into the DS field; in an AF class as drop precedence")
def rfc4115_marks(device: Device) -> Finding:
    return metering.marks(device, _still(1001, 1001))
