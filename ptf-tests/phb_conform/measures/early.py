"""Early detection at an average that is known: what becomes of probes that meet a queue of a certain length.

In each cycle some packets that early detection spares come to an idle line, and then one probe; before the next
cycle the queue has drained. So the queue that each packet finds doesn't hang on what became of earlier probes, and
the average follows from its definition (Floyd and Jacobson 1993): average += (queue - average) / 2^n at every arrival.
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
    """The fate of probes.

    Attributes:
        average: Packets, what each probe met with.
        sent: How many probes.
        left: How many of them left, by ToS octet.

    """

    average: float
    sent: int
    left: Mapping[int, int]

    @property
    def dropped(self) -> int:
        """Probes that did not leave."""
        return self.sent - sum(self.left.values())


def policy(*profiles: str, ecn: bool = False, before: str = CONNECTED) -> str:
    """One queue with early detection.

    Args:
        profiles: As in docs/policies/yaml.md, in braces.
        ecn: Whether it marks.
        before: The rest of the policy.

    """
    return (
        f"{before}queueing:\n  - port: line\n    schedule: {{kind: fifo}}\n    early-detection:\n"
        f"      average-weight: {AVERAGE_WEIGHT}\n      ecn: {str(ecn).lower()}\n      profiles:\n"
        + "".join(f"        - {profile}\n" for profile in profiles)
    )


def average_at(depth: int) -> float:
    """Return the average that a probe meets behind so many packets, in packets.

    The first of them finds the line idle and waits for nobody; the second finds an empty queue too.
    """
    average = 0.0
    for _ in range(_SETTLED):
        for place in range(depth + 1):
            average += (max(0, place - 1) - average) / 2**AVERAGE_WEIGHT
    return average


def probe(device: Device, depth: int, probes: int, octet: int = 0, frame: bytes | None = None) -> Probed:
    """Have probes meet a queue; the device has a `policy`.

    Args:
        device: In virtual time; no packet has come since it was reset.
        depth: Packets before each probe.
        probes: How many.
        octet: Of the probes' ToS octet.
        frame: A probe, if it shall be another than a datagram with that octet.

    """
    frame = datagram(tos=octet) if frame is None else frame
    filler = datagram(tos=SPARED)
    # All of a cycle's packets, and one more that nobody sends.
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
