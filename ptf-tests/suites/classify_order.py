"""Stage classify: which of several rules counts, exceptions, and behaviour aggregates (RFC 2475 section 2.3.1)."""

from __future__ import annotations

from collections.abc import Sequence

from phb_device import CONNECTED, Entry, entry
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case, Step, forwarded
from phb_ptf.entries import WIRES, rule
from phb_ptf.frames import tcp, udp


def excepted(priority: int, **match: object) -> list[Entry]:
    """Return entries for packets that a rule above `priority` excepts and no rule below takes."""
    return [
        entry(f"classify.multi_field_ipv{version}", match, "leave_unclassified", priority=priority)
        for version in (4, 6)
    ]


def aggregate(policy: int, priority: int = 10, **match: object) -> Entry:
    """Return a behaviour aggregate's entry."""
    return entry(
        "classify.behaviour_aggregate", match, "set_class", priority=priority, policy=policy, stream=0, traffic_class=0
    )


def _case(name: str, why: str, steps: Sequence[Step], policy: str, by_hand: ByHand) -> Case:
    return Case(name, why, steps, policy, by_hand, keeps=True)


cases(
    globals(),
    _case(
        "first_rule_counts",
        "a later rule is asked before an earlier one",
        [forwarded(udp(80), rule="wide"), forwarded(tcp(80), rule="ports"), forwarded(tcp(81))],
        CONNECTED
        + """
rules:
  - {name: wide, match: {protocol: udp}}
  - {name: ports, match: {destination-ports: 80}}
  - {name: never, match: {protocol: udp, destination-ports: 80}}
""",
        ByHand(
            [
                *WIRES,
                *rule(7, priority=30, protocol=17),
                *rule(8, priority=20, destination_port=(80, 80)),
                *rule(9, priority=10, protocol=17, destination_port=(80, 80)),
            ],
            policies={"wide": 7, "ports": 8, "never": 9},
        ),
    ),
    _case(
        "any_of_two_matches",
        "only the first of a rule's matches counts",
        [forwarded(udp(80), rule="either"), forwarded(tcp(22), rule="either"), forwarded(udp(22)), forwarded(tcp(80))],
        CONNECTED
        + """
rules:
  - name: either
    match: [{protocol: udp, destination-ports: 80}, {protocol: tcp, destination-ports: 22}]
""",
        ByHand(
            [
                *WIRES,
                *rule(7, protocol=17, destination_port=(80, 80)),
                *rule(7, protocol=6, destination_port=(22, 22)),
            ],
            policies={"either": 7},
        ),
    ),
    _case(
        "unless",
        "a packet that a rule excepts is taken by it, or lost to the rules below",
        [
            forwarded(udp(80), rule="most"),
            forwarded(udp(85), rule="rest"),
            forwarded(udp(90), rule="most"),
            forwarded(udp(91), rule="rest"),
        ],
        CONNECTED
        + """
rules:
  - {name: most, match: {protocol: udp, destination-ports: 80-90}, unless: {destination-ports: 85}}
  - {name: rest, match: {protocol: udp}}
""",
        ByHand(
            [
                *WIRES,
                *rule(8, priority=30, protocol=17, destination_port=(85, 85)),
                *rule(7, priority=20, protocol=17, destination_port=(80, 90)),
                *rule(8, priority=10, protocol=17),
            ],
            policies={"most": 7, "rest": 8},
        ),
    ),
    _case(
        "unless_without_a_rule_below",
        "a packet that every rule excepts is counted for one",
        [forwarded(udp(80), rule="most"), forwarded(udp(85)), forwarded(udp(85, version=6))],
        CONNECTED + "rules: [{name: most, match: {destination-ports: 80-90}, unless: {destination-ports: 85}}]\n",
        ByHand(
            [*WIRES, *excepted(20, destination_port=(85, 85)), *rule(7, priority=10, destination_port=(80, 90))],
            policies={"most": 7},
        ),
    ),
    _case(
        "unless_one_of_several",
        "only the first of a rule's exceptions counts",
        [
            forwarded(udp(80), rule="most"),
            forwarded(udp(81)),
            forwarded(udp(80, tos=0xB8)),
            forwarded(udp(82), rule="most"),
        ],
        CONNECTED + "rules: [{name: most, match: {protocol: udp}, unless: [{destination-ports: 81}, {dscp: EF}]}]\n",
        ByHand(
            [
                *WIRES,
                *excepted(20, destination_port=(81, 81)),
                *excepted(20, tos="0xb8/&0xfc"),
                *rule(7, priority=10, protocol=17),
            ],
            policies={"most": 7},
        ),
    ),
    _case(
        "aggregate_after_rules",
        "a behaviour aggregate takes a packet from a rule, or none of the others",
        [
            forwarded(udp(80, tos=0xB8), rule="web"),
            forwarded(udp(81, tos=0xB8), rule="ef"),
            forwarded(udp(81, tos=0xBA, version=6), rule="ef"),
            forwarded(udp(81)),
        ],
        CONNECTED
        + """
rules: [{name: web, match: {destination-ports: 80}}]
behaviour-aggregates: [{name: ef, dscp: EF}]
""",
        ByHand(
            [*WIRES, *rule(7, destination_port=(80, 80)), aggregate(8, tos="0xb8/&0xfc")],
            policies={"web": 7, "ef": 8},
        ),
    ),
    _case(
        "aggregate_of_excepted",
        "a packet that a rule excepts is no behaviour aggregate's either",
        [forwarded(udp(85, tos=0xB8), rule="ef"), forwarded(udp(80, tos=0xB8), rule="most")],
        CONNECTED
        + """
rules: [{name: most, match: {destination-ports: 80-90}, unless: {destination-ports: 85}}]
behaviour-aggregates: [{name: ef, dscp: EF}]
""",
        ByHand(
            [
                *WIRES,
                *excepted(20, destination_port=(85, 85)),
                *rule(7, priority=10, destination_port=(80, 90)),
                aggregate(8, tos="0xb8/&0xfc"),
            ],
            policies={"most": 7, "ef": 8},
        ),
    ),
    _case(
        "aggregates_by_precedence",
        "a precedence takes code points of another one",
        [forwarded(udp(tos=0xBF), rule="five"), forwarded(udp(tos=0xC0), rule="six"), forwarded(udp(tos=0x9F))],
        CONNECTED + "behaviour-aggregates: [{name: five, precedence: 5}, {name: six, precedence: 6}]\n",
        ByHand(
            [*WIRES, aggregate(7, tos="0xa0/&0xe0"), aggregate(8, tos="0xc0/&0xe0")],
            policies={"five": 7, "six": 8},
        ),
    ),
    _case(
        "aggregate_of_one_port",
        "a behaviour aggregate of a port takes packets of others",
        [forwarded(udp(tos=0xB8), rule="ef"), forwarded(udp(tos=0xB8), at=1, to=2)],
        CONNECTED + "behaviour-aggregates: [{name: ef, dscp: EF, ingress-port: lan}]\n",
        ByHand([*WIRES, aggregate(7, tos="0xb8/&0xfc", ingress_port=2)], policies={"ef": 7}),
    ),
    _case(
        "aggregate_of_pcp",
        "a behaviour aggregate by 802.1p priority takes untagged frames, or other priorities",
        [forwarded(udp(tag=5), rule="five"), forwarded(udp(tag=4)), forwarded(udp())],
        CONNECTED + "behaviour-aggregates: [{name: five, pcp: 5}]\n",
        ByHand([*WIRES, aggregate(7, tagged=1, pcp="5/&7")], policies={"five": 7}),
    ),
)
