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
    """Return the entry that blocks a rule's packets."""
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


# Each side's first sequence number; the client's wraps.
CLIENT_FIRST, SERVER_FIRST = 0xFFFFFFFF, 100


def there(client: int, flags: str, *, sent: int = 1, heard: int = 1, **fields: Any) -> Send:
    """Return a segment of a client that passes; `sent` and `heard` of either side's numbers came before."""
    return forwarded(_of_client(client, flags, sent, heard, **fields), rule="web")


def refused(client: int, flags: str = "S", *, sent: int = 0, heard: int = 1, **fields: Any) -> Send:
    """Return a segment of a client that exceeds the limit."""
    return dropped(_of_client(client, flags, sent, heard, **fields), DropReason.CONNECTION_LIMIT, rule="web")


def _of_client(client: int, flags: str, sent: int, heard: int, **fields: Any) -> bytes:
    numbers = {"sequence": (CLIENT_FIRST + sent) % 2**32, "acknowledgement": SERVER_FIRST + heard}
    if "A" not in flags:
        numbers["acknowledgement"] = 0
    return tcp(80, flags, source_port=1024 + client, **(numbers | fields))


def back(client: int, flags: str, version: int = 4, *, sent: int = 1, heard: int = 1, **fields: Any) -> Send:
    """Return a segment of the server, which no rule takes."""
    ends = {4: (PEER, HOST), 6: (PEER6, HOST6)}[version]
    numbers = {"sequence": SERVER_FIRST + sent, "acknowledgement": (CLIENT_FIRST + heard) % 2**32}
    addresses = {"src": ends[0], "dst": ends[1]}
    made = tcp(1024 + client, flags, source_port=80, version=version, **(numbers | addresses | fields))
    return forwarded(made, at=1, to=2)


def syn(client: int, **fields: Any) -> Send:
    """Return the first segment of a connection."""
    return there(client, "S", sent=0, **fields)


def opened(client: int, version: int = 4, **fields: Any) -> list[Step]:
    """Return a handshake."""
    answer = back(
        client,
        "SA",
        version,
        sent=0,
        **({"src": fields.get("dst", PEER), "dst": fields.get("src", HOST)} if version == 4 else {}),
    )
    return [syn(client, version=version, **fields), answer, there(client, "A", version=version, **fields)]


def limited(name: str, why: str, steps: Sequence[Step]) -> Case:
    """Make a case that allows two connections; the switch loses track of none."""
    return Case(name, why, steps, LIMITED, LIMITED_BY_HAND, counts=[Count("untracked_connections", 0, 0)])


TWO = [*opened(1), *opened(2)]


def ignored(name: str, why: str, *steps: Step) -> Case:
    """Make a case where receivers, at the limit, ignore something: there is no more room than before."""
    return limited(name, why, [*TWO, *steps, refused(3), there(1, "PA"), back(1, "PA")])


