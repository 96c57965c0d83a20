"""Stages conversation, buffer and schedule: rows of a port's profile as its queueing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from phb.compiler.queueing.classes import SHARED_LEVEL
from phb.compiler.queueing.flows import WEIGHTS
from phb.compiler.queueing.strict_queues import map_ranks, ranks_matter
from phb.decompiler.actions import Actions
from phb.decompiler.early_detection import early_detection, port_rate
from phb.decompiler.numbers import Bounds, rate, roundest
from phb.decompiler.ports import Ports
from phb.decompiler.rows import NotAPolicyError, Rows, exact
from phb.decompiler.shares import bandwidths, bandwidths_beside_flows
from phb.errors import InputError
from phb.intent import Entry, PortShaper
from phb.model import (
    DEFAULT_CLASS,
    Buffers,
    ClassBased,
    ClassQueue,
    Dialect,
    FairQueue,
    Fifo,
    FlowQueueing,
    LengthBasis,
    PrivateBuffer,
    Queueing,
    Rate,
    RateBasis,
    Schedule,
    Shaper,
)
from phb.names import Names

_BASES = {-RateBasis(basis).left_out % (1 << 32): basis for basis in LengthBasis}


@dataclass(frozen=True)
class _Tables:
    """Rows by profile."""

    classes: Mapping[int, list[Entry]]
    limits: Mapping[int, Entry]
    buffers: Mapping[int, list[Entry]]
    idle_streams: Mapping[int, list[Entry]]
    thresholds: Mapping[int, list[Entry]]
    shapers: Mapping[int, list[Entry]]
    weights: Mapping[int, list[Entry]]
    strict_queues: Mapping[int, list[Entry]]


def decompile_queueing(
    rows: Rows, names: Names, ports: Ports, actions: Actions, shapers: Mapping[int, PortShaper]
) -> tuple[Queueing, ...]:
    """Read how each port that has a row of the scheduler is served."""
    tables = _Tables(
        rows.by_field("conversation.class_queue", "profile"),
        rows.one_by_field("buffer.port_limit", "profile"),
        rows.by_field("buffer.stream_buffer", "profile"),
        rows.by_field("buffer.idle_stream", "profile"),
        rows.by_field("wred.thresholds", "profile"),
        rows.by_field("schedule.shaper", "profile"),
        rows.by_field("schedule.weight", "profile"),
        rows.by_field("schedule.sp_pifo.map_ranks", "profile"),
    )
    scheduled = rows.one_by_field("conversation.port_scheduler", "egress_port")
    return tuple(
        _port(port, entry, tables, ports, actions, shapers.get(port)) for port, entry in sorted(scheduled.items())
    )


def _port(
    port: int, entry: Entry, tables: _Tables, ports: Ports, actions: Actions, shaper: PortShaper | None
) -> Queueing:
    profile = entry.parameters["profile"]
    thresholds = tables.thresholds.get(profile, [])
    bounds = None if shaper is not None else port_rate(thresholds)
    shaped = None
    if shaper is not None:
        shaped = _shaper(entry, shaper.rate_bps, shaper.burst_bytes, shaper.overhead_bytes)
    known = shaped.rate if shaped is not None else None
    if bounds is not None:
        known = ports.rates[port] = rate(roundest(*bounds), RateBasis.ETHERNET)
    limits = tables.limits.get(profile)
    hold_queue = 0 if limits is None else limits.parameters["hold_queue_packets"]
    detection = None
    schedule: Schedule
    match entry.action:
        case "flow_wfq":
            schedule = _fair_queue(entry, limits, tables.weights.get(profile, []))
        case "class_wfq":
            schedule, needed = _classes(entry, tables, actions, known, bounds)
            if needed is not None and shaper is None:
                ports.rates[port] = needed
        case _:
            schedule = Fifo(kind="fifo")
    if entry.action != "class_wfq":
        detection = early_detection(thresholds)
    overhead = entry.parameters.get("overhead", 0)
    if overhead not in _BASES:
        raise NotAPolicyError(entry, f"no scheduler counts {overhead} bytes beside the frame")
    for row in tables.strict_queues.get(profile, []):
        _check_strict_queues(row, schedule)
    return Queueing(
        port=ports.name(port),
        schedule=schedule,
        hold_queue=hold_queue or None,
        push_out=limits is not None and limits.action == "set_limits_push_out",
        length_basis=_BASES[overhead],
        shaper=shaped,
        buffers=_buffers(tables.buffers.get(profile, []), tables.idle_streams.get(profile, []), actions),
        early_detection=detection,
    )


def _check_strict_queues(row: Entry, schedule: Schedule) -> None:
    """Check the number of queues, which follows from the schedule; whether ranks are mapped is the target's matter."""
    try:
        expected, _ = map_ranks(schedule, exact(row.match["profile"]))
    except InputError:
        expected = None
    if (
        not ranks_matter(schedule)
        or expected is None
        or (row.match, row.parameters) != (expected.match, expected.parameters)
    ):
        raise NotAPolicyError(row, "ranks are mapped onto other strict-priority queues than levels leave")


def _fair_queue(entry: Entry, limits: Entry | None, weights: list[Entry]) -> FairQueue:
    dialect, factor = _dialect(entry, weights)
    if factor != 1 or limits is None:
        raise NotAPolicyError(entry, "flows without a limit, or with the weights of those beside classes")
    return FairQueue(
        kind="fair-queue",
        dialect=dialect,
        congestive_discard_threshold=limits.parameters["conversation_packets"],
        dynamic_conversations=entry.parameters["conversations"],
    )


