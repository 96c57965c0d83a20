"""Port shapers: rates that gNMI sets."""

from __future__ import annotations

from phb.compiler.ports import NumberedPort
from phb.compiler.queueing.length import OVERHEAD
from phb.errors import InputError
from phb.intent import PortShaper
from phb.model import RateBasis, Shaper

# A shaper's rate counts what a scheduler calls a packet's length.
_OVERHEAD = {RateBasis(basis): added for basis, added in OVERHEAD.items()}


def port_shaper(shaper: Shaper, port: NumberedPort) -> PortShaper:
    """The port's shaper. Without a burst the port is a line of the rate.

    Raises:
        InputError: A rate of payload: a shaper knows no TCP; or less than 1 bit/s.

    """
    rate = shaper.rate
    if rate.basis not in _OVERHEAD:
        raise InputError(shaper.origin("rate"), f"a shaper of {rate}", "a rate of whole packets")
    bits = int(rate.bits_per_second)
    if bits < 1:
        raise InputError(shaper.origin("rate"), f"a shaper of {rate}", "at least 1 bit/s")
    return PortShaper(port.number, port.name, bits, shaper.burst_bytes or 0, _OVERHEAD[rate.basis], shaper.origin())
