"""Stage wred: early drop or ECN mark on an average of the queue (RFC 2309, RFC 3168, RFC 7567).

Between the thresholds the switch drops at random. The model gives the probability, and lets the packet pass.
"""

from __future__ import annotations

from phb.explain.packet import TracedPacket
from phb.explain.stages.mark import write_marks
from phb.explain.state import PipelineState
from phb.explain.tables import Tables
from phb.explain.words import decimals
from phb.pipeline_names import DropReason

STAGE = "wred"
_THRESHOLDS = "PhbIngress.wred.thresholds"
_UNIT = 32  # bits after the point of averages, slopes and halvings
_LONGEST_IDLE = 0xFFFFFFFF  # us


def wred(packet: TracedPacket, tables: Tables, state: PipelineState) -> None:
    """Update the queue's average, and drop where it is above the maximum."""
    plan = packet.schedule
    key = {
        "profile": plan.profile,
        "traffic_class": plan.traffic_class,
        "tos": packet.flow.tos,
        "colour": packet.colour,
    }
    entry = tables.lookup(_THRESHOLDS, key)
    if entry is None:
        return
    plan.early = True
    weight, decay = entry.parameters["average_weight"], entry.parameters["halvings"]
    queue = state.averages[plan.queue]
    sample = plan.queued << _UNIT
    if plan.queued == 0 and decay:
        queue.average = _decayed(queue.average, packet.time_ns // 1000 - queue.left_us, decay)
    elif sample > queue.average:
        queue.average += sample - queue.average >> weight
    else:
        queue.average -= queue.average - sample >> weight
    if entry.action == "observe":
        return
    low, high = entry.parameters["minimum"], entry.parameters["maximum"]
    average = queue.average / (1 << _UNIT)
    if queue.average >= high << _UNIT:
        words = f"the queue's average of {average:.2f} packets has reached the maximum of {high}"
        packet.drop(STAGE, DropReason.WRED, words, entry.origin)
        return
    beyond = max(0, queue.average - (low << _UNIT))
    chance = ((beyond >> 16) * entry.parameters["slope"] >> 16) / (1 << _UNIT)
    packet.early_drop = min(1.0, chance)
    marks = entry.parameters["ecn"] and packet.flow.tos & 3
    outcome = "marked CE" if marks else "dropped"
    if packet.early_drop >= 1 and marks:
        packet.flow.tos |= 3
        write_marks(packet)
    elif packet.early_drop >= 1:
        packet.drop(STAGE, DropReason.WRED, f"average {average:.2f} packets: dropped for certain", entry.origin)
        return
    words = (
        f"average {average:.2f} packets of {low} to {high}: {outcome} with probability {decimals(packet.early_drop, 4)}"
    )
    packet.say(STAGE, words, entry.origin)


def _decayed(average: int, idle_us: int, decay: int) -> int:
    """Compute 2^-x with 1 - x/2 for the fraction of x, as the pipeline does."""
    halvings = min(idle_us, _LONGEST_IDLE) * decay
    if halvings >> _UNIT > 47:
        return 0
    average >>= halvings >> _UNIT & 0xFF
    return average - ((average >> 16) * (halvings >> 16 & 0xFFFF) >> 1)
