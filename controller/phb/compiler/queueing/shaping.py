"""Port shapers: rates that gNMI sets."""

from __future__ import annotations

from phb.compiler.policing import OVERHEAD
from phb.compiler.ports import NumberedPort
from phb.errors import InputError
from phb.intent import PortShaper
from phb.model import Shaper


def port_shaper(shaper: Shaper, port: NumberedPort) -> PortShaper:
    """The port's shaper. Without a burst the port is a line of the rate.

    Raises:
        InputError: A rate of payload: a shaper knows no TCP; or less than 1 bit/s.

    """
    rate = shaper.rate
    if rate.basis not in OVERHEAD:
        raise InputError(shaper.origin("rate"), f"a shaper of {rate}", "a rate of whole packets")
    bits = int(rate.bits_per_second)
    if bits < 1:
        raise InputError(shaper.origin("rate"), f"a shaper of {rate}", "at least 1 bit/s")
    return PortShaper(port.number, port.name, bits, shaper.burst_bytes or 0, OVERHEAD[rate.basis], shaper.origin())
