"""Stage mark: code points, precedence, ToS and 802.1p priority under masks (RFC 2474, RFC 3168, IEEE 802.1Q)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scapy.layers.inet import IPOption_Router_Alert

from phb_device import CONNECTED, Entry, entry
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case, Step, forwarded
from phb_ptf.entries import WIRES, rule
from phb_ptf.frames import frame, tcp, udp


def tos(value: int, mask: int, policy: int = 7, stage: str = "mark") -> Entry:
    """Return an entry that sets bits of the ToS octet."""
    return entry(f"{stage}.remark", {"policy": policy}, "set_tos", value=value, mask=mask)


def pcp(value: int, mask: int = 7, policy: int = 7, stage: str = "mark") -> Entry:
    """Return an entry that sets bits of the 802.1p priority."""
    return entry(f"{stage}.remark", {"policy": policy}, "set_pcp", value=value, mask=mask)


def marks(name: str, why: str, action: str, by_hand: Entry, steps: Sequence[Step]) -> Case:
    """Make a case in which one action marks every packet."""
    policy = f"{CONNECTED}actions: [{{name: a, {action}}}]\nrules: [{{name: all, actions: [a]}}]\n"
    return Case(name, why, steps, policy, ByHand([*WIRES, *rule(7), by_hand], policies={"all": 7}), keeps=True)


def tos_becomes(*pairs: tuple[int, int], **fields: Any) -> list[Step]:
    """Return datagrams with a ToS octet before and after, over IPv4 and IPv6; the checksum is the new header's."""
    return [
        forwarded(udp(version=version, tos=before, **fields), udp(version=version, tos=after, **fields), rule="all")
        for version in (4, 6)
        for before, after in pairs
    ]


def pcp_becomes(*pairs: tuple[int, int]) -> list[Step]:
    """Return tagged datagrams with a priority before and after."""
    return [forwarded(udp(tag=before), udp(tag=after), rule="all") for before, after in pairs]


ROUTER_ALERT = [IPOption_Router_Alert()]
ECN = "a DSCP remark changes the ECN field, or leaves bits of the old code point"
UNDER_MASK = "bits outside the mask change, or bits inside it don't"

