"""Stage police: what is done with each colour, at input and output, and whose packets share a meter."""

from __future__ import annotations

from phb.model import MeterKind
from phb.pipeline_names import DropReason
from phb_device import CONNECTED, entry
from phb_ptf.case_tests import cases
from phb_ptf.cases import GREEN, RED, YELLOW, ByHand, Case, Count, dropped, forwarded
from phb_ptf.entries import WIRES, rule
from phb_ptf.frames import udp
from phb_ptf.meters import DROP, Meter, set_dscp, set_dscp_and_pcp, set_pcp, set_precedence, set_tos

SIZE = 400
# One packet of 400 bytes is green, one yellow, all others red.
BURST = 500
SINGLE = MeterKind.SINGLE_RATE


def treated(name: str, why: str, meter: Meter, *packets: tuple[bytes, bytes], hook: str = "input") -> Case:
    """Make a case of a stream's packets, green, yellow and red, before and after; a dropped one is empty then."""
    output = hook == "output"
    where = "egress-port: line" if output else "ingress-port: lan"
    policy = f"actions: [{{name: metered, meter: {meter.said()}}}]\n"
    policy += f"rules: [{{name: metered, match: {{{where}}}, actions: [metered]}}]\n"
    stage, key, police = (
        ("output", {"egress_port": 1}, "output_police") if output else ("classify", {"ingress_port": 2}, "police")
    )
    by_hand = ByHand([*WIRES, *rule(7, stage=stage, stream=5, **key), *meter.entries(5, [7], police)], {"metered": 7})
    steps = []
    for colour, (sent, left) in enumerate(packets):
        taken = {"output_rule": "metered", "output_colour": colour} if output else {"rule": "metered", "colour": colour}
        if left:
            steps.append(forwarded(sent, left, **taken))  # type: ignore[arg-type]
        else:
            steps.append(dropped(sent, DropReason.POLICED, **taken))  # type: ignore[arg-type]
    return Case(name, why, steps, CONNECTED + policy, by_hand)


def plain(tos: int = 0, tag: int | None = None, version: int = 4) -> bytes:
    """Return a packet of the stream."""
    return udp(size=SIZE, tos=tos, tag=tag, version=version)


# A tagged packet is four bytes longer, so bursts leave room for it.
def meter(**treatments: object) -> Meter:
    """Return a meter that makes the first packet green, the second yellow, and the third red."""
    return Meter(SINGLE, BURST, BURST, **treatments)  # type: ignore[arg-type]


SENT = (plain(), plain())

cases(
    globals(),
    *(
        case
        for hook in ("input", "output")
        for case in (
            treated(f"transmit_{hook}", "a packet is dropped or changed, though its colour says transmit",
                    meter(), SENT, SENT, SENT, hook=hook),
            treated(f"drop_red_{hook}", "another colour than red is dropped, or red isn't",
                    meter(red=DROP), SENT, SENT, (plain(), b""), hook=hook),
            treated(f"drop_yellow_{hook}", "another colour than yellow is dropped, or yellow isn't",
                    meter(yellow=DROP), SENT, (plain(), b""), SENT, hook=hook),
            treated(f"drop_green_{hook}", "another colour than green is dropped, or green isn't",
                    meter(green=DROP), (plain(), b""), SENT, SENT, hook=hook),
            treated(f"dscp_{hook}", "a code point goes to another colour, or ECN is lost (RFC 3168)",
                    meter(green=set_dscp(10), yellow=set_dscp(12), red=set_dscp(14)),
                    (plain(0x03), plain(0x2B)), (plain(0xBA), plain(0x32)), (plain(0xFD), plain(0x39)), hook=hook),
            treated(f"dscp_ipv6_{hook}", "an IPv6 packet's traffic class stays, or its ECN is lost",
                    meter(green=set_dscp(10), yellow=set_dscp(12), red=set_dscp(14)),
                    (plain(0x03, version=6), plain(0x2B, version=6)), (plain(0xBA, version=6), plain(0x32, version=6)),
                    (plain(0xFD, version=6), plain(0x39, version=6)), hook=hook),
            treated(f"precedence_{hook}", "bits below the precedence change",
                    meter(green=set_precedence(7), yellow=set_precedence(0), red=set_precedence(1)),
                    (plain(0x1F), plain(0xFF)), (plain(0xFF), plain(0x1F)), (plain(0xE4), plain(0x24)), hook=hook),
            treated(f"tos_{hook}", "bits outside the mask change, or bits inside it stay",
                    meter(green=set_tos(0x0F, 0x0F), yellow=set_tos(0x00, 0x3C), red=set_tos(0xA5, 0xFF)),
                    (plain(0x50), plain(0x5F)), (plain(0xFF), plain(0xC3)), (plain(0x5A), plain(0xA5)), hook=hook),
            treated(f"pcp_{hook}", "the tag's priority isn't that of the colour, or its VLAN changes",
                    meter(green=set_pcp(7), yellow=set_pcp(1), red=set_pcp(0)),
                    (plain(tag=0), plain(tag=7)), (plain(tag=6), plain(tag=1)), (plain(tag=5), plain(tag=0)),
                    hook=hook),
            treated(f"dscp_and_pcp_{hook}", "only one of both marks is set",
                    meter(green=set_dscp_and_pcp(46, 5), yellow=set_dscp_and_pcp(8, 1), red=set_dscp_and_pcp(0, 0)),
                    (plain(0, 0), plain(0xB8, 5)), (plain(0xB8, 5), plain(0x20, 1)), (plain(0xB8, 7), plain(0, 0)),
                    hook=hook),
        )
    ),
    treated("pcp_without_tag", "a packet without a tag gets one, or is changed",
            meter(green=set_pcp(7), yellow=set_dscp_and_pcp(8, 7)), SENT, (plain(), plain(0x20)), SENT),
)  # fmt: skip

