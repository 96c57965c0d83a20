"""Stage police, for both hooks: the colour of a packet by its stream's meter, and the treatment of that colour.

Token buckets as p4src/police.p4 keeps them: to the microsecond, in millionths of a bit, counted as what is missing.
"""

from __future__ import annotations

from phb.explain.packet import TracedPacket
from phb.explain.stages.mark import set_marks
from phb.explain.state import MeterBuckets, PipelineState
from phb.explain.tables import Tables
from phb.explain.words import decimals
from phb.intent import Entry
from phb.pipeline_names import COLOURS, DropReason

TOKENS_PER_BYTE = 8_000_000
GREEN, YELLOW, RED = 0, 1, 2


def police(stage: str, policy: int, packet: TracedPacket, tables: Tables, state: PipelineState) -> None:
    """Colour the packet by its stream's meter, and treat it as its policy says of the colour.

    `stage` is ``police``, or ``output_police`` for the output policy; `policy` the number with its treatments.
    """
    if packet.stream == 0:
        return
    entry = tables.lookup(f"PhbIngress.{stage}.stream_meter", {"stream": packet.stream})
    if entry is None:
        return
    incoming = packet.colour if packet.metered else assured_colour(packet.flow.tos)
    _meter(stage, packet, entry, state.meters[packet.stream], incoming)
    packet.metered = True
    key = {"policy": policy, "colour": packet.colour}
    action = tables.lookup(f"PhbIngress.{stage}.colour_action", key)
    if action is None or action.action == "transmit":
        return
    if action.action == "drop":
        packet.drop(stage, DropReason.POLICED, f"{COLOURS[packet.colour]} packets are dropped", action.origin)
    else:
        set_marks(stage, packet, action)


def assured_colour(tos: int) -> int:
    """Give the colour of a packet by the drop precedence of its AF code point (RFC 2597); others are green."""
    dscp = tos >> 2
    if 1 <= dscp >> 3 <= 4 and dscp & 1 == 0 and dscp >> 1 & 3:
        return (dscp >> 1 & 3) - 1
    return GREEN


def _meter(stage: str, packet: TracedPacket, entry: Entry, meter: MeterBuckets, incoming: int) -> None:
    parameters = entry.parameters
    now = packet.time_ns // 1000
    elapsed = now - meter.time_us
    meter.time_us = now
    overhead = parameters["overhead"]
    counted = packet.datagram_length if parameters["datagram"] else packet.length
    size = max(0, counted + (overhead - (1 << 32) if overhead >> 31 else overhead)) * TOKENS_PER_BYTE
    before = incoming if parameters["colour_aware"] else GREEN
    committed_burst = parameters["committed_burst"] * TOKENS_PER_BYTE
    other = "peak" if entry.action == "two_rate" else "excess"
    other_burst = parameters[f"{other}_burst"] * TOKENS_PER_BYTE
    if entry.action == "single_rate":
        gained = parameters["rate"] * min(elapsed, parameters["full_after"])
        meter.other = max(0, meter.other - max(0, gained - meter.committed))
        meter.committed = max(0, meter.committed - gained)
    else:
        meter.committed = _refilled(meter.committed, entry, "committed", elapsed)
        meter.other = _refilled(meter.other, entry, other, elapsed)
    levels = (committed_burst - meter.committed, other_burst - meter.other)
    # RFC 4115 asks for more tokens than the packet takes, the others for as many.
    left_over = 1 if entry.action == "two_rate_separate" else 0
    fits, fits_other = (size + left_over <= level for level in levels)
    if entry.action == "two_rate":
        conforms = before != RED and fits_other
        packet.colour = (GREEN if before == GREEN and fits else YELLOW) if conforms else RED
        takes = (packet.colour == GREEN, conforms)
    else:
        packet.colour = GREEN if before == GREEN and fits else YELLOW if before != RED and fits_other else RED
        takes = (packet.colour == GREEN, packet.colour == YELLOW)
    meter.committed += size * takes[0]
    meter.other += size * takes[1]
    for name, level, taken in zip(("committed", other), levels, takes, strict=True):
        left = level - size * taken
        packet.tokens[name if stage == "police" else f"output {name}"] = (
            level / TOKENS_PER_BYTE,
            left / TOKENS_PER_BYTE,
        )
    held = ", ".join(
        f"{name} bucket {decimals(level / TOKENS_PER_BYTE, 1)} bytes"
        for name, level in zip(("committed", other), levels, strict=True)
    )
    arrived = f", came {COLOURS[before]}" if before != GREEN else ""
    words = f"{COLOURS[packet.colour]}: {size // TOKENS_PER_BYTE} bytes, {held}{arrived}"
    packet.say(stage, words, entry.origin)


def _refilled(missing: int, entry: Entry, bucket: str, elapsed: int) -> int:
    gained = entry.parameters[f"{bucket}_rate"] * min(elapsed, entry.parameters[f"{bucket}_full_after"])
    return max(0, missing - gained)
