"""Stages admit, police and mark: what is done under a policy number, as actions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from phb.compiler.marking import ALL_PRIORITY, FROM_PCP
from phb.compiler.policing import COUNTED
from phb.compiler.window import SCALE
from phb.decompiler.numbers import rate, roundest
from phb.decompiler.rows import NotAPolicyError, Rows
from phb.intent import Entry, Hook
from phb.model import (
    DEFAULT_CLASS,
    MARKS,
    Action,
    Copied,
    Direction,
    Meter,
    MeterKind,
    Rate,
    RateBasis,
    Treatment,
)
from phb.names import Names
from phb.pipeline_names import COLOURS
from phb.values import LAST_QOS_GROUP, PriorityCodePoint, TypeOfService

_POLICE = {Hook.INPUT: "police", Hook.OUTPUT: "output_police"}
_MARK = {Hook.INPUT: "mark", Hook.OUTPUT: "output_mark"}
_PERMISSION = {Hook.INPUT: "admit.permission", Hook.OUTPUT: "output.permission"}
_BASES = {(counted["datagram"], counted["overhead"]): basis for basis, counted in COUNTED.items()}
_PLAIN = Treatment()
_PLAINS = (_PLAIN, _PLAIN, _PLAIN)


@dataclass(frozen=True)
class Done:
    """The treatment under one policy number.

    `counted_as` is the number by which its connections are counted, 0 for none; `rates` are those of the window clamp.
    """

    entry: Entry
    stream: int = 0
    traffic_class: int = 0
    blocked: bool = False
    counted_as: int = 0
    connections: int = 0
    marks: Treatment = _PLAIN
    colours: tuple[Treatment, ...] = _PLAINS
    rates: tuple[int, int] = (0, 0)

    @property
    def said(self) -> tuple[object, ...]:
        """The action's fields that give this treatment."""
        return self.connections, self.marks, self.colours, self.rates


class Actions:
    """Actions: one for each stream, and one for each other treatment."""

    def __init__(self, rows: Rows, names: Names) -> None:
        self._names = names
        numbers = {entry.parameters.get("traffic_class", 0) for entry in rows.all} | set(names.classes)
        self.classes: dict[int, str] = {}
        for number in sorted(numbers - {0}):
            name = names.traffic_class(number)
            self.classes[number] = f"class-{number}" if name.isdigit() or name in self.classes.values() else name
        tables = {hook: (_PERMISSION[hook], f"{_MARK[hook]}.remark", f"{_MARK[hook]}.window_clamp") for hook in Hook}
        self._tables = {
            hook: tuple(rows.one_by_field(table, "policy") for table in each) for hook, each in tables.items()
        }
        self._colours = {hook: rows.by_field(f"{_POLICE[hook]}.colour_action", "policy") for hook in Hook}
        self._limits = rows.one_by_field("admit.connection_limit", "policy")
        self._meters = {hook: rows.one_by_field(f"{_POLICE[hook]}.stream_meter", "stream") for hook in Hook}
        self._found: dict[tuple[object, ...], str] = {}
        self._whole: dict[int, Done] = {}
        self._joined: dict[int, int] = {}
        self._name_of_stream: dict[int, str] = {}
        self._items: dict[str, Action] = {}

    @property
    def items(self) -> tuple[Action, ...]:
        """The model's actions."""
        return tuple(self._items.values())

    def stream(self, number: int) -> str | None:
        """Give the action that has this stream; None where no rule leads to it."""
        return self._name_of_stream.get(self._joined.get(number, number))

    def join(self, stream: int, other: int) -> None:
        """Note that a stream without a meter is of the same action as another one."""
        if stream != other:
            self._joined[stream] = other

    def traffic_class(self, number: int) -> str:
        """Name a class."""
        return self.classes[number] if number else DEFAULT_CLASS

    def done(self, policy: int, hook: Hook, entries: list[Entry]) -> Done:
        """Read the treatment under a policy number."""
        first = entries[0]
        for entry in entries:
            if entry.parameters != first.parameters:
                raise NotAPolicyError(entry, "the entries of one policy give different streams or classes")
        permission, remark, clamp = (table.get(policy) for table in self._tables[hook])
        limit = self._limits.get(policy) if hook is Hook.INPUT else None
        colours = {entry.match["colour"].value: _treatment(entry) for entry in self._colours[hook].get(policy, ())}  # type: ignore[union-attr]
        return Done(
            first,
            first.parameters["stream"],
            first.parameters["traffic_class"],
            blocked=permission is not None and permission.action == "block",
            counted_as=0 if limit is None else limit.parameters["policy"],
            connections=0 if limit is None else limit.parameters["maximum_connections"],
            marks=_PLAIN if remark is None else _treatment(remark),
            colours=tuple(colours.get(number, _PLAIN) for number in COLOURS),
            rates=(0, 0) if clamp is None else (clamp.parameters["maximum"], clamp.parameters["minimum"]),
        )

    def announce(self, done: Done, direction: Direction) -> None:
        """Note a treatment before actions are named; of a stream's policies, the one that does most counts."""
        if not done.stream:
            return
        known = self._whole.get(done.stream)
        if known is None or known.blocked:
            self._whole[done.stream] = done
            return
        if done.blocked or done.said == known.said:
            return
        if direction is Direction.INCOMING and (done.marks, done.colours) == (_PLAIN, _PLAINS):
            return
        if (known.marks, known.colours) == (_PLAIN, _PLAINS):
            self._whole[done.stream] = done
            return
        raise NotAPolicyError(done.entry, "policies of one stream do different things")

    def name(self, done: Done, hook: Hook) -> tuple[str, ...]:
        """Name the action of a policy; none where nothing is done."""
        whole = self._whole.get(self._joined.get(done.stream, done.stream), done) if done.stream else done
        if not done.stream and done.blocked:
            whole = Done(done.entry, traffic_class=done.traffic_class)
        if whole.said == Done(done.entry).said and not whole.stream and not whole.traffic_class:
            return ()
        key = (hook, whole.stream) if whole.stream else (0, whole.traffic_class, *whole.said)
        if key not in self._found:
            name = self._new_name(whole, hook)
            self._found[key] = name
            self._items[name] = self._action(name, whole, hook)
            if whole.stream:
                self._name_of_stream[whole.stream] = name
        return (self._found[key],)

    def _new_name(self, done: Done, hook: Hook) -> str:
        known = self._names.streams.get(done.stream) if done.stream else None
        name = known or (f"stream-{done.stream}" if done.stream else f"action-{len(self._items) + 1}")
        while name in self._items:
            name = f"{name[: 64 - len(hook) - 1]}-{hook}" if known else f"{name}-"
        return name

    def _action(self, name: str, done: Done, hook: Hook) -> Action:
        meter = self._meters[hook].get(done.stream) if done.stream else None
        maximum, minimum = (_payload_rate(scaled) for scaled in done.rates)
        return Action(
            name=name,
            traffic_class=self.classes.get(done.traffic_class),
            meter=None if meter is None else _meter(meter, done.colours),
            max_connections=done.connections or None,
            max_rate=maximum,
            min_rate=minimum,
            **_fields(done.marks),  # type: ignore[arg-type]
        )


