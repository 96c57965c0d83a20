"""Stage police: which packet has which colour (RFC 2697, RFC 2698, RFC 4115), blind to colours and aware of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from phb.model import MeterKind
from phb_device import CONNECTED
from phb_model.token_buckets import Colour, TokenBuckets
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case, Count, Send, forwarded
from phb_ptf.entries import WIRES, rule
from phb_ptf.frames import udp
from phb_ptf.meters import Meter, set_dscp

AF11, AF12, AF13 = 10, 12, 14
COLOURS = {"G": Colour.GREEN, "Y": Colour.YELLOW, "R": Colour.RED}
# How a packet of each colour comes, for meters that are aware of colours, and how it leaves.
COMES = {"G": AF11 << 2, "Y": AF12 << 2, "R": AF13 << 2, "-": 0}
LEAVES = {"G": 0x48, "Y": 0x50, "R": 0x58}
MARKED = {"green": set_dscp(0x48 >> 2), "yellow": set_dscp(0x50 >> 2), "red": set_dscp(0x58 >> 2)}
SIZE = 400

SINGLE, TWO, SEPARATE = MeterKind.SINGLE_RATE, MeterKind.TWO_RATE, MeterKind.TWO_RATE_SEPARATE


def metered(name: str, why: str, meter: Meter, packets: Sequence[tuple[str, int, str]], hook: str = "input") -> Case:
    """Make a case of a stream's packets: how each comes, its bytes, and the colour that it gets and leaves with."""
    buckets = TokenBuckets(meter.without_time())
    for comes, size, colour in packets:
        assert buckets.colour(0, size, COLOURS.get(comes, Colour.GREEN)) is COLOURS[colour], f"{name}: a wrong case"
    meter = replace(meter, **MARKED)
    output = hook == "output"
    where = "egress-port: line" if output else "ingress-port: lan"
    policy = f"actions: [{{name: metered, meter: {meter.said()}}}]\n"
    policy += f"rules: [{{name: metered, match: {{{where}}}, actions: [metered]}}]\n"
    stage = "output" if output else "classify"
    key = {"egress_port": 1} if output else {"ingress_port": 2}
    police = "output_police" if output else "police"
    by_hand = ByHand(
        [*WIRES, *rule(7, stage=stage, stream=5, **key), *meter.entries(5, [7], police)], {"metered": 7}, {"metered": 5}
    )
    steps = [_step(comes, size, colour, output) for comes, size, colour in packets]
    counts = [
        Count(
            "stream_traffic",
            ("metered", number),
            sum(colour == letter for _, _, colour in packets),
            sum(size for _, size, colour in packets if colour == letter),
        )
        for letter, number in COLOURS.items()
    ]
    return Case(name, why, steps, CONNECTED + policy, by_hand, counts=counts)


def _step(comes: str, size: int, colour: str, output: bool) -> Send:
    sent, left = udp(size=size, tos=COMES[comes]), udp(size=size, tos=LEAVES[colour])
    if output:
        return forwarded(sent, left, output_rule="metered", output_colour=COLOURS[colour])
    return forwarded(sent, left, rule="metered", colour=COLOURS[colour])


def alike(comes: str, colours: str) -> list[tuple[str, int, str]]:
    """Return packets of one size."""
    return [(each, SIZE, colour) for each, colour in zip(comes, colours, strict=True)]