cases(
    globals(),
    marks("dscp", ECN, "set-dscp: EF",
          tos(0xB8, 0xFC), tos_becomes((0x00, 0xB8), (0xFF, 0xBB), (0x01, 0xB9), (0xB8, 0xB8))),
    marks("dscp_0", ECN, "set-dscp: CS0", tos(0, 0xFC), tos_becomes((0xFF, 0x03), (0xB8, 0x00))),
    marks("dscp_63", ECN, "set-dscp: 63", tos(0xFC, 0xFC), tos_becomes((0x00, 0xFC), (0x02, 0xFE))),
    marks("precedence", "a precedence changes the other bits", "set-precedence: 5", tos(0xA0, 0xE0),
          tos_becomes((0x00, 0xA0), (0xFF, 0xBF), (0x5C, 0xBC))),
    marks("precedence_0", "a precedence changes the other bits", "set-precedence: 0", tos(0, 0xE0),
          tos_becomes((0xFF, 0x1F), (0xE0, 0x00))),
    marks("whole_tos", "a ToS leaves bits of the old one", "set-tos: 0x5a",
          tos(0x5A, 0xFF), tos_becomes((0x00, 0x5A), (0xFF, 0x5A))),
    marks("tos_under_mask", UNDER_MASK, "set-tos: {value: 0x10, mask: 0x1e}", tos(0x10, 0x1E),
          tos_becomes((0x00, 0x10), (0xFF, 0xF1), (0x0E, 0x10))),
    marks("one_bit", UNDER_MASK, "set-tos: {value: 1, mask: 1}",
          tos(1, 1), tos_becomes((0x00, 0x01), (0xFE, 0xFF), (0xFF, 0xFF))),
    marks("pcp", "an 802.1p priority isn't set", "set-pcp: 6", pcp(6), pcp_becomes((0, 6), (7, 6), (1, 6))),
    marks("pcp_0", "an 802.1p priority isn't set to 0", "set-pcp: 0", pcp(0), pcp_becomes((7, 0), (0, 0))),
    marks("pcp_under_mask", UNDER_MASK, "set-pcp: {value: 4, mask: 4}", pcp(4, 4), pcp_becomes((0, 4), (3, 7), (5, 5))),
    marks("pcp_without_tag", "a frame without a tag gets one, or is changed elsewhere", "set-pcp: 6", pcp(6),
          [forwarded(udp(tos=0xB8), rule="all"), forwarded(udp(version=6), rule="all")]),
    marks("dscp_and_pcp", "of two marks one gets lost", "set-dscp: AF21, set-pcp: {value: 2, mask: 3}",
          entry("mark.remark", {"policy": 7}, "set_tos_and_pcp", value=0x48, mask=0xFC, pcp_value=2, pcp_mask=3),
          [forwarded(udp(tos=0xFD, tag=5), udp(tos=0x49, tag=6), rule="all"),
           forwarded(udp(), udp(tos=0x48), rule="all")]),
    marks("tagged_tos", "behind a tag the ToS octet isn't marked", "set-dscp: EF", tos(0xB8, 0xFC),
          tos_becomes((0x00, 0xB8), tag=3)),
    marks("tcp", "marking changes a segment's own checksum, which doesn't cover the octet", "set-dscp: EF",
          tos(0xB8, 0xFC),
          [forwarded(tcp(tos=0, size=200), tcp(tos=0xB8, size=200), rule="all")]),
    marks("fragments", "later fragments are left unmarked", "set-dscp: EF", tos(0xB8, 0xFC),
          [forwarded(udp(frag=9), udp(frag=9, tos=0xB8), rule="all")]),
    marks("options", "the checksum over options isn't made anew", "set-dscp: EF", tos(0xB8, 0xFC),
          [forwarded(udp(options=ROUTER_ALERT), udp(options=ROUTER_ALERT, tos=0xB8), rule="all")]),
    marks("flow_label", "marking IPv6 changes the flow label", "set-dscp: EF", tos(0xB8, 0xFC),
          [forwarded(udp(version=6, fl=0xABCDE), udp(version=6, fl=0xABCDE, tos=0xB8), rule="all")]),
    marks("not_ip", "what has no ToS octet is changed", "set-dscp: EF", tos(0xB8, 0xFC),
          [forwarded(frame(size=60), rule="")]),
)  # fmt: skip

OUT = CONNECTED + "actions: [{name: low, set-dscp: CS1}, {name: high, set-dscp: EF}, {name: five, set-pcp: 5}]\n"

