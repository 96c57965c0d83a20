"""Names of the tables of the queueing stages, in the order in which a packet meets them."""

from __future__ import annotations

PORT_SCHEDULER = "PhbIngress.conversation.port_scheduler"
CLASS_QUEUE = "PhbIngress.conversation.class_queue"
PORT_LIMIT = "PhbIngress.buffer.port_limit"
STREAM_BUFFER = "PhbIngress.buffer.stream_buffer"
IDLE_STREAM = "PhbIngress.buffer.idle_stream"
THRESHOLDS = "PhbIngress.wred.thresholds"
SHAPER = "PhbIngress.schedule.shaper"
WEIGHT = "PhbIngress.schedule.weight"
MAP_RANKS = "PhbIngress.schedule.sp_pifo.map_ranks"

STAGE_ORDER = (
    PORT_SCHEDULER,
    CLASS_QUEUE,
    PORT_LIMIT,
    STREAM_BUFFER,
    IDLE_STREAM,
    THRESHOLDS,
    SHAPER,
    WEIGHT,
    MAP_RANKS,
)
