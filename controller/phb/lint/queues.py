"""Queue limits and buffers that don't fit the port's hold queue."""

from __future__ import annotations

from collections.abc import Iterator

from phb.lint.finding import Check, Context, Finding, Severity
from phb.lint.traffic import MTU_BYTES, class_queues
from phb.model import Queueing

LIMIT, BUFFER, SMALL = "queue-limit-above-hold-queue", "buffer-above-hold-queue", "buffer-below-mtu"
SHAPED = "shaped-class-without-limit"


def _find(context: Context) -> Iterator[Finding]:
    for queueing, queue in class_queues(context.policy):
        if (
            queue.queue_limit is not None
            and queueing.hold_queue is not None
            and queue.queue_limit > queueing.hold_queue
        ):
            yield Finding(
                LIMIT,
                Severity.WARNING,
                queue.origin("queue_limit"),
                f"class '{queue.traffic_class}' may queue {queue.queue_limit} packets, and port '{queueing.port}' "
                f"holds {queueing.hold_queue}",
                "the hold queue counts all classes: it drops first, whichever class filled it",
                f"make the hold queue as long as all classes together, or the limit at most {queueing.hold_queue}",
            )
        unlimited = queue.queue_limit is None and queue.early_detection is None and not queueing.push_out
        if queue.shaper is not None and unlimited:
            yield Finding(
                SHAPED,
                Severity.WARNING,
                queue.shaper.origin(),
                f"class '{queue.traffic_class}' of port '{queueing.port}' is shaped to {queue.shaper.rate}, and "
                "nothing but the port's hold queue limits what waits in it",
                "what waits for the shaper's tokens fills the hold queue, and the other classes' packets are dropped",
                "give the class a queue limit below the hold queue",
            )
    for queueing in context.policy.queueing:
        yield from _buffers(queueing)


def _buffers(queueing: Queueing) -> Iterator[Finding]:
    buffers = queueing.buffers
    if buffers is None:
        return
    private = sum(buffer.bytes for buffer in buffers.private)
    if queueing.hold_queue is not None and private > queueing.hold_queue * MTU_BYTES:
        yield Finding(
            BUFFER,
            Severity.WARNING,
            buffers.origin("private"),
            f"private buffers of port '{queueing.port}' have {private} bytes, and its hold queue {queueing.hold_queue} "
            f"packets ({queueing.hold_queue * MTU_BYTES} bytes at most)",
            "the port drops when its hold queue is full, so what is promised beyond is nobody's",
            "make the hold queue longer, or the buffers smaller",
        )
    for buffer in buffers.private:
        if 0 < buffer.bytes < MTU_BYTES:
            yield Finding(
                SMALL,
                Severity.WARNING,
                buffer.origin("bytes"),
                f"the private buffer of '{buffer.action}' at port '{queueing.port}' has {buffer.bytes} bytes",
                f"no packet of {MTU_BYTES} bytes fits as a whole: such packets always need the shared pool, too",
                f"make it {MTU_BYTES} bytes at least, or leave it out",
            )


CHECK = Check(dict.fromkeys((LIMIT, SHAPED, BUFFER, SMALL), Severity.WARNING), _find)
