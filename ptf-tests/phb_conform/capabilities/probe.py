"""A probe: tries one capability on a switch, whatever its table says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from phb.targets import Capability, load
from phb_device import Device

EVERYTHING = "phb-switch"
"""The target whose compiler refuses nothing: probes are compiled for it."""


def target_of(device: Device) -> str:
    """Return the target that a probe of ranks is compiled for: the device's own where its compiler maps them."""
    return device.target if load(device.target).maps_ranks else EVERYTHING


@dataclass(frozen=True)
class Probed:
    """The result of a probe: `measured` is one line for people, `most` the largest amount where there is one."""

    supported: bool
    measured: str
    most: int | None = None
    approximate: bool = False


Probe: TypeAlias = Callable[[Device], Probed]

PROBES: dict[Capability, Probe] = {}
"""One for each capability."""


def probe(capability: Capability) -> Callable[[Probe], Probe]:
    """Register the function below; it gets a device that was just reset."""

    def register(function: Probe) -> Probe:
        PROBES[capability] = function
        return function

    return register


def datagram(number: int, *, flow: int = 0, tos: int = 0, size: int = 200) -> bytes:
    """Return a numbered frame of a UDP flow, from port 2 to port 1 of `phb_device.CONNECTED`."""
    frame = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    frame /= IP(src="10.0.1.1", dst="10.0.2.1", tos=tos) / UDP(sport=1, dport=5000 + flow)
    return bytes(frame / Raw(number.to_bytes(4, "big") + bytes(size - len(frame) - 4)))


def number_of(frame: bytes) -> int:
    """Return the number that `datagram` put in."""
    return int.from_bytes(frame[42:46], "big")


PLUG = datagram(0xFFFFFFFF, flow=999)
"""Keeps the port busy while the others queue up."""
