"""The dimensions of a packet that rules ask for, and which packets there are.

A `ValueBox` of this space has the intervals of `Dimension` and the subsets of `Subset`, in their order. A box has one
IP version, since addresses of the versions have different widths.

What the pipeline reads of a packet that lacks a header is 0: addresses, protocol, ports, ToS, VLAN (p4src/parser.p4).
`every_packet` leaves out what no packet has, such as ports of ICMP.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from functools import cache
from typing import Final, NamedTuple

from phb.model import LAST_PORT
from phb.packets.boxes import Interval, ValueBox
from phb.values import ICMP_VERSIONS, LAST_QOS_GROUP, PROTOCOLS

UNTAGGED: Final = 8
"""Of dimension `TAG`, behind the eight priorities: a frame without a tag."""
NO_HEADER: Final = 256
"""Of dimension `FLAGS`, behind all octets of flags: a packet without a TCP header."""
NO_MESSAGE: Final = 1 << 16
"""Of dimension `MESSAGE`, behind every type and code: a packet without an ICMP header."""


class Dimension(IntEnum):
    """Dimensions whose sets are intervals: indexes of `ValueBox.intervals`."""

    SOURCE = 0
    DESTINATION = 1
    SOURCE_PORT = 2
    DESTINATION_PORT = 3
    VLAN = 4  # 0 of a frame without a tag
    MESSAGE = 5  # ICMP type << 8 | code


class Subset(IntEnum):
    """Dimensions whose sets are bits of an integer: indexes of `ValueBox.subsets`."""

    VERSION = 0  # values of `Version`
    INGRESS = 1  # port numbers
    EGRESS = 2  # port numbers; only output policies ask for it
    PROTOCOL = 3
    TOS = 4
    TAG = 5  # 802.1p priority, or UNTAGGED
    FLAGS = 6  # octet of TCP's flags, or NO_HEADER
    GROUP = 7  # QoS group, which an input policy sets; 0 before
    EPOCH = 8  # moments that no rule tells apart (phb.packets.epochs)


class Version(IntEnum):
    """Values of dimension VERSION."""

    IPV4 = 0
    IPV6 = 1
    NONE = 2  # no IP packet


def every(count: int) -> int:
    """Give the subset of all values below `count`."""
    return (1 << count) - 1


PORTS: Final = every(LAST_PORT + 1)
ADDRESS_BITS: Final[Mapping[Version, int]] = {Version.IPV4: 32, Version.IPV6: 128, Version.NONE: 0}
_COUNTS: Final = {
    Subset.VERSION: len(Version),
    Subset.INGRESS: LAST_PORT + 1,
    Subset.EGRESS: LAST_PORT + 1,
    Subset.PROTOCOL: 256,
    Subset.TOS: 256,
    Subset.TAG: UNTAGGED + 1,
    Subset.FLAGS: NO_HEADER + 1,
    Subset.GROUP: LAST_QOS_GROUP + 1,
}


class Packet(NamedTuple):
    """One packet: a value in each dimension, of `Dimension` and of `Subset`."""

    intervals: tuple[int, ...]
    subsets: tuple[int, ...]

    def box(self) -> ValueBox:
        """Give the box of this packet alone."""
        return ValueBox(tuple((value, value) for value in self.intervals), tuple(1 << value for value in self.subsets))


def is_in(packet: Packet, box: ValueBox) -> bool:
    """Whether a packet lies in a box."""
    return all(
        low <= value <= high for value, (low, high) in zip(packet.intervals, box.intervals, strict=True)
    ) and all(bits >> value & 1 for value, bits in zip(packet.subsets, box.subsets, strict=True))


def first_packet(box: ValueBox) -> Packet:
    """Give the packet with the lowest value in each dimension."""
    return Packet(
        tuple(low for low, _ in box.intervals), tuple((bits & -bits).bit_length() - 1 for bits in box.subsets)
    )


def box_of(version: Version, *, epochs: int, **asked: Interval | int) -> ValueBox:
    """Give the box of packets of one version in which all dimensions but those named by `asked` have all values.

    `asked` are small names of `Dimension` (intervals) and `Subset` (bits), as in ``box_of(Version.IPV4, epochs=1,
    source=(0, 255), tos=1)``. `epochs` are the bits of all or some epochs.
    """
    last = (1 << ADDRESS_BITS[version]) - 1
    intervals: list[Interval] = [(0, last), (0, last), (0, 0xFFFF), (0, 0xFFFF), (0, 0xFFF), (0, NO_MESSAGE)]
    subsets = [*(every(count) for count in _COUNTS.values()), epochs]
    subsets[Subset.VERSION] = 1 << version
    for name, values in asked.items():
        if isinstance(values, tuple):
            intervals[Dimension[name.upper()]] = values
        else:
            subsets[Subset[name.upper()]] = values
    return ValueBox(tuple(intervals), tuple(subsets))


@cache
def every_packet(epochs: int) -> tuple[ValueBox, ...]:
    """Give all packets that a parser can give, before any policy: disjoint boxes."""
    return tuple(_every_packet(epochs))


def _every_packet(epochs: int) -> Iterator[ValueBox]:
    tcp = 1 << PROTOCOLS["tcp"]
    udp = 1 << PROTOCOLS["udp"]
    none: dict[str, Interval | int] = {"source_port": (0, 0), "destination_port": (0, 0)}
    no_message: dict[str, Interval | int] = {"message": (NO_MESSAGE, NO_MESSAGE)}
    no_flags: dict[str, Interval | int] = {"flags": 1 << NO_HEADER}
    tags: tuple[dict[str, Interval | int], ...] = (
        {"tag": 1 << UNTAGGED, "vlan": (0, 0)},
        {"tag": every(UNTAGGED)},
    )
    for tag in tags:
        # No interface has been chosen, and no group set.
        common = {**tag, "egress": 1, "group": 1}
        yield box_of(Version.NONE, epochs=epochs, protocol=1, tos=1, **none, **no_message, **no_flags, **common)
        for version, icmp_version in ((Version.IPV4, 4), (Version.IPV6, 6)):
            icmp = 1 << ICMP_VERSIONS[icmp_version]
            kinds: tuple[dict[str, Interval | int], ...] = (
                {"protocol": tcp, "flags": every(NO_HEADER), **no_message},
                {"protocol": udp, **no_flags, **no_message},
                {"protocol": icmp, "message": (0, NO_MESSAGE - 1), **no_flags, **none},
                # Other protocols, later fragments, and packets that end before that header.
                {"protocol": every(256) & ~udp, **no_flags, **no_message, **none},
            )
            for kind in kinds:
                yield box_of(version, epochs=epochs, **kind, **common)
