"""Versions of policies, and the policy of the egress port, entry by entry."""

import pytest

import phb_p4
from phb.pipeline_names import COLOURS_PER_POLICY, REASONS_PER_POLICY, DropReason
from phb_switch import PortConfig, Switch
from phb_switch._native import Match, Update

from .conftest import datagram

IN, OUT = 2, 1


def number(value):
    return value.to_bytes(8, "big")


def rule(stage, policy, matches, priority=1):
    parameters = [("policy", number(policy)), ("stream", number(0)), ("traffic_class", number(0))]
    table = f"PhbIngress.{stage}.multi_field_ipv4"
    return Update.insert(table, matches, priority, f"PhbIngress.{stage}.set_class", parameters)


def set_version(version):
    parameters = [("version", number(version)), ("track_connections", number(0))]
    return Update.default_action("PhbIngress.version.active", "PhbIngress.version.set_version", parameters)


@pytest.fixture
def switch():
    switch = Switch("dut", {IN: PortConfig(), OUT: PortConfig()})
    switch.load(phb_p4.artifact_path().read_text())
    wire = [("port", number(OUT))]
    table = "PhbIngress.forward.cross_connect"
    ingress = [("ingress_port", Match.exact(number(IN)))]
    write(switch, Update.insert(table, ingress, 0, "PhbIngress.forward.connect", wire))
    return switch


def write(switch, *updates):
    assert switch.write(updates, True) == [(0, "")] * len(updates)


def seen(switch, frame):
    """The policies that count the packet."""
    before = switch.read_counter("PhbIngress.policy_traffic", 0, 40)
    switch.process(IN, frame, 0)
    after = switch.read_counter("PhbIngress.policy_traffic", 0, 40)
    return [index // COLOURS_PER_POLICY for index in range(40) if before[index] != after[index]]


def test_one_write_puts_the_other_version_into_force(switch):
    write(
        switch,
        rule("classify", 1, [("version", Match.ternary(b"\0", b"\1"))]),
        rule("classify", 2, [("version", Match.ternary(b"\1", b"\1"))], priority=2),
    )
    assert seen(switch, datagram(0)) == [1]
    write(switch, set_version(1))
    assert seen(switch, datagram(0)) == [2]


def test_entries_without_a_version_are_of_both(switch):
    write(switch, rule("classify", 3, []))
    assert seen(switch, datagram(0)) == [3]
    write(switch, set_version(1))
    assert seen(switch, datagram(0)) == [3]


def test_the_policy_of_the_egress_port_counts_beside_the_input_policy(switch):
    egress = [("egress_port", Match.optional(number(OUT)))]
    write(switch, rule("classify", 1, []), rule("output", 2, egress), rule("output", 3, [], priority=9))
    assert seen(switch, datagram(0)) == [1, 3]
    table = "PhbIngress.output.multi_field_ipv4"
    write(switch, Update.delete(table, [], 9))
    assert seen(switch, datagram(0)) == [1, 2]


def test_the_policy_of_the_egress_port_sees_packets_as_the_input_policy_marked_them(switch):
    remark = [("value", b"\xb8"), ("mask", b"\xfc")]
    write(
        switch,
        rule("classify", 1, []),
        Update.insert(
            "PhbIngress.mark.remark", [("policy", Match.exact(number(1)))], 0, "PhbIngress.mark.set_tos", remark
        ),
        rule("output", 2, [("tos", Match.ternary(b"\xb8", b"\xff"))]),
        rule("output", 3, [("tos", Match.ternary(b"\x00", b"\xff"))], priority=2),
    )
    assert seen(switch, datagram(0)) == [1, 2]


def test_a_drop_counts_once_in_all_and_once_for_each_policy(switch):
    hold_queue = [("hold_queue_packets", number(1)), ("conversation_packets", number(0))]
    limit = [("profile", Match.exact(number(0)))]
    write(
        switch,
        rule("classify", 1, []),
        rule("output", 2, []),
        Update.insert("PhbIngress.buffer.port_limit", limit, 0, "PhbIngress.buffer.set_limits", hold_queue),
        Update.register("port_occupancy", OUT, b"\1"),
    )
    assert switch.process(IN, datagram(0), 0) == []
    reason = DropReason.HOLD_QUEUE
    assert switch.read_counter("PhbIngress.drops", reason, 1) == [(1, 142)]
    cells = switch.read_counter("PhbIngress.policy_drops", 0, 3 * REASONS_PER_POLICY)
    counted = [index for index, cell in enumerate(cells) if cell[0]]
    assert counted == [REASONS_PER_POLICY + reason, 2 * REASONS_PER_POLICY + reason]
