"""Stage police: the colour that a packet comes with, by its code point (RFC 2597) or by the meter before."""

from __future__ import annotations

from phb.model import MeterKind
from phb.pipeline_names import DropReason
from phb_device import CONNECTED
from phb_ptf.case_tests import cases
from phb_ptf.cases import GREEN, RED, YELLOW, ByHand, Case, Count, Send, dropped, forwarded
from phb_ptf.entries import WIRES, rule
from phb_ptf.frames import udp
from phb_ptf.meters import DROP, Meter, set_dscp

SIZE = 400
SINGLE, TWO, SEPARATE = MeterKind.SINGLE_RATE, MeterKind.TWO_RATE, MeterKind.TWO_RATE_SEPARATE
# All of a case's packets fit.
ROOM = 100_000
# One packet of 400 bytes is green, one yellow, all others red.
FIRST = Meter(SINGLE, 500, 500)

AF = {10 + 8 * klass + 2 * precedence: precedence for klass in range(4) for precedence in range(3)}
"""Code points of assured forwarding, and their drop precedence: green, yellow, red."""
OTHERS = (0, 1, 8, 9, 11, 13, 16, 24, 32, 40, 42, 44, 46, 48, 56, 63)


def packet(tos: int, version: int = 4) -> bytes:
    """Return a packet with a code point and ECN bits."""
    return udp(size=SIZE, tos=tos, version=version)


def by_code_point(kind: MeterKind, version: int) -> Case:
    """Make a case of each code point's colour, with enough tokens."""
    meter = Meter(kind, ROOM, ROOM, aware=True)
    policy = f"actions: [{{name: metered, meter: {meter.said()}}}]\nrules: [{{name: metered, actions: [metered]}}]\n"
    wanted = {**AF, **dict.fromkeys(OTHERS, GREEN)}
    return Case(
        f"code_points_{kind.replace('-', '_')}_ipv{version}",
        "a code point stands for another drop precedence, or ECN bits are taken for some of it",
        [
            forwarded(packet(code_point << 2 | ecn, version), rule="metered", colour=colour)
            for code_point, colour in wanted.items()
            for ecn in ((0, 3) if code_point in AF else (0,))
        ],
        CONNECTED + policy,
        ByHand([*WIRES, *rule(7, stream=5), *meter.entries(5, [7])], {"metered": 7}),
    )


cases(globals(), *(by_code_point(kind, version) for kind in (SINGLE, TWO, SEPARATE) for version in (4, 6)))


def chained(name: str, why: str, first: Meter | None, second: Meter | None, *steps: Send) -> Case:
    """Make a case of packets that an input policy meters, and then the output policy."""
    actions = [
        f"{{name: {name}{f', meter: {meter.said()}' if meter else ''}}}"
        for name, meter in (("first", first), ("second", second))
    ]
    policy = (
        f"actions: [{', '.join(actions)}]\nrules:\n  - {{name: in, match: {{ingress-port: lan}}, actions: [first]}}\n"
    )
    policy += "  - {name: out, match: {egress-port: line}, actions: [second]}\n"
    entries = [
        *WIRES,
        *rule(7, stream=5 if first else 0, ingress_port=2),
        *rule(8, stage="output", stream=6 if second else 0, egress_port=1),
        *(first.entries(5, [7]) if first else ()),
        *(second.entries(6, [8], "output_police") if second else ()),
    ]
    return Case(name, why, steps, CONNECTED + policy, ByHand(entries, {"in": 7, "out": 8}))


def both(before: int, after: int, tos: int = 0, becomes: int | None = None) -> Send:
    """Return a packet, with its colour at the input and at the output."""
    left = packet(tos if becomes is None else becomes)
    return forwarded(packet(tos), left, rule="in", colour=before, output_rule="out", output_colour=after)


AF13 = 14
TWICE = Meter(SINGLE, 500, 500, red=DROP)

cases(
    globals(),
    chained(
        "aware_of_the_meter_before", "a later meter goes by the code point, though an earlier one said the colour",
        FIRST, Meter(TWO, ROOM, ROOM, aware=True),
        both(GREEN, GREEN, AF13 << 2), both(YELLOW, YELLOW), both(RED, RED),
    ),
    chained(
        "aware_of_it_though_remarked", "a later meter goes by the earlier one's mark",
        Meter(SINGLE, 500, 500, green=set_dscp(AF13)), Meter(SEPARATE, ROOM, ROOM, aware=True),
        both(GREEN, GREEN, 0, AF13 << 2), both(YELLOW, YELLOW), both(RED, RED),
    ),
    chained(
        "blind_to_the_meter_before", "a colour-blind meter goes by the colour of an earlier one",
        FIRST, Meter(TWO, ROOM, ROOM),
        both(GREEN, GREEN), both(YELLOW, GREEN), both(RED, GREEN),
    ),
    chained(
        "aware_without_a_meter_before", "a packet that no meter has seen has a colour other than its code point's",
        None, Meter(SINGLE, ROOM, ROOM, aware=True),
        both(GREEN, GREEN), both(GREEN, RED, AF13 << 2),
    ),
    chained(
        "colour_stays", "a packet loses its colour where nothing meters it again",
        FIRST, None,
        both(GREEN, GREEN), both(YELLOW, YELLOW), both(RED, RED),
    ),
    chained(
        "the_second_drops", "a drop at the output isn't counted for both policies, or takes part in later buckets",
        FIRST, Meter(SINGLE, 500, 0, red=DROP),
        both(GREEN, GREEN),
        dropped(packet(0), DropReason.POLICED, rule="in", colour=YELLOW, output_rule="out", output_colour=RED),
    ),
    chained(
        "the_first_drops", "what the input policy dropped is seen by the output policy",
        TWICE, Meter(SINGLE, ROOM, 0),
        both(GREEN, GREEN), both(YELLOW, GREEN),
        dropped(packet(0), DropReason.POLICED, rule="in", colour=RED),
    ),
    Case(
        "one_action_twice",
        "an action at input and output has one bucket for both, so each packet takes from it twice",
        [both(GREEN, GREEN), both(YELLOW, YELLOW),
         dropped(packet(0), DropReason.POLICED, rule="in", colour=RED)],
        CONNECTED + f"""
actions: [{{name: both, meter: {TWICE.said()}}}]
rules:
  - {{name: in, match: {{ingress-port: lan}}, actions: [both]}}
  - {{name: out, match: {{egress-port: line}}, actions: [both]}}
""",
        ByHand(
            [*WIRES, *rule(7, stream=5, ingress_port=2), *rule(8, stage="output", stream=6, egress_port=1),
             *TWICE.entries(5, [7]), *TWICE.entries(6, [8], "output_police")],
            {"in": 7, "out": 8}, {"both": 5},
        ),
        counts=[Count("stream_traffic", ("both", colour), 1, SIZE) for colour in (GREEN, YELLOW, RED)],
    ),
)  # fmt: skip