cases(
    globals(),
    limited("third_connection", "more connections than the limit, or fewer",
            [*TWO, refused(3)]),
    limited("repeated_syn", "a SYN that is sent once more counts twice",
            [syn(1), syn(1), *opened(1), syn(1), *opened(2), refused(3)]),
    limited("refused_again", "a refused SYN is counted as a connection, or let through the second time",
            [*TWO, refused(3), refused(3), there(1, "FA"), back(1, "A", heard=2), *opened(3), refused(4)]),
    limited("half_open", "a SYN that nobody answers, or whose answer nobody acknowledges, counts",
            [syn(1), syn(2), syn(3), back(3, "SA", sent=0), syn(4), *opened(5), *opened(6), refused(7)]),
    limited("too_late", "handshakes that began together all pass, or one that was refused can't enter later",
            [*(syn(client) for client in (1, 2, 3)), *(back(client, "SA", sent=0) for client in (1, 2, 3)),
             there(1, "A"), there(2, "A"), refused(3, "A", sent=1), refused(3, "PA", sent=1),
             there(1, "R"), there(3, "A"), refused(4)]),
    limited("blind_handshake", "who doesn't see the answer to a SYN establishes connections",
            [*(each for client in (1, 2) for each in (syn(client), back(client, "SA", sent=0),
               there(client, "A", heard=2), there(client, "PA", heard=0))), *opened(3), *opened(4), refused(5)]),
    limited("fin_of_client", "a FIN that is acknowledged doesn't end a connection",
            [*TWO, there(1, "FA"), back(1, "A", heard=2), *opened(3), refused(4)]),
    limited("fin_of_server", "the other side's FIN doesn't end a connection",
            [*TWO, back(1, "FA"), there(1, "A", heard=2), *opened(3), refused(4)]),
    limited("fin_unacknowledged", "a FIN ends a connection before the other side has it",
            [*TWO, there(1, "FA"), refused(3), back(1, "A"), refused(3), back(1, "A", heard=2), *opened(3)]),
    limited("rst_of_client", "a RST doesn't end a connection",
            [*TWO, there(2, "R"), *opened(3), refused(4)]),
    limited("rst_of_server", "the other side's RST doesn't end a connection",
            [*TWO, back(2, "RA"), *opened(3), refused(4)]),
    limited("rst_padded", "a RST in a frame of Ethernet's least size doesn't end a connection",
            [*TWO, there(2, "R", size=60), *opened(3), refused(4)]),
    limited("refused_by_server", "a RST that answers the SYN doesn't end the connection, or any other does",
            [syn(1), back(1, "RA", sent=-SERVER_FIRST, heard=5), back(1, "SA", sent=0), there(1, "A"),
             syn(2), back(2, "RA", sent=-SERVER_FIRST), back(2, "SA", sent=0), there(2, "A"), *opened(3), refused(4)]),
    limited("both_fins", "the second FIN ends another connection",
            [*TWO, there(1, "FA"), back(1, "FA", heard=2), there(1, "A", sent=2, heard=2), *opened(3), refused(4)]),
    ignored("unknown_fin", "a FIN of no connection ends one", there(9, "FA")),
    ignored("rst_outside_window", "a RST that the receiver ignores frees a slot",
            there(1, "R", sent=70_000), back(1, "RA", sent=70_000), there(1, "R", sent=0)),
    ignored("rst_inside_window", "a RST in the window, but not at the number that is waited for, frees a slot",
            there(1, "R", sent=2), back(1, "R", sent=2)),
    ignored("rst_wrong_checksum", "a RST with a wrong checksum frees a slot",
            there(1, "R", checksum=0x1234), there(1, "R", checksum=0x1234, size=60), there(1, "R", sent=70_000,
                  checksum=0x1234), back(1, "RA", checksum=0x1234)),
    ignored("fin_wrong_checksum", "a FIN with a wrong checksum frees a slot",
            there(1, "FA", checksum=0x1234), there(1, "PA", size=55), back(1, "A", heard=2)),
    ignored("fin_outside_window", "a FIN that the receiver ignores frees a slot",
            there(1, "FA", sent=70_000), there(1, "FA", heard=2), there(1, "FA", sent=-1)),
    ignored("syn_of_known", "a SYN for an established connection opens it anew",
            there(1, "S", sent=5000), back(1, "SA", sent=5000, heard=5001), there(1, "R", sent=5001)),
    limited("established", "packets of connections are held to the limit of connections",
            [*opened(1), *opened(2), refused(3), there(1, "PA"), back(1, "A"), there(1, "A")]),
    limited("without_syn", "what is no SYN opens a connection, or is dropped at the limit",
            [there(1, "A"), there(2, "PA"), there(3, "A"), *opened(4), *opened(5), refused(6), there(7, "A")]),
    limited("syn_ack_opens_nothing", "a SYN of the server's opens a connection",
            [there(1, "SA", sent=0), there(2, "SA", sent=0), *opened(3), *opened(4), refused(5)]),
    limited("reopened", "a connection whose ports come back isn't counted",
            [*opened(1), there(1, "FA"), back(1, "A", heard=2), *opened(1), *opened(2), refused(3)]),
    limited("ipv6", "connections over IPv6 aren't counted, or not with those over IPv4, or don't end",
            [*opened(1, 6), *opened(1), refused(2, version=6), refused(3),
             there(1, "R", version=6, checksum=0x1234), there(1, "R", version=6, sent=2), refused(3),
             there(1, "R", version=6), *opened(4), refused(5, version=6)]),
    limited("other_addresses", "connections between other hosts are taken for one",
            [*opened(1), *opened(1, src="10.0.1.2"), refused(1, src="10.0.1.3"), refused(1, dst="10.0.2.9")]),
    limited("other_rules", "connections of no rule are counted",
            [*(forwarded(tcp(81, "S", source_port=port)) for port in (1, 2, 3)), *TWO, refused(3)]),
    limited("blocked_udp", "datagrams are held to the limit",
            [*TWO, forwarded(udp(80)), refused(3)]),
    Case(
        "each_rule_its_own",
        "connections of one rule count for another's limit",
        [
            *opened(1),
            forwarded(tcp(81, "S", sequence=CLIENT_FIRST), rule="other"),
            forwarded(
                tcp(1025, "SA", source_port=81, sequence=100, acknowledgement=0, src=PEER, dst=HOST), at=1, to=2
            ),
            forwarded(tcp(81, "A", acknowledgement=101), rule="other"),
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
