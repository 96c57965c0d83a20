"""Meters, in the bits and bytes that they count."""

from __future__ import annotations

from phb.behaviour.behaviour import Meter
from phb.errors import InputError
from phb.model import Meter as SaidMeter
from phb.model import Rate, RateBasis
from phb.model.rates import PPP_HEADER

_COUNTED = {RateBasis.ETHERNET: (False, 0), RateBasis.IP: (True, 0), RateBasis.PPP: (True, PPP_HEADER)}
"""Whether the IP datagram's bytes are counted, and which beside them."""


def meter(said: SaidMeter) -> Meter:
    """Give a meter as it is kept; refuse one of TCP payload."""
    basis = said.committed_rate.basis
    if basis not in _COUNTED:
        raise InputError(said.origin("committed_rate"), f"basis '{basis.value}' of a meter", "one of whole packets")
    datagram, overhead = _COUNTED[basis]
    return Meter(
        said.kind,
        _bits(said.committed_rate),
        said.committed_burst_bytes,
        0 if said.peak_rate is None else _bits(said.peak_rate),
        # A meter has at most one of them.
        said.excess_burst_bytes or said.peak_burst_bytes or 0,
        datagram,
        overhead,
        said.colour_aware,
    )


def _bits(rate: Rate) -> int:
    return int(rate.bits_per_second)