def _treatment(entry: Entry) -> Treatment:
    if entry.action == "drop":
        return Treatment(drop=True)
    values = entry.parameters
    tos = pcp = None
    if entry.action in ("set_tos", "remark", "set_tos_and_pcp", "remark_tos_and_pcp"):
        tos = values["value"], values["mask"]
    if entry.action in ("set_pcp", "remark_pcp"):
        pcp = values["value"], values["mask"]
    fields: dict[str, object] = {}
    if entry.action.endswith("_marks"):
        tos, pcp = ((value, mask) if mask else None for value, mask in (_pair(values, ""), _pair(values, "pcp_")))
        fields |= {"copy_marks": _copied(entry), "set_qos_group": _group(entry)}
    elif "pcp_value" in values:
        pcp = _pair(values, "pcp_")
    if pcp is not None:
        fields["set_pcp"] = PriorityCodePoint(*pcp)
    if tos is not None and tos[1] == 0xFC:
        fields["set_dscp"] = tos[0] >> 2
    elif tos is not None and tos[1] == 0xE0:
        fields["set_precedence"] = tos[0] >> 5
    elif tos is not None:
        fields["set_tos"] = TypeOfService(*tos)
    return Treatment(**fields)  # type: ignore[arg-type]


def _pair(values: Mapping[str, int], prefix: str) -> tuple[int, int]:
    return values[f"{prefix}value"], values[f"{prefix}mask"]


def _copied(entry: Entry) -> tuple[Copied, ...]:
    filled, priority = entry.parameters["from_pcp"], entry.parameters["from_precedence"]
    found = [word for word, bits in FROM_PCP.items() if bits == filled]
    if (filled and not found) or priority not in (0, ALL_PRIORITY):
        raise NotAPolicyError(entry, "a mark that is copied in part")
    return (*found, Copied.PRECEDENCE_TO_PCP) if priority else tuple(found)


def _group(entry: Entry) -> int | None:
    group, mask = entry.parameters["qos_group"], entry.parameters["qos_group_mask"]
    if mask not in (0, LAST_QOS_GROUP):
        raise NotAPolicyError(entry, "some bits of a QoS group")
    return group if mask else None


def _fields(marks: Treatment) -> Mapping[str, object]:
    return {name: getattr(marks, name) for name in MARKS}


def _meter(entry: Entry, colours: tuple[Treatment, ...]) -> Meter:
    values = entry.parameters
    basis = _BASES.get((values["datagram"], values["overhead"]))
    if basis is None:
        counted = "datagram" if values["datagram"] else "frame"
        raise NotAPolicyError(entry, f"no rate counts {values['overhead']} bytes beside the {counted}")
    kind = MeterKind(entry.action.replace("_", "-"))
    fields: dict[str, object] = dict(zip(("green", "yellow", "red"), colours, strict=True))
    if kind is not MeterKind.SINGLE_RATE:
        fields["peak_rate"] = rate(values["peak_rate" if kind is MeterKind.TWO_RATE else "excess_rate"], basis)
    if kind is MeterKind.TWO_RATE:
        fields["peak_burst_bytes"] = values["peak_burst"]
    else:
        fields["excess_burst_bytes"] = values["excess_burst"] or None
    return Meter(
        kind=kind,
        committed_rate=rate(values["rate" if kind is MeterKind.SINGLE_RATE else "committed_rate"], basis),
        committed_burst_bytes=values["committed_burst"],
        colour_aware=bool(values["colour_aware"]),
        **fields,  # type: ignore[arg-type]
    )


def _payload_rate(scaled: int) -> Rate | None:
    if not scaled:
        return None
    bits = Fraction(8_000_000, SCALE)
    # Any number that rounds to the same one, but for the bounds themselves.
    half = Fraction(49, 100)
    found = roundest((scaled - half) * bits, (scaled + half) * bits)
    return rate(Decimal(found), RateBasis.TCP_PAYLOAD)
