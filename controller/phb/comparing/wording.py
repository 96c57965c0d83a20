"""Parts of treatments in words."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from phb.behaviour.behaviour import Meter, Route, RouteKind
from phb.behaviour.facts import rate_words
from phb.explain.words import dscp_name
from phb.explain.words import tos_words as octet_words
from phb.packets.space import UNTAGGED


def meter_words(meter: Meter | None) -> str:
    """Say all that makes a meter."""
    if meter is None:
        return "none"
    words = [f"{meter.kind.value} {rate_words(meter.rate)}, burst {meter.burst} bytes"]
    other = "peak" if meter.kind.value == "two-rate" else "excess"
    if meter.other_rate:
        words.append(f"{other} {rate_words(meter.other_rate)}")
    if meter.other_burst:
        words.append(f"{other} burst {meter.other_burst} bytes")
    words += ["of IP bytes"] * meter.datagram
    words += [f"{meter.overhead:+} bytes each"] * bool(meter.overhead)
    words += ["colour-aware"] * meter.colour_aware
    return ", ".join(words)


def clamp_words(clamp: tuple[int, int] | None) -> str:
    """Say the rates of a TCP connection."""
    if clamp is None:
        return "none"
    most, least = clamp
    words = [f"at most {rate_words(most)}"] * bool(most) + [f"at least {rate_words(least)}"] * bool(least)
    return ", ".join(words) or "none"


def route_words(route: Route, ports: Mapping[int, str], other: Route | None = None) -> str:
    """Say where packets go; of the facts those that another route doesn't have."""
    known = () if other is None else other.facts
    facts = ", ".join(f"{word} {value}" for word, value in route.facts if (word, value) not in known)
    kinds = {
        RouteKind.OWN: "to the router itself",
        RouteKind.BROADCAST: "a broadcast, not forwarded",
        RouteKind.DISCARD: "discarded by its route",
        RouteKind.NONE: "no route",
    }
    if route.port is None:
        return kinds.get(route.kind, route.kind.value) + (f" ({facts})" if facts else "")
    return f"to {ports.get(route.port, f'port {route.port}')}" + (f" ({facts})" if facts else "")


def tos_words(final: NDArray[np.int16]) -> str:
    """Say which ToS octet packets get, by a table of final marks."""
    tos = final[0]
    inputs = np.arange(256)[:, None]
    fixed = _fixed(tos)
    if fixed == 0xFF:
        return octet_words(int(tos[0, 0]))
    rest = ~fixed & 0xFF
    if (tos & rest == inputs & rest).all():
        value = int(tos[0, 0]) & fixed
        match fixed:
            case 0:
                return "as it came"
            case 0xFC:
                return f"DSCP {dscp_name(value)}"
            case 0xE0:
                return f"precedence {value >> 5}"
            case _:
                return f"{value:#04x} under {fixed:#04x}"
    return (
        f"{int(tos[0, 0]) & fixed:#04x} under {fixed:#04x}, other bits of the 802.1p priority"
        if fixed
        else ("of the 802.1p priority")
    )


def _fixed(values: NDArray[np.int16]) -> int:
    """Give the bits that are the same in all values."""
    return 0xFF & ~int(np.bitwise_or.reduce(values.ravel() ^ values.flat[0]))


def priority_words(final: NDArray[np.int16]) -> str | None:
    """Say which 802.1p priority tagged frames get, by a table of final marks; None where no few words do."""
    tag = final[1][:, :UNTAGGED]
    if (tag == np.arange(UNTAGGED)).all():
        return "as it came"
    if (tag == tag.flat[0]).all():
        return str(int(tag.flat[0]))
    return "of the precedence" if (tag == np.arange(256)[:, None] >> 5).all() else None
