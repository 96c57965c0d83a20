"""Line rates given as text, for ports without a rate in the policy."""

from __future__ import annotations

from collections.abc import Iterable

from phb.errors import InputError
from phb.explain.line import LineRate
from phb.model import PolicySet
from phb.origin import Origin


def parse_rates(policy: PolicySet, texts: Iterable[str]) -> dict[int, LineRate]:
    """Read rates by port number from texts like ``line=256000-7``: bit/s, and bytes that the line adds to a frame."""
    rates: dict[int, LineRate] = {}
    for text in texts:
        name, _, value = text.partition("=")
        sign = "-" if "-" in value else "+"
        bits, _, overhead = value.partition(sign)
        overhead = overhead or "0"
        port = policy.find_port(int(name) if name.isdigit() else name)
        number = port.number if port is not None else int(name) if name.isdigit() else None
        if number is None or not bits.isdigit() or int(bits) == 0 or not overhead.isdigit():
            raise InputError(Origin("--rate"), f"'{text}'", "PORT=BITS[+BYTES], such as line=256000 or line=256000-7")
        rates[number] = LineRate(int(bits), int(f"{sign}{overhead}"))
    return rates