cases(
    globals(),
    Case(
        "only_of_the_rule",
        "packets of other rules, or of none, are marked",
        [forwarded(udp(80), udp(80, tos=0xB8), rule="high"), forwarded(udp(81), rule="plain"), forwarded(udp(82))],
        OUT + "rules: [{name: high, match: {destination-ports: 80}, actions: [high]}, "
        "{name: plain, match: {destination-ports: 81}}]\n",
        ByHand(
            [*WIRES, *rule(7, destination_port=(80, 80)), *rule(8, destination_port=(81, 81)), tos(0xB8, 0xFC)],
            policies={"high": 7, "plain": 8},
        ),
    ),
    Case(
        "aggregate",
        "a behaviour aggregate doesn't mark",
        [forwarded(udp(tos=0xB9), udp(tos=0x21), rule="ef"), forwarded(udp())],
        OUT + "behaviour-aggregates: [{name: ef, dscp: EF, actions: [low]}]\n",
        ByHand(
            [
                *WIRES,
                entry("classify.behaviour_aggregate", {"tos": "0xb8/&0xfc"}, "set_class", priority=1,
                      policy=7, stream=0, traffic_class=0),
                tos(0x20, 0xFC),
            ],
            policies={"ef": 7},
        ),
    ),
    Case(
        "output",
        "the policy of an egress port doesn't mark, or marks what leaves by others",
        [
            forwarded(udp(), udp(tos=0xB8), output_rule="out"),
            forwarded(udp(), at=1, to=2),
            forwarded(udp(), at=3, to=4),
        ],
        OUT + "rules: [{name: out, match: {egress-port: line}, actions: [high]}]\n",
        ByHand([*WIRES, *rule(7, stage="output",
               egress_port=1), tos(0xB8, 0xFC, stage="output_mark")], policies={"out": 7}),
    ),
    Case(
        "output_sees_input_marks",
        "the output policy classifies by the packet as it arrived",
        [
            forwarded(udp(), udp(tos=0xB8), rule="in", output_rule="out"),
            forwarded(udp(version=6), udp(version=6, tos=0xB8), rule="in", output_rule="out"),
            forwarded(udp(81, tos=0x20), udp(81, tos=0xB8), output_rule="out"),
            forwarded(udp(81)),
        ],
        OUT + "rules:\n  - {name: in, match: {destination-ports: 80}, actions: [low]}\n"
        "  - {name: out, match: {egress-port: line, dscp: CS1}, actions: [high]}\n",
        ByHand(
            [
                *WIRES,
                *rule(7, destination_port=(80, 80)),
                tos(0x20, 0xFC),
                *rule(8, stage="output", egress_port=1, tos="0x20/&0xfc"),
                tos(0xB8, 0xFC, 8, "output_mark"),
            ],
            policies={"in": 7, "out": 8},
        ),
    ),
    Case(
        "output_pcp",
        "the output policy's priority is lost, or that of the input policy isn't seen",
        [
            forwarded(udp(tag=0), udp(tag=5), output_rule="out"),
            forwarded(udp(tag=1)),
            forwarded(udp()),
        ],
        OUT + "rules: [{name: out, match: {egress-port: line, pcp: 0}, actions: [five]}]\n",
        ByHand(
            [*WIRES, *rule(7, stage="output", egress_port=1, tagged=1, pcp="0/&7"), pcp(5, stage="output_mark")],
            policies={"out": 7},
        ),
    ),
    Case(
        "user_priority",
        "a tagged frame's priority isn't the one of its final ToS at its port, or a frame without a tag is changed",
        [
            forwarded(udp(80, tag=1), udp(80, tos=0xB8, tag=6), rule="high"),
            forwarded(udp(80), udp(80, tos=0xB8), rule="high"),
            forwarded(udp(81, version=6, tos=0xE3, tag=0), udp(81, version=6, tos=0xE3, tag=7)),
            forwarded(udp(82, tag=3), udp(82, tag=3)),
            forwarded(udp(83, tos=0xE0, tag=0), udp(83, tos=0xE0, tag=7), rule="five"),
            forwarded(udp(84, tos=0xE0, tag=1), udp(84, tos=0xE0, tag=2), at=3, to=4),
            forwarded(udp(84, tos=0xB8, tag=1), at=3, to=4),
        ],
        OUT + "rules:\n  - {name: high, match: {destination-ports: 80}, actions: [high]}\n"
        "  - {name: five, match: {destination-ports: 83}, actions: [five]}\n"
        "subnet-priorities:\n"
        "  - {mask: 0xE0, mappings: [{tos: 0xE0, user-priority: 7}, {tos: 0xA0, user-priority: 6}]}\n"
        "  - {port: 4, mask: 0xFC, mappings: [{tos: 0xE0, user-priority: 2}]}\n",
        ByHand(
            [
                *WIRES,
                *rule(7, destination_port=(80, 80)),
                tos(0xB8, 0xFC),
                *rule(8, destination_port=(83, 83)),
                pcp(5, policy=8),
                *(
                    entry("user_priority.map", {"tos": f"{octet:#x}/&0xe0"}, "set_priority", priority=1, pcp=priority)
                    for octet, priority in ((0xE0, 7), (0xA0, 6))
                ),
                entry("user_priority.map", {"egress_port": 4, "tos": "0xe0/&0xfc"}, "set_priority", priority=3, pcp=2),
                entry("user_priority.map", {"egress_port": 4}, "keep", priority=2),
            ],
            policies={"high": 7, "five": 8},
        ),
    ),
    Case(
        "output_aggregate",
        "an egress port's behaviour aggregate doesn't mark",
        [forwarded(udp(tos=0xB8), udp(tos=0x20), output_rule="ef"), forwarded(udp(tos=0xB8), at=1, to=2)],
        OUT + "behaviour-aggregates: [{name: ef, dscp: EF, egress-port: line, actions: [low]}]\n",
        ByHand(
            [
                *WIRES,
                entry("output.behaviour_aggregate", {"egress_port": 1, "tos": "0xb8/&0xfc"}, "set_class", priority=1,
                      policy=7, stream=0, traffic_class=0),
                tos(0x20, 0xFC, stage="output_mark"),
            ],
            policies={"ef": 7},
        ),
    ),
)  # fmt: skip
