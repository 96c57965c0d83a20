"""Stages classify and output: a packet's policy, stream and class, and whether the policy blocks it."""

from __future__ import annotations

from phb.compiler.matching import HEADER
from phb.explain.packet import TracedPacket
from phb.explain.tables import Tables
from phb.intent import Entry
from phb.names import Names
from phb.pipeline_names import DropReason

INPUT, OUTPUT = "classify", "output"
TAKES = "set_class"
_PERMISSION = {INPUT: "admit", OUTPUT: "output"}


def table(hook: str, packet: TracedPacket) -> str:
    """Give the multi-field table of the packet's IP version; empty if it is no IP packet."""
    version = packet.headers.ip_version
    return f"PhbIngress.{hook}.multi_field_ipv{version}" if version is not None else ""


def key(hook: str, packet: TracedPacket) -> dict[str, int]:
    """Give the packet's values for the match fields of the hook's tables."""
    source, destination = packet.headers.addresses
    flow, asked = packet.flow, packet.flags_or_type
    ports = {"ingress_port": packet.ingress_port}
    if hook == OUTPUT:
        assert packet.egress_port is not None
        ports |= {"egress_port": packet.egress_port, "qos_group": flow.qos_group}
    return {
        **ports,
        "source": source,
        "destination": destination,
        "protocol": flow.protocol,
        "source_port": flow.source_port,
        "destination_port": flow.destination_port,
        "tos": flow.tos,
        "tagged": int(packet.headers.vlan is not None),
        "pcp": flow.pcp,
        "vlan": flow.vlan,
        "flags_or_type": 0 if asked is None else HEADER | asked,
    }


def classify(hook: str, packet: TracedPacket, tables: Tables, names: Names) -> None:
    """Give the packet its policy, stream and class; drop it where the policy blocks it."""
    asked = key(hook, packet)
    multi_field, aggregates = table(hook, packet), f"PhbIngress.{hook}.behaviour_aggregate"
    if hook == OUTPUT and not (tables.entries(multi_field) or tables.entries(aggregates)):
        return
    entry = tables.lookup(multi_field, asked)
    # An exception that no later rule takes has an entry without a policy.
    what = "rule"
    if entry is None or entry.action != TAKES:
        entry, what = tables.lookup(aggregates, asked), "behaviour aggregate"
    if entry is None:
        packet.say(hook, "no rule takes the packet")
        return
    _take(hook, packet, entry)
    policy = entry.parameters["policy"]
    packet.say(hook, f"{what} {names.policy(policy)}: class {names.traffic_class(packet.traffic_class)}", entry.origin)
    permission = tables.lookup(f"PhbIngress.{_PERMISSION[hook]}.permission", {"policy": policy})
    if permission is not None and permission.action == "block":
        stage = _PERMISSION[hook]
        packet.drop(stage, DropReason.BLOCKED, "the rule blocks it", permission.origin)


def _take(hook: str, packet: TracedPacket, entry: Entry) -> None:
    if hook == INPUT:
        packet.policy, packet.input_entry = entry.parameters["policy"], entry
    else:
        packet.output_policy, packet.output_entry = entry.parameters["policy"], entry
    packet.stream = entry.parameters["stream"]
    packet.traffic_class = entry.parameters["traffic_class"]