# Bursts of 1000 bytes take two packets of 400; a peak burst of 2000 five.
cases(
    globals(),
    *(
        case
        for hook in ("input", "output")
        for case in (
            metered(f"single_rate_{hook}", "the excess bucket isn't behind the committed one",
                    Meter(SINGLE, 1000, 1000), alike("------", "GGYYRR"), hook),
            metered(f"two_rate_{hook}", "a green packet doesn't take from the peak bucket too",
                    Meter(TWO, 1000, 2000), alike("------", "GGYYYR"), hook),
            metered(f"separate_{hook}", "a green packet takes from the excess bucket too",
                    Meter(SEPARATE, 1000, 1000), alike("------", "GGYYRR"), hook),
            metered(f"single_rate_aware_{hook}", "a yellow packet takes committed tokens, or a red one any",
                    Meter(SINGLE, 1000, 1000, aware=True), alike("RYYYGRGG", "RYYRGRGR"), hook),
            metered(f"two_rate_aware_{hook}", "a yellow packet takes committed tokens, or a red one any",
                    Meter(TWO, 500, 2000, aware=True), alike("RYYGGRGG", "RYYGYRYR"), hook),
            metered(f"separate_aware_{hook}", "a yellow packet takes committed tokens, or a red one any",
                    Meter(SEPARATE, 1000, 1000, aware=True), alike("RYGRGGY-", "RYGRGYRR"), hook),
        )
    ),
    metered("single_rate_blind", "a colour-blind meter looks at code points",
            Meter(SINGLE, 1000, 1000), alike("RRYYGG", "GGYYRR")),
    metered("two_rate_blind", "a colour-blind meter looks at code points",
            Meter(TWO, 1000, 2000), alike("RRYYYG", "GGYYYR")),
    metered("separate_blind", "a colour-blind meter looks at code points",
            Meter(SEPARATE, 1000, 1000), alike("RRYYGG", "GGYYRR")),
)  # fmt: skip

# Where a bucket ends: RFC 2697 and RFC 2698 let a packet take the last token, RFC 4115 asks for one more.
cases(
    globals(),
    metered("single_rate_last_byte", "a packet that takes all tokens doesn't fit, or one of a byte more does",
            Meter(SINGLE, 800, 801), [("-", 400, "G"), ("-", 400, "G"), ("-", 402, "Y"), ("-", 400, "R"),
                                      ("-", 399, "Y"), ("-", 60, "R")]),
    metered("two_rate_last_byte", "a packet that takes all tokens doesn't fit, or one of a byte more does",
            Meter(TWO, 800, 1600), [("-", 400, "G"), ("-", 401, "Y"), ("-", 400, "G"), ("-", 400, "R"),
                                    ("-", 399, "Y"), ("-", 60, "R")]),
    metered("separate_last_byte", "a packet that leaves a token doesn't fit, or one of a byte too many does",
            Meter(SEPARATE, 801, 800), [("-", 400, "G"), ("-", 400, "G"), ("-", 400, "Y"), ("-", 401, "R"),
                                        ("-", 399, "Y"), ("-", 60, "R")]),
    # A full bucket: its gain meanwhile doesn't matter.
    metered("separate_exact_committed", "a packet is green that leaves no token, where one has to be left",
            Meter(SEPARATE, 400, 401), [("-", 400, "Y"), ("-", 399, "G"), ("-", 400, "R")]),
    metered("separate_exact_excess", "a packet is yellow that leaves no token, where one has to be left",
            Meter(SEPARATE, 0, 400), [("-", 400, "R"), ("-", 399, "Y"), ("-", 60, "R")]),
    metered("small_one_after_red", "a red packet took tokens",
            Meter(SINGLE, 1000, 0), [("-", 900, "G"), ("-", 101, "R"), ("-", 100, "G"), ("-", 60, "R")]),
    metered("small_one_after_yellow", "a yellow packet took committed tokens",
            Meter(SINGLE, 1000, 500), [("-", 900, "G"), ("-", 400, "Y"), ("-", 100, "G"), ("-", 100, "Y"),
                                       ("-", 60, "R")]),
    metered("peak_ends_before_committed", "a packet beyond the peak burst is green, for the committed bucket has room",
            Meter(TWO, 2000, 500), alike("--", "GR")),
    metered("nothing_committed", "a meter without committed burst has green packets",
            Meter(SINGLE, 0, 1000), alike("---", "YYR")),
    metered("nothing_at_all", "a meter without any burst lets packets conform",
            Meter(TWO, 0, 0), alike("--", "RR")),
    metered("largest_burst", "a burst of 2^31 bytes overflows",
            Meter(SINGLE, 1 << 31, 1 << 31), [("-", 9000, "G"), ("-", 60, "G")]),
)  # fmt: skip
