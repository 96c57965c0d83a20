"""A model of the pipeline that explains what becomes of packets: nothing is sent, no switch is asked.

    arrival < notation, captures      where packets come from
    headers < packet, tables, state < stages < line < pipeline      the model
    pipeline, promises < explanation < summary      the results

The model works on compiled entries, so it explains the effect of a push, not what a file seems to say.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta

from phb.compiler import compile_policy
from phb.device.artifact import Artifact
from phb.errors import InputError
from phb.explain.arrival import Arrival
from phb.explain.captures import read_capture
from phb.explain.explanation import Explanation, as_json, explanation
from phb.explain.line import LineRate
from phb.explain.notation import parse_packet
from phb.explain.packet import TracedPacket
from phb.explain.pipeline import Pipeline
from phb.explain.promises import Promises
from phb.explain.rates import parse_rates
from phb.explain.summary import Summary, Tally
from phb.explain.tables import Tables
from phb.intent import Notice
from phb.model import LAST_PORT, PolicySet
from phb.names import Names
from phb.targets import DEFAULT_TARGET
from phb.validity import next_change

__all__ = [
    "Arrival",
    "Explanation",
    "LineRate",
    "Summary",
    "Tally",
    "as_json",
    "explain",
    "ingress_port",
    "parse_packet",
    "parse_rates",
    "read_capture",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PATIENCE = 4096  # packets held back until the scheduler has taken them, so that their delay is known


def explain(
    policy: PolicySet,
    artifact: Artifact,
    arrivals: Iterable[Arrival],
    *,
    at: datetime,
    follow_clock: bool = False,
    default_port: str | int | None = None,
    rates: Mapping[int, LineRate] | None = None,
    why: bool = False,
    beyond: list[Notice] | None = None,
    target: str = DEFAULT_TARGET,
) -> Iterator[Explanation]:
    """Explain packets one after another.

    Args:
        policy: Everything the files say about one node.
        artifact: The program that the switch runs.
        arrivals: Packets, in the order of their times.
        at: The moment at which validity of rules is judged.
        follow_clock: Judge it at each packet's own time instead: for captures.
        default_port: The port of packets that name none.
        rates: Rates of ports, by number, instead of their shapers; ports with neither never queue.
        why: Also tell which rules nearly took each packet.
        beyond: Gets, before the first packet, the compiler's warnings and the effects that the model lacks.
        target: The kind of switch, a name of `phb.targets`.

    Raises:
        InputError: The policy doesn't compile, a packet names a port that isn't there, or times run backwards.
    """
    intent = compile_policy(policy, artifact, at=at, target=target)
    shaped = {shaper.port: LineRate(shaper.rate_bps, shaper.overhead_bytes) for shaper in intent.shapers}
    pipeline = Pipeline(intent, Names.of(intent, policy), shaped | dict(rates or {}))
    if beyond is not None:
        beyond += (*intent.notices, *pipeline.beyond)
    promises = Promises(policy)
    until: int | None = 0 if follow_clock else None  # when other rules count, in nanoseconds
    waiting: deque[tuple[int, TracedPacket, Names, Tables]] = deque()
    previous: int | None = None
    for number, arrival in enumerate(arrivals, start=1):
        if previous is not None and arrival.time_ns < previous:
            expected = "packets in the order of their times (reordercap sorts a capture)"
            raise InputError(arrival.origin, "a packet that is earlier than the one before", expected)
        previous = arrival.time_ns
        if until is not None and arrival.time_ns >= until:
            moment = _EPOCH + timedelta(microseconds=arrival.time_ns // 1000)
            intent = compile_policy(policy, artifact, at=moment, target=target)
            pipeline.replace(intent, Names.of(intent, policy))
            change = next_change(policy.rules, moment, policy.time_zone)
            until = None if change is None else (change - _EPOCH) // timedelta(microseconds=1) * 1000
        port = ingress_port(policy, arrival, default_port)
        packet = pipeline.process(arrival.time_ns, port, arrival.frame, arrival.length)
        # With the entries and names that it met: a push may replace them while it waits.
        waiting.append((number, packet, pipeline.names, pipeline.tables))
        while waiting and (_is_settled(waiting[0][1]) or len(waiting) > _PATIENCE):
            yield explanation(*waiting.popleft(), promises, why=why)
    pipeline.finish()
    for each in waiting:
        yield explanation(*each, promises, why=why)


def _is_settled(packet: TracedPacket) -> bool:
    return packet.is_dropped() or packet.to_controller or packet.taken_ns is not None


def ingress_port(policy: PolicySet, arrival: Arrival, default: str | int | None) -> int:
    """Give the number of the port at which a packet arrives; `default` is that of packets that name none.

    Raises:
        InputError: Neither the packet nor the option names a port of the policy, and it has several.
    """
    for reference in (arrival.port, default):
        if reference is None:
            continue
        if isinstance(reference, int) and 0 <= reference <= LAST_PORT:
            return reference
        port = policy.find_port(reference)
        if port is not None and port.number is not None:
            return port.number
        # A capture names interfaces of another machine; the option says which port is meant.
        if reference is default or default is None:
            known = ", ".join(f"'{port.name}'" for port in policy.ports if port.number is not None)
            raise InputError(arrival.origin, f"port '{reference}'", f"a port's number or one of {known or 'no names'}")
    if len(policy.ports) == 1 and policy.ports[0].number is not None:
        return policy.ports[0].number
    raise InputError(arrival.origin, "a packet without an ingress port", "'in PORT' in the packet, or --port PORT")
