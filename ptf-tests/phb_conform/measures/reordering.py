"""Packets that came out of order (RFC 4737, section 3.3), by microflow."""

from __future__ import annotations

from collections.abc import Hashable, Iterable


def reordered(departures: Iterable[tuple[Hashable, int]]) -> list[tuple[Hashable, int]]:
    """The packets that came after one that was sent later; lost packets count for nothing.

    Args:
        departures: Flow and number within the flow of each packet, in order of departure.

    """
    highest: dict[Hashable, int] = {}
    late = []
    for flow, number in departures:
        if number < highest.get(flow, number):
            late.append((flow, number))
        else:
            highest[flow] = number
    return late
