"""What the stages behind classification do with the packets of a policy number and a stream."""

from __future__ import annotations

from collections.abc import Hashable
from decimal import Decimal
from typing import Final, NamedTuple

from phb.behaviour.behaviour import Meter, Treatment
from phb.behaviour.marks import Marks
from phb.intent import Entry, Hook
from phb.model import MeterKind
from phb.proving.tables.marking import after, marks
from phb.proving.tables.rows import TableFaultError, Tables, signed

_PERMISSION: Final = {Hook.INPUT: "admit.permission", Hook.OUTPUT: "output.permission"}
_POLICE: Final = {Hook.INPUT: "police", Hook.OUTPUT: "output_police"}
_MARK: Final = {Hook.INPUT: "mark", Hook.OUTPUT: "output_mark"}
_COLOURS: Final = (0, 1, 2)
_CLAMP_UNIT: Final = Decimal(8_000_000) / (1 << 20)
"""Bit/s of one byte in 2^20 microseconds."""
_TOKENS_PER_BYTE: Final = 8_000_000
_LAST_TIME: Final = (1 << 48) - 1
_TOKEN_BITS: Final = 64


class Classified(NamedTuple):
    """The parameters of `set_class`."""

    policy: int
    stream: int
    traffic_class: int


class Stages:
    """The stages admit, police and mark of one hook, to be asked by policy number and stream."""

    def __init__(self, tables: Tables, hook: Hook, *, track_connections: bool) -> None:
        self._permission = tables.by_number(_PERMISSION[hook], "policy")
        limits = tables.by_number("admit.connection_limit", "policy") if hook is Hook.INPUT else {}
        clamps = tables.by_number(f"{_MARK[hook]}.window_clamp", "policy")
        # Without tracking the program knows no connections.
        self._limits, self._clamps = (limits, clamps) if track_connections else ({}, {})
        self._meters = tables.by_number(f"{_POLICE[hook]}.stream_meter", "stream")
        self._colours = tables.by_key(f"{_POLICE[hook]}.colour_action", "policy", "colour")
        self._remark = tables.by_number(f"{_MARK[hook]}.remark", "policy")

    def treatment(self, found: Classified) -> Treatment:
        """Give what is done with packets."""
        permission = self._permission.get(found.policy)
        if permission is not None and permission.action == "block":
            return Treatment(blocked=True)
        row = self._meters.get(found.stream) if found.stream else None
        limit, clamp = self._limits.get(found.policy), self._clamps.get(found.policy)
        counted_as: Hashable = None
        if limit is not None:
            counted_as = limit.parameters["policy"]
        remark = marks(self._remark.get(found.policy))
        green, yellow, red = (
            remark if row is None else self._coloured(found.policy, colour, remark) for colour in _COLOURS
        )
        return Treatment(
            traffic_class=found.traffic_class or None,
            stream=found.stream or None,
            meter=None if row is None else meter(row),
            colours=(green, yellow, red),
            connections=None if limit is None else limit.parameters["maximum_connections"],
            counted_as=counted_as,
            clamp=None if clamp is None else (_clamped(clamp, "maximum"), _clamped(clamp, "minimum")),
        )

    def _coloured(self, policy: int, colour: int, remark: Marks) -> Marks | None:
        entry = self._colours.get((policy, colour))
        return None if entry is not None and entry.action == "drop" else after(marks(entry), remark)


def _clamped(entry: Entry, name: str) -> int:
    return round(entry.parameters[name] * _CLAMP_UNIT)


def meter(entry: Entry) -> Meter:
    """Give an entry's meter."""
    given = entry.parameters
    counted = bool(given["datagram"]), signed(given["overhead"]), bool(given["colour_aware"])
    if entry.action == "single_rate":
        rate, burst, other = given["rate"], given["committed_burst"], given["excess_burst"]
        _check_time(entry, rate, given["full_after"], burst + other)
        return Meter(MeterKind.SINGLE_RATE, rate, burst, 0, other, *counted)
    word, kind = ("peak", MeterKind.TWO_RATE) if entry.action == "two_rate" else ("excess", MeterKind.TWO_RATE_SEPARATE)
    rate, burst = given["committed_rate"], given["committed_burst"]
    other_rate, other = given[f"{word}_rate"], given[f"{word}_burst"]
    _check_time(entry, rate, given["committed_full_after"], burst)
    _check_time(entry, other_rate, given[f"{word}_full_after"], other)
    return Meter(kind, rate, burst, other_rate, other, *counted)


def _check_time(entry: Entry, rate: int, full_after: int, burst: int) -> None:
    """Refuse a time after which no more is counted that leaves a bucket with room, or overflows 64 bits."""
    if rate * full_after < burst * _TOKENS_PER_BYTE and full_after < _LAST_TIME:
        raise TableFaultError(f"a bucket that isn't full after {full_after} us, when its meter counts no more", entry)
    if rate * full_after >> _TOKEN_BITS:
        raise TableFaultError(f"a meter that gains more than 64 bits of tokens in {full_after} us", entry)
