"""Frames of the controller's and frames for it: packet-out and packet-in (P4Runtime 16.1; RFC 1812 section 4.3.3)."""

from __future__ import annotations

from scapy.layers.l2 import ARP

from phb.pipeline_names import DropReason
from phb_device import CONNECTED, NODE, Entry, entry
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case, PacketOut, Step, dropped, forwarded, told
from phb_ptf.entries import WIRES, rule
from phb_ptf.frames import frame, tcp, udp

TTL_EXPIRED, NO_ROUTE = 1, 2
TO_CONTROLLER = [entry("forward.exception", {"code": code}, "to_controller") for code in (TTL_EXPIRED, NO_ROUTE)]
MACS = ("02:00:00:00:01:01", "02:00:00:00:02:01")
ROUTES = (
    NODE
    + f"""routes:
  - {{destination: 10.0.2.0/24, port: 1, source-mac: "{MACS[0]}", destination-mac: "{MACS[1]}"}}
  - {{destination: 10.9.0.0/16, discard: true}}
"""
)
ROUTES_BY_HAND: list[Entry] = [
    entry("forward.ipv4_route", {"destination": "10.0.2.0/24"}, "route", port=1,
          source_mac=0x020000000101, destination_mac=0x020000000201),
    entry("forward.ipv4_route", {"destination": "10.9.0.0/16"}, "discard"),
]  # fmt: skip
RULES = NODE + "actions: [{name: ef, set-dscp: EF}]\nrules: [{name: all, actions: [ef]}]\n"
EF = entry("mark.remark", {"policy": 7}, "set_tos", value=0xB8, mask=0xFC)


def out(name: str, why: str, *steps: PacketOut) -> Case:
    """Make a case of packet-outs, with a policy that takes, and would mark, all that arrives."""
    return Case(name, why, steps, RULES, ByHand([*rule(7), EF], policies={"all": 7}), keeps=True)


CHANGED = "the controller's frame doesn't leave as it is by the port it names"

cases(
    globals(),
    *(out(f"out_of_port_{port}", CHANGED, PacketOut(port, udp())) for port in (1, 2, 3, 4)),
    out("out_in_a_row", "frames of the controller's change places or get lost",
        *(PacketOut(3, udp(port)) for port in range(20))),
    out("out_expired", "the controller's frame counts as forwarded: its time to live is looked at",
        PacketOut(1, udp(ttl=0))),
    out("out_ipv6", CHANGED, PacketOut(1, udp(version=6))),
    out("out_tcp", CHANGED, PacketOut(1, tcp(80, "S", options=[("MSS", 1460)]))),
    out("out_tagged", CHANGED, PacketOut(1, udp(tag=5))),
    out("out_arp", CHANGED, PacketOut(1, frame(ARP(pdst="10.0.2.1"), size=60))),
    out("out_jumbo", CHANGED, PacketOut(1, udp(size=9014))),
    out("out_cut", CHANGED, PacketOut(1, udp()[:30]), PacketOut(2, udp()[:14])),
    Case(
        "out_through_output_policy",
        "the policy of the port doesn't see the controller's frames, or another port's does",
        [PacketOut(1, udp(), udp(tos=0xB8), output_rule="out"), PacketOut(2, udp())],
        NODE + "actions: [{name: ef, set-dscp: EF}]\nrules: [{name: out, match: {egress-port: line}, actions: [ef]}]\n",
        ByHand(
            [*rule(7, stage="output", egress_port=1),
             entry("output_mark.remark", {"policy": 7}, "set_tos", value=0xB8, mask=0xFC)],
            policies={"out": 7},
        ),
    ),
    Case(
        "out_blocked_by_output_policy",
        "what the policy of the port blocks leaves if the controller sends it",
        [PacketOut(1, udp(), drop=DropReason.BLOCKED, output_rule="out"), PacketOut(1, udp(81))],
        NODE + "rules: [{name: out, match: {egress-port: line, destination-ports: 80}, permission: blocked}]\n",
        ByHand(
            [*rule(7, stage="output", egress_port=1, destination_port=(80, 80)),
             entry("output.permission", {"policy": 7}, "block")],
            policies={"out": 7},
        ),
    ),
)  # fmt: skip


def in_(name: str, why: str, *steps: Step) -> Case:
    """Make a case of a router whose controller gets packets that it can't forward."""
    return Case(name, why, steps, ROUTES, ByHand(ROUTES_BY_HAND), also=TO_CONTROLLER)


NOT_TOLD = "the controller doesn't get what a router must tell about, or not as it came"

cases(
    globals(),
    in_("in_expired", NOT_TOLD, told(udp(ttl=1), TTL_EXPIRED), told(udp(ttl=0), TTL_EXPIRED)),
    in_("in_no_route", NOT_TOLD, told(udp(dst="192.0.2.1"), NO_ROUTE)),
    in_("in_ipv6_expired", NOT_TOLD, told(udp(version=6, ttl=1), TTL_EXPIRED)),
    in_("in_ipv6_no_route", NOT_TOLD, told(udp(version=6), NO_ROUTE)),
    in_("in_names_its_port", "the controller is told of another port than where the frame arrived",
        *(told(udp(port, ttl=1), TTL_EXPIRED, at=port) for port in (1, 2, 3, 4))),
    in_("in_tagged", NOT_TOLD, told(udp(ttl=1, tag=3), TTL_EXPIRED)),
    in_("in_jumbo", NOT_TOLD, told(udp(ttl=1, size=9014), TTL_EXPIRED)),
    in_("routed_is_not_told", "the controller gets what is forwarded",
        forwarded(udp(), udp(ttl=63, macs=MACS)), told(udp(ttl=1), TTL_EXPIRED)),
    in_("discarded_is_not_told", "the controller gets what a route to nowhere drops",
        dropped(udp(dst="10.9.0.1"), DropReason.DISCARD_ROUTE), told(udp(ttl=1), TTL_EXPIRED)),
    Case(
        "in_only_where_asked",
        "the controller gets what it has no entry for",
        [told(udp(ttl=1), TTL_EXPIRED), dropped(udp(dst="192.0.2.1"), DropReason.NO_ROUTE)],
        ROUTES,
        ByHand(ROUTES_BY_HAND),
        also=TO_CONTROLLER[:1],
    ),
    Case(
        "in_marked",
        "the controller gets a frame other than the policy makes it, or the rule doesn't count it",
        [told(udp(ttl=1), TTL_EXPIRED, udp(ttl=1, tos=0xB8), rule="all")],
        ROUTES + "actions: [{name: ef, set-dscp: EF}]\nrules: [{name: all, actions: [ef]}]\n",
        ByHand([*ROUTES_BY_HAND, *rule(7), EF], policies={"all": 7}),
        also=TO_CONTROLLER,
    ),
    Case(
        "in_blocked",
        "the controller gets what a rule blocks",
        [dropped(udp(ttl=1), DropReason.BLOCKED, rule="all"), PacketOut(1, udp(81))],
        ROUTES + "rules: [{name: all, permission: blocked}]\n",
        ByHand([*ROUTES_BY_HAND, *rule(7), entry("admit.permission", {"policy": 7}, "block")], policies={"all": 7}),
        also=TO_CONTROLLER,
    ),
    Case(
        "wire_tells_nothing",
        "the controller gets what passes on a wire",
        [forwarded(udp(ttl=0)), PacketOut(1, udp(81))],
        CONNECTED,
        ByHand(WIRES),
        also=TO_CONTROLLER,
    ),
)  # fmt: skip
