"""A meter on a device, and the colours that it gives to packets.

Packets go in with the drop precedence of an AF1 code point as their colour, and come out with one of AF4: the meter's.
So every packet shows the meter's decision, on any switch, without its counters.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from functools import cache

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from phb.model import MeterKind
from phb_conform.measures.offered import MeteredPacket
from phb_device import CONNECTED, Arrival, Departure, Device, Entry, entry
from phb_model.token_buckets import Colour, Meter

FROM, TO = 2, 1
"""Ports by which packets come and go."""

ETHERNET_BYTES = 14

DSCP_IN = {Colour.GREEN: 10, Colour.YELLOW: 12, Colour.RED: 14}  # AF11, AF12, AF13 (RFC 2597)
DSCP_OUT = {Colour.GREEN: 34, Colour.YELLOW: 36, Colour.RED: 38}  # AF41, AF42, AF43
COLOUR_OUT = {dscp: colour for colour, dscp in DSCP_OUT.items()}
_CLASS = {"policy": 1, "stream": 1, "traffic_class": 0}
_TOS_OFFSET = ETHERNET_BYTES + 1
_NUMBER_OFFSET = ETHERNET_BYTES + 4  # the identification of the IP header


@cache
def frame(size: int, *, dscp: int = 0, port: int = 2) -> bytes:
    """Return a UDP datagram whose IP packet has this size; `port` is its destination."""
    ethernet = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    made = IP(src="10.0.1.1", dst="10.0.2.1", tos=dscp << 2, id=0) / UDP(sport=1, dport=port)
    return bytes(ethernet / made / Raw(bytes(size - len(made))))


def numbered(size: int, number: int, *, dscp: int = 0, port: int = 2) -> bytes:
    """Return the same with a number of 16 bits in its identification, and a header checksum that counts it."""
    made = bytearray(frame(size, dscp=dscp, port=port))
    struct.pack_into("!H", made, _NUMBER_OFFSET, number)
    # One's complement arithmetic (RFC 1624): the field was 0, so its new value comes off the checksum.
    checksum_at = ETHERNET_BYTES + 10
    (checksum,) = struct.unpack_from("!H", made, checksum_at)
    total = (~checksum & 0xFFFF) + number
    struct.pack_into("!H", made, checksum_at, ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF)
    return bytes(made)


def action(meter: Meter, name: str = "metered", *, basis: str = "ip") -> str:
    """Return the action of a policy that meters, and marks by colour."""
    said = [
        f"kind: {meter.kind}",
        f"committed-rate: {{value: {meter.committed_bps}, unit: bit/s, basis: {basis}}}",
        f"committed-burst-bytes: {meter.committed_bytes}",
        f"colour-aware: {str(meter.aware).lower()}",
        *(f"{colour.name.lower()}: {{set-dscp: {dscp}}}" for colour, dscp in DSCP_OUT.items()),
    ]
    if meter.kind is not MeterKind.SINGLE_RATE:
        said.append(f"peak-rate: {{value: {meter.other_bps}, unit: bit/s, basis: {basis}}}")
    burst = "peak-burst-bytes" if meter.kind is MeterKind.TWO_RATE else "excess-burst-bytes"
    said.append(f"{burst}: {meter.other_bytes}")
    return f"  - {{name: {name}, meter: {{{', '.join(said)}}}}}\n"


def policy(meter: Meter, *, basis: str = "ip") -> str:
    """Return a node that meters everything from one port to the other."""
    rule = f"  - {{name: all, match: {{ingress-port: {FROM}}}, actions: [metered]}}\n"
    return f"{CONNECTED}actions:\n{action(meter, basis=basis)}rules:\n{rule}"


def several(meters: Sequence[Meter], *, basis: str = "ip") -> str:
    """Return a node with a meter for each of the first UDP ports."""
    actions = "".join(action(meter, f"metered{port}", basis=basis) for port, meter in enumerate(meters))
    rules = "".join(
        f"  - {{name: to{port}, match: {{protocol: udp, destination-ports: {port}}}, actions: [metered{port}]}}\n"
        for port in range(len(meters))
    )
    return f"{CONNECTED}actions:\n{actions}rules:\n{rules}"


def colour_of(sent: bytes) -> Colour | None:
    """Return the meter's colour of a frame that left; None if no meter has marked it."""
    return COLOUR_OUT.get(sent[_TOS_OFFSET] >> 2)


def number_of(sent: bytes) -> int:
    """Return the number that `numbered` gave to a frame."""
    return int.from_bytes(sent[_NUMBER_OFFSET : _NUMBER_OFFSET + 2], "big")


def send(device: Device, packets: Iterable[MeteredPacket], *, port: int = 2) -> list[Colour | None]:
    """Send packets at their times; return the colour of each, in their order; None for one that didn't leave."""
    given = list(packets)
    arrivals = [
        Arrival(packet.time_ns, FROM, numbered(packet.size, number & 0xFFFF, dscp=DSCP_IN[packet.colour], port=port))
        for number, packet in enumerate(given)
    ]
    colours: list[Colour | None] = [None] * len(given)
    wraps, last = 0, 0
    for departure in _through(device, arrivals):
        if departure.port != TO:
            continue
        number = number_of(departure.frame)
        # More than 65536 packets: numbers begin anew.
        wraps, last = wraps + (number < last - 0x8000), number
        colours[(wraps << 16) + number] = colour_of(departure.frame)
    return colours


def _through(device: Device, arrivals: Sequence[Arrival]) -> list[Departure]:
    if device.virtual or any(arrival.time_ns for arrival in arrivals):
        return device.run(arrivals)
    # All are expected to leave: no need to wait for quiet.
    for arrival in arrivals:
        device.send(arrival.port, arrival.frame)
    return device.receive(len(arrivals))


def entries(meter: Meter) -> list[Entry]:
    """Return the same node's entries, as a policy can't have rates of 0; the meter is of RFC 4115, by IP bytes."""
    rates = {
        "committed_rate": meter.committed_bps,
        "committed_full_after": _full_after(meter.committed_bps, meter.committed_bytes),
        "committed_burst": meter.committed_bytes,
        "excess_rate": meter.other_bps,
        "excess_full_after": _full_after(meter.other_bps, meter.other_bytes),
        "excess_burst": meter.other_bytes,
    }
    common = {"datagram": 1, "overhead": 0, "colour_aware": int(meter.aware)}
    return [
        entry("forward.cross_connect", {"ingress_port": FROM}, "connect", port=TO),
        entry("classify.multi_field_ipv4", {"ingress_port": FROM}, "set_class", priority=1, **_CLASS),
        entry("police.stream_meter", {"stream": 1}, "two_rate_separate", **rates, **common),
        *(
            entry("police.colour_action", {"policy": 1, "colour": colour}, "remark", value=dscp << 2, mask=0xFC)
            for colour, dscp in DSCP_OUT.items()
        ),
    ]


def _full_after(rate_bps: int, burst_bytes: int) -> int:
    """Return the microseconds in which a rate fills a bucket, rounded up."""
    return -(-burst_bytes * 8_000_000 // rate_bps) if rate_bps else 0
