"""Stage admit: permission, and the limit of concurrent TCP connections (RFC 9293's flags, RFC 5382's tracking)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from phb.pipeline_names import DropReason
from phb_device import CONNECTED, Entry, default_action, entry
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case, Count, Send, Step, dropped, forwarded
from phb_ptf.entries import WIRES, rule
from phb_ptf.frames import HOST, HOST6, PEER, PEER6, tcp, udp


def block(policy: int, stage: str = "admit") -> Entry:
    """A permission by hand."""
    return entry(f"{stage}.permission", {"policy": policy}, "block")


cases(
    globals(),
    Case(
        "blocked",
        "what a rule blocks leaves, or what it doesn't is dropped",
        [
            dropped(udp(80), DropReason.BLOCKED, rule="web"),
            dropped(udp(80, version=6), DropReason.BLOCKED, rule="web"),
            forwarded(udp(81)),
        ],
        CONNECTED + "rules: [{name: web, match: {destination-ports: 80}, permission: blocked}]\n",
        ByHand([*WIRES, *rule(7, destination_port=(80, 80)), block(7)], policies={"web": 7}),
        keeps=True,
    ),
    Case(
        "allowed_before_blocked",
        "a rule that allows doesn't keep packets from one below that blocks",
        [forwarded(udp(80), rule="web"), dropped(udp(81), DropReason.BLOCKED, rule="rest")],
        CONNECTED + "rules: [{name: web, match: {destination-ports: 80}, permission: allowed}, "
        "{name: rest, permission: blocked}]\n",
        ByHand(
            [*WIRES, *rule(7, priority=20, destination_port=(80, 80)), *rule(8, priority=10), block(8)],
            policies={"web": 7, "rest": 8},
        ),
        keeps=True,
    ),
    Case(
        "blocked_is_not_marked",
        "a blocked packet still goes through the stages behind",
        [dropped(udp(80), DropReason.BLOCKED, rule="web")],
        CONNECTED + "actions: [{name: ef, set-dscp: EF}]\nrules:\n"
        "  - {name: web, match: {destination-ports: 80}, permission: blocked, actions: [ef]}\n"
        "  - {name: out, match: {egress-port: line}}\n",
        ByHand(
            [
                *WIRES,
                *rule(7, destination_port=(80, 80)),
                block(7),
                entry("mark.remark", {"policy": 7}, "set_tos", value=0xB8, mask=0xFC),
                *rule(8, stage="output", egress_port=1),
            ],
            policies={"web": 7, "out": 8},
        ),
        keeps=True,
    ),
    Case(
        "blocked_output",
        "the policy of an egress port doesn't block, or blocks other ports",
        [
            dropped(udp(80), DropReason.BLOCKED, rule="in", output_rule="out"),
            forwarded(udp(81)),
            forwarded(udp(80), at=1, to=2, rule="in"),
        ],
        CONNECTED + "rules:\n  - {name: in, match: {destination-ports: 80}}\n"
        "  - {name: out, match: {egress-port: line, destination-ports: 80}, permission: blocked}\n",
        ByHand(
            [
                *WIRES,
                *rule(7, destination_port=(80, 80)),
                *rule(8, stage="output", egress_port=1, destination_port=(80, 80)),
                block(8, "output"),
            ],
            policies={"in": 7, "out": 8},
        ),
        keeps=True,
    ),
)

LIMITED = CONNECTED + "actions: [{name: two, max-connections: 2}]\n"
LIMITED += "rules: [{name: web, match: {protocol: tcp, destination-ports: 80}, actions: [two]}]\n"
TRACKING = default_action("version.active", "set_version", version=0, track_connections=1)
LIMITED_BY_HAND = ByHand(
    [
        *WIRES,
        TRACKING,
        *rule(7, protocol=6, destination_port=(80, 80)),
        entry("admit.connection_limit", {"policy": 7}, "limit_connections", policy=7, maximum_connections=2),
    ],
    policies={"web": 7},
)


def there(client: int, flags: str, **fields: Any) -> Send:
    """A segment of a client that passes."""
    return forwarded(tcp(80, flags, source_port=1024 + client, **fields), rule="web")


def refused(client: int, **fields: Any) -> Send:
    """A SYN of a client that there are too many of."""
    sent = tcp(80, "S", source_port=1024 + client, **fields)
    return dropped(sent, DropReason.CONNECTION_LIMIT, rule="web")


def back(client: int, flags: str, version: int = 4) -> Send:
    """A segment of the server, which is no rule's."""
    ends = {4: (PEER, HOST), 6: (PEER6, HOST6)}[version]
    sent = tcp(1024 + client, flags, source_port=80, version=version, src=ends[0], dst=ends[1])
    return forwarded(sent, at=1, to=2)


