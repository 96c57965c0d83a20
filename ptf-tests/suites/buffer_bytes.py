"""Stage buffer, bytes: private buffers of streams, and the pool that they share (p4src/buffer.p4).

A packet lies in its stream's private buffer as far as that has room; what is beyond has to be, with what the stream
holds of the pool already, at most one part in `holes` of what is left of the pool.
"""

from __future__ import annotations

from collections.abc import Sequence

from phb.pipeline_names import DropReason
from phb.targets import Capability
from phb_device import CONNECTED, entry
from phb_ptf.case_tests import cases
from phb_ptf.cases import ByHand, Case
from phb_ptf.entries import rule, scheduler
from phb_ptf.queues import QueueUp, Waiting, flow, flow_ports, port_range

NEEDS = [Capability.BUFFERS]
FULL = DropReason.NO_BUFFER


def buffered(
    name: str, why: str, pool: int, holes: int, private: dict[str, int], queued: Sequence[QueueUp], hold_queue: int = 64
) -> Case:
    """Make a case of packets that wait at a port with buffers, one batch of `queued` after the other.

    A stream holds at most one part in `holes` of what is left of the `pool`, in bytes. `private` are bytes that belong
    to a flow, by its letter; the others have none.
    """
    policy = f"{CONNECTED}actions: [{{name: a}}, {{name: b}}, {{name: c}}]\nrules:\n"
    for letter in "abc":
        match = f"{{egress-port: line, destination-ports: {flow_ports(letter)}}}"
        policy += f"  - {{name: {letter}, match: {match}, actions: [{letter}]}}\n"
    own = ", ".join(f"{{action: {owner}, bytes: {size}}}" for owner, size in private.items())
    policy += f"queueing:\n  - port: line\n    schedule: {{kind: fifo}}\n    hold-queue: {hold_queue}\n"
    policy += f"    buffers: {{shared-bytes: {pool}, holes: {holes}, private: [{own}]}}\n"
    shared = {"pool": 1, "shared_bytes": pool, "holes": holes}
    entries = [
        scheduler("fifo"),
        entry("buffer.port_limit", {"profile": 1}, "set_limits", hold_queue_packets=hold_queue, conversation_packets=0),
        entry("buffer.stream_buffer", {"profile": 1}, "account", priority=1, index=0, private_bytes=0, **shared),
    ]
    for number, letter in enumerate("abc", 1):
        stream = number if letter in private else 0
        entries += rule(10 + number, stage="output", stream=stream, egress_port=1, destination_port=port_range(letter))
        if stream:
            entries.append(
                entry(
                    "buffer.stream_buffer", {"profile": 1, "stream": f"{stream:#x}/&0xfff"}, "account", priority=2,
                    index=number, private_bytes=private[letter], **shared,
                )
            )  # fmt: skip
    return Case(name, why, queued, policy, ByHand(entries, {"a": 11, "b": 12, "c": 13}), needs=NEEDS)


def kept(names: str, size: int = 100) -> list[Waiting]:
    """Return packets that find room; their rule has the name of their flow."""
    return [each for name in names.split() for each in flow(name, size=size, rule=name[0])]


def refused(names: str, size: int = 100, drop: DropReason = FULL) -> list[Waiting]:
    """Return packets that find none."""
    return [each for name in names.split() for each in flow(name, size=size, rule=name[0], drop=drop)]


cases(
    globals(),
    # The pool of 200 bytes lets a stream have 100, once it is there 50.
    buffered("private", "a stream's own bytes are more or fewer than it was given",
             200, 2, {"a": 300}, [QueueUp([*kept("a1 a2 a3 a4"), *refused("a5")], "a1 a2 a3 a4")]),
    buffered("private_of_others", "a stream takes another's private buffer",
             120, 2, {"a": 300}, [QueueUp([*refused("b1"), *kept("a1 a2 a3"), *refused("b2 a4")], "a1 a2 a3")]),
    buffered("private_each", "two streams have one private buffer, or one has the other's",
             120, 2, {"a": 100, "b": 200}, [QueueUp([*kept("a1"), *refused("a2"), *kept("b1 b2"), *refused("b3")],
                                                    "a1 b1 b2")]),
    buffered("bytes_not_packets", "private buffers count packets",
             120, 2, {"a": 300}, [QueueUp([*kept("a1 a2 a3 a4 a5", 60), *refused("a6", 61)], "a1 a2 a3 a4 a5")]),
    buffered("a_packet_in_both", "a packet that the private buffer has no room for as a whole is all in the pool",
             200, 2, {"a": 250}, [QueueUp([*kept("a1 a2"), *kept("a3", 150), *refused("a4", 60)], "a1 a2 a3")]),
    buffered("half_of_the_pool", "the first stream takes more than its part of the pool, or less",
             400, 2, {}, [QueueUp([*refused("b1", 201), *kept("b2", 200), *refused("b3", 60)], "b2")]),
    buffered("all_of_the_pool", "a stream that may have all that is left can't",
             400, 1, {}, [QueueUp([*kept("b1 b2"), *refused("b3", 101), *refused("b4")], "b1 b2")]),
    buffered("a_quarter_of_the_pool", "holes aren't what a part of the pool is divided by",
             400, 4, {}, [QueueUp([*refused("b1", 101), *kept("b2"), *refused("b3", 60)], "b2")]),
    # 600: a has 100 of 600, 200 of 500, not 300 of 400; then b 100 of 400, not 200 of 300 when asked twice.
    buffered("a_pool_for_two", "streams don't share one pool, or one's part counts for the other",
             600, 2, {"a": 0, "b": 0}, [QueueUp([*kept("a1 a2"), *refused("a3"), *kept("b1"), *refused("b2", 101)],
                                                "a1 a2 b1")]),
    buffered("without_private_one_stream", "flows without a private buffer have a part of the pool each",
             600, 2, {"a": 0}, [QueueUp([*kept("b1 c1"), *refused("b2 c2"), *kept("a1")], "b1 c1 a1")]),
    buffered("what_is_refused_takes_nothing", "a packet that finds no room takes bytes of the pool",
             400, 2, {}, [QueueUp([*refused("b1 b2 b3", 201), *kept("b4", 200)], "b4")]),
    buffered("hold_queue_first", "a packet that the hold queue has no room for takes bytes",
             10_000, 1, {"a": 400},
             [QueueUp([*kept("a1 b1"), *refused("a2 b2", drop=DropReason.HOLD_QUEUE)], "a1 b1")], hold_queue=2),
    buffered("given_back", "bytes of packets that have left aren't given back, private or of the pool",
             200, 2, {"a": 250}, 3 * [QueueUp([*kept("a1 a2"), *kept("a3", 150), *refused("a4", 60)], "a1 a2 a3")]),
)  # fmt: skip
