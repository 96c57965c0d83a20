"""Packets that came out of order (RFC 4737, section 3.3), by microflow."""

from __future__ import annotations

from collections.abc import Hashable, Iterable


def reordered(departures: Iterable[tuple[Hashable, int]]) -> list[tuple[Hashable, int]]:
    """Return the (flow, number) of departures, given in order, that came after a higher number of their flow."""
    highest: dict[Hashable, int] = {}
    late = []
    for flow, number in departures:
        if number < highest.get(flow, number):
            late.append((flow, number))
        else:
            highest[flow] = number
    return late
