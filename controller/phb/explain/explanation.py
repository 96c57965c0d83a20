"""An explanation of one packet: every decision, with names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from phb.explain.packet import Discipline, StageDecision, TracedPacket
from phb.explain.promises import Promise, Promises
from phb.explain.stages import classify
from phb.explain.tables import Tables
from phb.explain.words import dscp_name, field_words
from phb.intent import Entry
from phb.names import Names
from phb.origin import Origin
from phb.pipeline_names import COLOURS

NEAR_MISSES = 3


@dataclass(frozen=True, slots=True)
class DecidingRule:
    """The rule that took the packet at one hook, with its direction, and the match fields that it asks for."""

    name: str
    origin: Origin
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NearRule:
    """An earlier rule, and the fields of the packet that didn't match, in words."""

    name: str
    origin: Origin
    fields: tuple[str, ...]
    wanted: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """One packet's way.

    Attributes:
        number: From 1.
        queueing_ns: Its wait in the scheduler; None if that lasted until the end of input, or the packet was dropped.
        promises: What service it is to get.
        decided_by: The last stage that decided something; for a dropped packet, the one that dropped it.
    """

    number: int
    time_ns: int
    ingress_port: str
    endpoints: str
    length: int
    input: DecidingRule | None
    output: DecidingRule | None
    near: tuple[NearRule, ...]
    stream: int
    colour: str
    tokens: dict[str, tuple[float, float]]
    traffic_class: str
    tos_before: int
    tos_after: int
    egress_port: str | None
    queue: str | None
    level: int
    weight: int
    finish: int
    rank: int
    depth: int
    queueing_ns: int | None
    early_drop: float
    drop_reason: str | None
    decided_by: str
    steps: tuple[StageDecision, ...]
    promises: tuple[Promise, ...] = ()

    @property
    def outcome(self) -> str:
        """Where the packet goes, or why it doesn't."""
        if self.drop_reason is not None:
            return f"dropped: {self.drop_reason}"
        return f"to {self.egress_port}"


def explanation(
    number: int, packet: TracedPacket, names: Names, tables: Tables, promises: Promises, *, why: bool
) -> Explanation:
    """Explain a packet that the pipeline has processed; `names` and `tables` are those that it met.

    With `why` also list the rules that nearly took it.
    """
    plan = packet.schedule
    egress = "the controller" if packet.to_controller else None
    if packet.egress_port is not None:
        egress = names.port(packet.egress_port)
    return Explanation(
        number=number,
        time_ns=packet.time_ns,
        ingress_port=names.port(packet.ingress_port),
        endpoints=packet.endpoints,
        length=packet.length,
        input=_rule(packet.input_entry, names),
        output=_rule(packet.output_entry, names),
        near=tuple(_near(packet, names, tables)) if why else (),
        stream=packet.stream,
        colour=COLOURS[packet.colour],
        tokens=packet.tokens,
        traffic_class=names.traffic_class(packet.traffic_class),
        tos_before=packet.tos_before,
        tos_after=packet.flow.tos,
        egress_port=egress,
        queue=_queue(packet, names) if packet.egress_port is not None else None,
        level=plan.level,
        weight=plan.weight,
        finish=plan.finish,
        rank=plan.rank,
        depth=packet.depth,
        queueing_ns=None if packet.taken_ns is None else packet.taken_ns - packet.time_ns,
        early_drop=packet.early_drop,
        drop_reason=packet.drop_reason.name.lower().replace("_", " ") if packet.is_dropped() else None,
        decided_by=packet.steps[-1].stage if packet.steps else "classify",
        steps=tuple(packet.steps),
        promises=promises.of(packet, names),
    )


def _rule(entry: Entry | None, names: Names) -> DecidingRule | None:
    if entry is None:
        return None
    return DecidingRule(names.policy(entry.parameters["policy"]), entry.origin, tuple(entry.match))


def _near(packet: TracedPacket, names: Names, tables: Tables) -> list[NearRule]:
    found = []
    for hook, hit in ((classify.INPUT, packet.input_entry), (classify.OUTPUT, packet.output_entry)):
        if hook == classify.OUTPUT and packet.egress_port is None:
            continue
        asked = classify.key(hook, packet)
        table = classify.table(hook, packet)
        for miss in tables.near_misses(table, asked, hit, NEAR_MISSES):
            if miss.entry.action != classify.TAKES:
                continue
            name = names.policy(miss.entry.parameters["policy"])
            wanted = tuple(field_words(field, miss.entry.match[field], asked[field]) for field in miss.fields)
            found.append(NearRule(name, miss.entry.origin, miss.fields, wanted))
    return found


def _queue(packet: TracedPacket, names: Names) -> str:
    plan = packet.schedule
    if plan.discipline is Discipline.FIFO:
        return "fifo"
    conversation = f" conversation {plan.conversation}" if plan.conversation is not None else ""
    return f"{plan.discipline.value}{conversation}"


def as_json(told: Explanation) -> dict[str, Any]:
    """Give an explanation as JSON."""
    return {
        "packet": told.number,
        "time_ns": told.time_ns,
        "ingress_port": told.ingress_port,
        "endpoints": told.endpoints,
        "length": told.length,
        "input_rule": _rule_as_json(told.input) if told.input is not None else None,
        "output_rule": _rule_as_json(told.output) if told.output is not None else None,
        "near_misses": [{**_rule_as_json(near), "wanted": list(near.wanted)} for near in told.near],
        "stream": told.stream,
        "colour": told.colour,
        "tokens": {name: {"before": before, "after": after} for name, (before, after) in told.tokens.items()},
        "class": told.traffic_class,
        "tos": {"before": told.tos_before, "after": told.tos_after},
        "dscp": {"before": dscp_name(told.tos_before), "after": dscp_name(told.tos_after)},
        "egress_port": told.egress_port,
        "queue": told.queue,
        "level": told.level,
        "weight": told.weight,
        "finish": told.finish,
        "rank": told.rank,
        "depth": told.depth,
        "queueing_ns": told.queueing_ns,
        "early_drop_probability": told.early_drop,
        "drop_reason": told.drop_reason,
        "decided_by": told.decided_by,
        "steps": [
            {"stage": step.stage, "words": step.words, "file": step.origin.file, "line": step.origin.line}
            if step.origin.line
            else {"stage": step.stage, "words": step.words}
            for step in told.steps
        ],
        "objectives": [promise.as_json() for promise in told.promises],
    }


def _rule_as_json(rule: DecidingRule | NearRule) -> dict[str, Any]:
    return {
        "rule": rule.name,
        "file": rule.origin.file,
        "line": rule.origin.line,
        "fields": list(rule.fields),
    }