# Whose packets share a bucket.
SHARED = Meter(SINGLE, BURST, BURST, red=DROP)
ONE_METER = (
    CONNECTED
    + f"""
actions: [{{name: shared, meter: {SHARED.said()}}}, {{name: other, meter: {SHARED.said()}}}]
rules:
  - {{name: blocked, match: {{destination-ports: 79}}, actions: [shared], permission: blocked}}
  - {{name: web, match: {{destination-ports: 80}}, actions: [shared]}}
  - {{name: mail, match: {{destination-ports: 25}}, actions: [shared]}}
  - {{name: news, match: {{destination-ports: 119}}, actions: [other]}}
"""
)
ONE_METER_BY_HAND = ByHand(
    [
        *WIRES,
        *rule(6, stream=5, destination_port=(79, 79)),
        *rule(7, stream=5, destination_port=(80, 80)),
        *rule(8, stream=5, destination_port=(25, 25)),
        *rule(9, stream=6, destination_port=(119, 119)),
        *SHARED.entries(5, [6, 7, 8]),
        *SHARED.entries(6, [9]),
        entry("admit.permission", {"policy": 6}, "block"),
    ],
    policies={"blocked": 6, "web": 7, "mail": 8, "news": 9},
    streams={"shared": 5, "other": 6},
)


def port(number: int) -> bytes:
    """Return a packet for one rule, by its port."""
    return udp(number, size=SIZE)


cases(
    globals(),
    Case(
        "rules_share_a_stream",
        "each rule has a bucket of its own, or their colours are counted together",
        [
            forwarded(port(80), rule="web"),
            forwarded(port(25), rule="mail", colour=YELLOW),
            dropped(port(80), DropReason.POLICED, rule="web", colour=RED),
            dropped(port(25), DropReason.POLICED, rule="mail", colour=RED),
        ],
        ONE_METER,
        ONE_METER_BY_HAND,
        counts=[
            Count("stream_traffic", ("shared", GREEN), 1, SIZE),
            Count("stream_traffic", ("shared", YELLOW), 1, SIZE),
            Count("stream_traffic", ("shared", RED), 2, 2 * SIZE),
        ],
    ),
    Case(
        "streams_have_their_own",
        "streams with equal meters share a bucket",
        [
            forwarded(port(80), rule="web"),
            forwarded(port(119), rule="news"),
            forwarded(port(80), rule="web", colour=YELLOW),
            forwarded(port(119), rule="news", colour=YELLOW),
        ],
        ONE_METER,
        ONE_METER_BY_HAND,
        counts=[Count("stream_traffic", (name, GREEN), 1, SIZE) for name in ("shared", "other")],
    ),
    Case(
        "what_is_blocked_takes_nothing",
        "a packet that was dropped before the meter takes tokens",
        [
            dropped(port(79), DropReason.BLOCKED, rule="blocked"),
            forwarded(port(80), rule="web"),
        ],
        ONE_METER,
        ONE_METER_BY_HAND,
        counts=[Count("stream_traffic", ("shared", GREEN), 1, SIZE)],
    ),
    Case(
        "without_a_stream",
        "a packet of no rule is metered",
        [forwarded(port(81)) for _ in range(4)],
        ONE_METER,
        ONE_METER_BY_HAND,
        counts=[Count("stream_traffic", colour, 0) for colour in (GREEN, YELLOW, RED)],
    ),
)