def _dialect(entry: Entry, weights: list[Entry]) -> tuple[Dialect, int]:
    """Find the version of IOS that has these weights, and the factor that they were multiplied with."""
    held = {exact(row.match["precedence"]): row.parameters["weight"] for row in weights}
    for dialect, weight in WEIGHTS.items():
        factor, rest = divmod(held.get(0, 0), weight(0))
        if factor and not rest and held == {each: factor * weight(each) for each in range(8)}:
            return dialect, factor
    raise NotAPolicyError(entry, f"no version of IOS gives flows the weights {held}")


def _classes(
    entry: Entry, tables: _Tables, actions: Actions, known: Rate | None, bounds: Bounds | None
) -> tuple[ClassBased, Rate | None]:
    profile = entry.parameters["profile"]
    found: dict[int, ClassQueue] = {}
    numbers: dict[int, int] = {}
    flows: Entry | None = None
    # Slots were handed out in the order of the file.
    held = sorted(
        tables.classes.get(profile, []), key=lambda row: row.parameters.get("slot", row.parameters.get("base", 0))
    )
    for row in held:
        number = row.parameters["traffic_class"]
        if row.action == "flows" and not row.parameters["shared"]:
            flows = row
        found[number] = _class_queue(row, tables, actions)
        if row.parameters["level"] == SHARED_LEVEL:
            numbers[number] = row.parameters["weight"]
    if 0 not in found:
        raise NotAPolicyError(entry, f"the port has no queue for '{DEFAULT_CLASS}'")
    if flows is None:
        sharing = [found[number] for number in numbers]
        try:
            said, needed = bandwidths(sharing, list(numbers.values()), known, bounds)
        except ValueError as error:
            raise NotAPolicyError(entry, str(error)) from None
    else:
        del numbers[0]
        sharing = [found[number] for number in numbers]
        _, factor = _dialect(flows, tables.weights.get(profile, []))
        conversations = flows.parameters["conversations"]
        said, needed = bandwidths_beside_flows(sharing, list(numbers.values()), factor, conversations, known)
    found |= dict(zip(numbers, said, strict=True))
    return ClassBased(kind="classes", queues=tuple(found.values())), needed


def _class_queue(row: Entry, tables: _Tables, actions: Actions) -> ClassQueue:
    values, profile = row.parameters, exact(row.match["profile"])
    number, level = values["traffic_class"], values["level"]
    own, shapers = (
        [each for each in held.get(profile, []) if exact(each.match["traffic_class"]) == number]
        for held in (tables.thresholds, tables.shapers)
    )
    flows = None
    if row.action == "flows":
        flows = FlowQueueing(
            dialect=Dialect.IOS_HQF if values["shared"] else Dialect.IOS_12,
            congestive_discard_threshold=values["threshold_packets"],
            dynamic_conversations=values["conversations"],
        )
    return ClassQueue(
        traffic_class=actions.traffic_class(number),
        level=None if level == SHARED_LEVEL else level,
        fair_queue=flows,
        queue_limit=values["limit_packets"] or None,
        early_detection=early_detection(own),
        shaper=_class_shaper(shapers[0]) if shapers else None,
    )


def _class_shaper(row: Entry) -> Shaper:
    values = row.parameters
    return _shaper(row, values["rate"], values["burst"], values["overhead"])


def _shaper(row: Entry, rate_bps: int, burst_bytes: int, overhead_bytes: int) -> Shaper:
    basis = _BASES.get(overhead_bytes % (1 << 32))
    if basis is None:
        raise NotAPolicyError(row, f"no shaper counts {overhead_bytes} bytes beside the frame")
    return Shaper(rate=rate(rate_bps, RateBasis(basis)), burst_bytes=burst_bytes or None)


def _buffers(rows: list[Entry], lent: list[Entry], actions: Actions) -> Buffers | None:
    if not rows:
        return None
    values = rows[-1].parameters
    private: dict[str, int] = {}
    # Accounts were handed out in the order of the file.
    for row in sorted(rows, key=lambda row: row.parameters["index"]):
        if "stream" not in row.match:
            continue
        name = actions.stream(row.match["stream"].value)  # type: ignore[union-attr]
        if name is None:
            raise NotAPolicyError(row, "no rule gives packets this stream")
        private[name] = row.parameters["private_bytes"]
    return Buffers(
        shared_bytes=values["shared_bytes"],
        holes=values["holes"],
        private=tuple(PrivateBuffer(action=name, bytes=size) for name, size in private.items()),
        idle_timeout_ms=_idle_timeout_ms(rows, lent),
    )


def _idle_timeout_ms(rows: list[Entry], lent: list[Entry]) -> int | None:
    """Give the time after which all private buffers of a port are lent."""
    if not lent:
        return None
    timeout_us = lent[0].parameters["timeout_us"]
    found = [tuple(row.parameters[name] for name in ("index", "private_bytes", "timeout_us")) for row in lent]
    own = [
        (row.parameters["index"], row.parameters["private_bytes"], timeout_us) for row in rows if "stream" in row.match
    ]
    if sorted(found) != sorted(own) or timeout_us % 1000:
        raise NotAPolicyError(lent[0], "not every private buffer is lent after the same milliseconds")
    return timeout_us // 1000
