"""Shapers: of ports, whose rates gNMI sets, and of classes, whose rates are in a row of the program."""

from __future__ import annotations

from phb.compiler.ports import NumberedPort
from phb.compiler.queueing.tables import SHAPER
from phb.device.artifact import Artifact
from phb.errors import InputError
from phb.intent import Entry, Exact, PortShaper
from phb.model import RateBasis, Shaper


def port_shaper(shaper: Shaper, port: NumberedPort) -> PortShaper:
    """Give the port's shaper, which is a line without a burst; refuse rates of TCP payload, or below 1 bit/s."""
    bits, overhead = _bits_and_overhead(shaper)
    return PortShaper(port.number, port.name, bits, shaper.burst_bytes or 0, overhead, shaper.origin())


def class_shaper(shaper: Shaper, number: int, profile: int, artifact: Artifact) -> Entry:
    """Give the row that shapes a class at a port. Without a burst each packet waits for tokens of its own bytes."""
    bits, overhead = _bits_and_overhead(shaper)
    parameters = {
        "rate": bits,
        "burst": shaper.burst_bytes or 0,
        "overhead": overhead % (1 << artifact.bits(SHAPER, "shape", "overhead")),
    }
    match = {"profile": Exact(profile), "traffic_class": Exact(number)}
    return Entry(SHAPER, match, "shape", parameters, 0, shaper.origin())


def _bits_and_overhead(shaper: Shaper) -> tuple[int, int]:
    """Give the rate in whole bit/s, and the bytes it counts beside those of an Ethernet frame."""
    rate = shaper.rate
    if rate.basis is RateBasis.TCP_PAYLOAD:
        raise InputError(shaper.origin("rate"), f"a shaper of {rate}", "a rate of whole packets")
    bits = int(rate.bits_per_second)
    if bits < 1:
        raise InputError(shaper.origin("rate"), f"a shaper of {rate}", "at least 1 bit/s")
    return bits, -rate.basis.left_out
