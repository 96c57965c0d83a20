"""Stage classify, for both hooks: which policy, stream and class a packet belongs to."""

from __future__ import annotations

from phb.explain.packet import Packet
from phb.explain.tables import Tables
from phb.intent import Entry
from phb.names import Names

INPUT, OUTPUT = "classify", "output"
_PORT = {INPUT: "ingress_port", OUTPUT: "egress_port"}


def table(hook: str, packet: Packet) -> str:
    """The multi-field table that is asked for this packet; empty if it is no IP packet."""
    version = packet.headers.ip_version
    return f"PhbIngress.{hook}.multi_field_ipv{version}" if version is not None else ""


def key(hook: str, packet: Packet) -> dict[str, int]:
    """What the tables of the hook are asked with."""
    source, destination = packet.headers.addresses
    flow = packet.flow
    port = packet.ingress_port if hook == INPUT else packet.egress_port
    assert port is not None
    return {
        _PORT[hook]: port,
        "source": source,
        "destination": destination,
        "protocol": flow.protocol,
        "source_port": flow.source_port,
        "destination_port": flow.destination_port,
        "tos": flow.tos,
        "tagged": int(packet.headers.vlan is not None),
        "pcp": flow.pcp,
    }


def classify(hook: str, packet: Packet, tables: Tables, names: Names) -> None:
    """Give the packet its policy, stream and class."""
    asked = key(hook, packet)
    entry = tables.lookup(table(hook, packet), asked)
    aggregate = entry is None
    if entry is None:
        entry = tables.lookup(f"PhbIngress.{hook}.behaviour_aggregate", asked)
    if hook == OUTPUT and not (
        tables.entries(table(hook, packet)) or tables.entries("PhbIngress.output.behaviour_aggregate")
    ):
        return
    if entry is None:
        packet.say(hook, "no rule takes the packet")
        return
    _take(hook, packet, entry)
    what = "behaviour aggregate" if aggregate else "rule"
    policy = entry.parameters["policy"]
    packet.say(hook, f"{what} {names.policy(policy)}: class {names.traffic_class(packet.traffic_class)}", entry.origin)


def _take(hook: str, packet: Packet, entry: Entry) -> None:
    if hook == INPUT:
        packet.policy, packet.input_entry = entry.parameters["policy"], entry
    else:
        packet.output_policy, packet.output_entry = entry.parameters["policy"], entry
    packet.stream = entry.parameters["stream"]
    packet.traffic_class = entry.parameters["traffic_class"]
