"""Port shapers: rates that gNMI sets."""

from __future__ import annotations

from phb.compiler.ports import NumberedPort
from phb.errors import InputError
from phb.intent import Notice, PortShaper
from phb.model import RateBasis, Shaper

# What phb-switch's shaper counts unless it was started otherwise (PortConfig.overhead_bytes).
COUNTED = RateBasis.ETHERNET


def port_shaper(shaper: Shaper, port: NumberedPort) -> tuple[PortShaper, list[Notice]]:
    """The port's shaper, and what of it can't be said in OpenConfig.

    Raises:
        InputError: A rate of payload: a shaper knows no TCP; or less than 1 bit/s.

    """
    rate = shaper.rate
    if rate.basis is RateBasis.TCP_PAYLOAD:
        raise InputError(shaper.origin("rate"), f"a shaper of {rate}", "a rate of whole packets")
    bits = int(rate.bits_per_second)
    if bits < 1:
        raise InputError(shaper.origin("rate"), f"a shaper of {rate}", "at least 1 bit/s")
    notices = []
    if rate.basis is not COUNTED:
        message = (
            f"the shaper of port '{port.name}' counts what the switch counts for the line, by default Ethernet frames "
            f"without check sequence, not {rate.basis}: gNMI has no word for it"
        )
        notices.append(Notice(shaper.origin("rate"), message))
    return PortShaper(port.number, port.name, bits, shaper.origin()), notices
