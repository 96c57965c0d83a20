"""The length that a meter counts, in frames that carry the same IP packet in different ways."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw

from phb.model import MeterKind
from phb_conform import metered
from phb_conform.check import Finding, judged
from phb_conform.metering import STILL_BPS
from phb_device import Device
from phb_model.token_buckets import Colour, Meter

_ETHERNET = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
_ETHERNET_LEAST = 60
_IPV4, _IPV6 = IP(src="10.0.1.1", dst="10.0.2.1"), IPv6(src="2001:db8::1", dst="2001:db8::2")


def counts_ip_bytes(device: Device, kind: MeterKind, frames: Mapping[str, tuple[bytes, int]]) -> Finding:
    """The committed bucket has room for the IP packet if its burst is the packet's length, and not if it is less.

    `frames` has for each carriage a UDP datagram's frame and its IP packet's length.
    """
    made = []
    for _, size in frames.values():
        # RFC 4115 wants a token more than the packet takes.
        exact = size + (kind is MeterKind.TWO_RATE_SEPARATE)
        made += [_meter(kind, exact), _meter(kind, exact - 1)]
    device.push(metered.several(made))
    wrong = []
    for number, (name, (frame, _)) in enumerate(frames.items()):
        greens = []
        for port in (2 * number, 2 * number + 1):
            left = device.exchange(metered.FROM, _to_port(frame, port))
            greens.append(bool(left) and _colour(left[0][1]) is Colour.GREEN)
        if greens != [True, False]:
            wrong.append(f"{name}: more bytes than the IP packet's" if not greens[0] else f"{name}: fewer bytes")
    return judged(not wrong, "; ".join(wrong) or f"{', '.join(frames)}: the IP packet's bytes, exactly")


@cache
def plain() -> Mapping[str, tuple[bytes, int]]:
    """Return IPv4 and IPv6 in untagged frames without padding."""
    return {"IPv4": _frame(_IPV4, 1000), "IPv6": _frame(_IPV6, 1000)}


@cache
def carried() -> Mapping[str, tuple[bytes, int]]:
    """Return the same behind an 802.1Q tag, and a packet so short that its frame is padded."""
    return {
        "802.1Q tag": _frame(Dot1Q(vlan=5) / _IPV4, 1000),
        "802.1Q tag, IPv6": _frame(Dot1Q(vlan=5) / _IPV6, 1000),
        "padding": _frame(_IPV4, 40),
        "padding behind a tag": _frame(Dot1Q(vlan=5) / _IPV4, 40),
    }


def _meter(kind: MeterKind, burst: int) -> Meter:
    other = 0 if kind is MeterKind.SINGLE_RATE else STILL_BPS
    return Meter(kind, STILL_BPS, burst, other, 100_000 if kind is MeterKind.TWO_RATE else 1)


def _frame(headers: Packet, ip_bytes: int) -> tuple[bytes, int]:
    link_bytes = 4 * (Dot1Q in headers)
    made = headers / UDP(sport=1, dport=0)
    frame = bytes(_ETHERNET / made / Raw(bytes(ip_bytes + link_bytes - len(made))))
    return frame.ljust(_ETHERNET_LEAST, b"\0"), ip_bytes


def _to_port(frame: bytes, port: int) -> bytes:
    made = Ether(frame)
    made[UDP].dport = port
    made[UDP].chksum = None
    return bytes(made)


def _colour(frame: bytes) -> Colour | None:
    made = Ether(frame)
    tos = made[IP].tos if IP in made else made[IPv6].tc
    return metered.COLOUR_OUT.get(tos >> 2)
