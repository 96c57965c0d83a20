"""Early detection at a known average: the fate of probes that meet a queue of a certain length.

In each cycle some packets that early detection spares come to an idle line, and then one probe; before the next cycle
the queue has drained. So the queue that each packet finds doesn't depend on the fate of earlier probes, and the average
follows from its definition (Floyd and Jacobson 1993): average += (queue - average) / 2^n at every arrival.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from phb_conform.probing import IN, OUT, datagram, tos_of
from phb_device import CONNECTED, Arrival, Device, Line

LINE_BPS = 1_000_000
AVERAGE_WEIGHT = 1
"""n of the average in `policy`; the probes of a cycle see a queue that has grown by one with each packet before."""

SPARED = 0x60
"""ToS octet (CS3) of the packets that make the queue: `policy` has no profile for it."""

_SETTLED = 40
"""Cycles before the average of one is that of the next to 1e-12."""

_S = 1_000_000_000


@dataclass(frozen=True)
class Probed:
    """The fate of probes that met an average, in packets; `left` counts those that left, by ToS octet."""

    average: float
    sent: int
    left: Mapping[int, int]

    @property
    def dropped(self) -> int:
        """Probes that did not leave."""
        return self.sent - sum(self.left.values())


def policy(*profiles: str, ecn: bool = False, before: str = CONNECTED) -> str:
    """Return a policy of one queue with early detection and `profiles` as in docs/policies/yaml.md, in braces."""
    return (
        f"{before}queueing:\n  - port: line\n    schedule: {{kind: fifo}}\n    early-detection:\n"
        f"      average-weight: {AVERAGE_WEIGHT}\n      ecn: {str(ecn).lower()}\n      profiles:\n"
        + "".join(f"        - {profile}\n" for profile in profiles)
    )


def average_at(depth: int) -> float:
    """Return the average that a probe meets behind so many packets, in packets.

    The first of them finds the line idle and doesn't wait; the second finds an empty queue too.
    """
    average = 0.0
    for _ in range(_SETTLED):
        for place in range(depth + 1):
            average += (max(0, place - 1) - average) / 2**AVERAGE_WEIGHT
    return average


def probe(device: Device, depth: int, probes: int, octet: int = 0, frame: bytes | None = None) -> Probed:
    """Have probes, each behind `depth` packets, meet a queue; the device has a `policy`.

    The device is in virtual time, and no packet has come since it was reset. A probe is `frame`, or a datagram with
    this ToS octet.
    """
    frame = datagram(tos=octet) if frame is None else frame
    filler = datagram(tos=SPARED)
    # The time of all of a cycle's packets and of one more, which isn't sent.
    cycle = (len(filler) * (depth + 1) + len(frame)) * 8 * _S // LINE_BPS
    arrivals = []
    for number in range(_SETTLED + probes):
        start = number * cycle
        arrivals += [Arrival(start + place * 1000, IN, filler) for place in range(depth)]
        arrivals.append(Arrival(start + depth * 1000, IN, filler if number < _SETTLED else frame))
    left = Counter(tos_of(each.frame) for each in device.run(arrivals, lines={OUT: Line(LINE_BPS)}) if each.port == OUT)
    spared = left.pop(SPARED, 0)
    if spared != _SETTLED * (depth + 1) + probes * depth:
        raise ValueError(f"{spared} packets left that no profile is for")
    return Probed(average_at(depth), probes, left)
