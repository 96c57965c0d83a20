"""Sessions of test packets as ``phb monitor`` shows them, with what the switches on their way count beside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from phb.delays import mean_us, percentile_us, time_in_words

if TYPE_CHECKING:
    from phb.monitor.active.measured import Measured
    from phb.stamp.figures import Loss, Spread

COLUMNS: Final = (
    *("session", "class", "sent", "lost", "round trip", "99 % below", "there", "back", "jitter there", "jitter back"),
    "in switches",
)

Delays = Callable[[str, str], Mapping[int, int]]
"""Gives the delays of a class in a switch, by bucket; none where nothing is known."""


def row(measured: Measured | None, delays: Delays) -> list[str]:
    """Give the cells after a session's name; None: nothing has come of it yet."""
    if measured is None or measured.figures is None:
        word = "(waiting)" if measured is None or not measured.away else "(no reply)"
        return [word, *[""] * (len(COLUMNS) - 2)]
    session, figures = measured.session, measured.figures
    passive = ((name, mean_us(delays(name, session.traffic_class))) for name in session.path)
    one_way = (figures.there, figures.back) if session.common_clock else (None, None)
    return [
        session.traffic_class,
        str(figures.sent),
        _lost(figures.sent - figures.replies, figures.lost),
        _mean(figures.round_trip),
        "-" if figures.round_trip is None else time_in_words(figures.round_trip.percentiles[-1] / 1000),
        *(_mean(each) for each in (*one_way, figures.jitter_there, figures.jitter_back)),
        ", ".join(f"{name} {'-' if mean is None else time_in_words(mean)}" for name, mean in passive),
    ]


def as_json(name: str, measured: Measured | None, delays: Delays) -> dict[str, Any]:
    """Give a session for programs; times in milliseconds, of switches in microseconds."""
    if measured is None:
        return {"session": name, "away": False, "figures": None}
    session = measured.session
    figures = None if measured.figures is None else measured.figures.as_json()
    if figures is not None and not session.common_clock:
        figures |= {"there_ms": None, "back_ms": None}
    return {
        "session": name,
        "class": session.traffic_class,
        "dscp": session.dscp,
        "away": measured.away,
        "why": measured.why,
        "seconds": measured.seconds,
        "figures": figures,
        "path": [
            {"switch": switch, "delay_us": delays_as_json(delays(switch, session.traffic_class))}
            for switch in session.path
        ],
    }


def delays_as_json(delays: Mapping[int, int]) -> dict[str, float | None]:
    """Give the mean and percentiles of delays by bucket, in microseconds."""
    return {
        "mean": mean_us(delays),
        **{f"p{percent}": percentile_us(delays, percent) for percent in (50, 95, 99)},
    }


def _mean(spread: Spread | None) -> str:
    return "-" if spread is None else time_in_words(spread.mean / 1000)


def _lost(packets: int, lost: Loss) -> str:
    known = [f"{count} {word}" for count, word in ((lost.there, "there"), (lost.back, "back")) if count]
    return f"{packets} ({', '.join(known)})" if known else str(packets)