def limited(name: str, why: str, steps: Sequence[Step]) -> Case:
    """Two connections are allowed; none is lost track of."""
    return Case(name, why, steps, LIMITED, LIMITED_BY_HAND, counts=[Count("untracked_connections", 0, 0)])


cases(
    globals(),
    limited("third_connection", "more connections than the limit, or fewer",
            [there(1, "S"), there(2, "S"), refused(3)]),
    limited("repeated_syn", "a SYN that is sent once more counts twice",
            [there(1, "S"), there(1, "S"), there(1, "S"), there(2, "S"), refused(3)]),
    limited("refused_again", "a refused SYN is counted as a connection, or let through the second time",
            [there(1, "S"), there(2, "S"), refused(3), refused(3), there(1, "FA"), there(3, "S")]),
    limited("fin_of_client", "a FIN doesn't end a connection",
            [there(1, "S"), there(2, "S"), there(1, "FA"), there(3, "S")]),
    limited("fin_of_server", "the other side's FIN doesn't end a connection",
            [there(1, "S"), back(1, "SA"), there(2, "S"), back(1, "FA"), there(3, "S")]),
    limited("rst_of_client", "a RST doesn't end a connection",
            [there(1, "S"), there(2, "S"), there(2, "R"), there(3, "S")]),
    limited("rst_of_server", "the other side's RST doesn't end a connection",
            [there(1, "S"), there(2, "S"), back(2, "RA"), there(3, "S")]),
    limited("both_fins", "the second FIN ends another connection",
            [there(1, "S"), there(2, "S"), there(1, "FA"), back(1, "FA"), there(1, "A"), there(3, "S"), refused(4)]),
    limited("unknown_fin", "a FIN of no connection ends one",
            [there(1, "S"), there(2, "S"), there(9, "FA"), refused(3)]),
    limited("established", "packets of connections are held to the limit of connections",
            [there(1, "S"), back(1, "SA"), there(1, "A"), there(2, "S"), refused(3),
             there(1, "PA"), back(1, "A"), there(1, "A")]),
    limited("without_syn", "what is no SYN opens a connection, or is dropped at the limit",
            [there(1, "A"), there(2, "PA"), there(3, "A"), there(4, "S"), there(5, "S"), refused(6), there(7, "A")]),
    limited("syn_ack_opens_nothing", "a SYN of the server's opens a connection",
            [there(1, "SA"), there(2, "SA"), there(3, "S"), there(4, "S"), refused(5)]),
    limited("reopened", "a connection whose ports come back isn't counted",
            [there(1, "S"), there(1, "FA"), there(1, "S"), there(2, "S"), refused(3)]),
    limited("ipv6", "connections over IPv6 aren't counted, or not with those over IPv4",
            [there(1, "S", version=6), there(1, "S"), refused(2, version=6), refused(3), there(1, "FA",
                   version=6), there(4, "S")]),
    limited("other_addresses", "connections between other hosts are taken for one",
            [there(1, "S"), there(1, "S", src="10.0.1.2"), refused(1, src="10.0.1.3"), refused(1, dst="10.0.2.9")]),
    limited("other_rules", "connections of no rule are counted",
            [*(forwarded(tcp(81, "S",
               source_port=port)) for port in (1, 2, 3)), there(1, "S"), there(2, "S"), refused(3)]),
    limited("blocked_udp", "datagrams are held to the limit",
            [there(1, "S"), there(2, "S"), forwarded(udp(80)), refused(3)]),
    Case(
        "each_rule_its_own",
        "connections of one rule count for another's limit",
        [
            there(1, "S"),
            forwarded(tcp(81, "S"), rule="other"),
            dropped(tcp(80, "S", source_port=9), DropReason.CONNECTION_LIMIT, rule="web"),
            dropped(tcp(81, "S", source_port=9), DropReason.CONNECTION_LIMIT, rule="other"),
        ],
        CONNECTED + "actions: [{name: one, max-connections: 1}]\nrules:\n"
        "  - {name: web, match: {protocol: tcp, destination-ports: 80}, actions: [one]}\n"
        "  - {name: other, match: {protocol: tcp, destination-ports: 81}, actions: [one]}\n",
        ByHand(
            [
                *WIRES,
                TRACKING,
                *rule(7, protocol=6, destination_port=(80, 80)),
                *rule(8, protocol=6, destination_port=(81, 81)),
                *(
                    entry("admit.connection_limit", {"policy": number}, "limit_connections",
                          policy=number, maximum_connections=1)
                    for number in (7, 8)
                ),
            ],
            policies={"web": 7, "other": 8},
        ),
    ),
)  # fmt: skip
