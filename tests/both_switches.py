"""The same policy and the same packets, one after the other, through the embedded switch and through bmv2.

bmv2 takes packets over gRPC, so that no interface and no rights are needed, and one packet is through before the next
one comes: it never has more than one packet queued, whatever else the machine does.
"""

import time
from dataclasses import dataclass

from phb.pipeline_names import COLOURS_PER_POLICY, REASONS_PER_CLASS, REASONS_PER_POLICY
from phb_device import Ports, missing, open_device

IN, OUT = 2, 1
COUNTED_WITHIN_S = 30
BETWEEN_PACKETS_S = 0.01

NODE = "phb: 1\nports: [{number: 1, name: line}, {number: 2, name: lan}]\ncross-connects: [{between: [line, lan]}]\n"


def starts():
    return not missing("bmv2", Ports.MEMORY)


@dataclass
class Seen:
    """The output of a switch: for each packet the frames that left, as (port, frame); and its counters at the end."""

    left: list
    counted: dict


def through_both(text, packets):
    """Send packets, each an (ingress port, frame), through the embedded switch and bmv2; return what each did."""
    ours = _through("phb-switch", text, packets, None)
    return ours, _through("bmv2", text, packets, ours)


def _through(name, text, packets, expected):
    """Send packets through one switch; `expected` only tells how long to wait for frames and for drop counters."""
    with open_device(name) as device:
        device.reset()
        intent = device.push(NODE + text, target="bmv2")
        left = []
        for number, (port, frame) in enumerate(packets):
            if device.virtual:
                device.advance(BETWEEN_PACKETS_S)
            left.append(device.exchange(port, frame, len(expected.left[number]) if expected else 0))
        deadline = time.monotonic() + COUNTED_WITHIN_S
        while (counted := _counted(device, intent)) != (expected.counted if expected else counted):
            if time.monotonic() > deadline:
                break
            time.sleep(0.1)
    return Seen(left, counted)


def _counted(device, intent):
    """Read packets and bytes of all counters that a policy moves, those that aren't zero."""
    policies = [0, *(policy.number for policy in intent.policies)]
    streams = [0, *(stream.number for stream in intent.streams)]
    cells = {
        "policy_traffic": _cells(policies, COLOURS_PER_POLICY),
        "policy_drops": _cells(policies, REASONS_PER_POLICY),
        "stream_traffic": _cells(streams, COLOURS_PER_POLICY),
        "drops": range(REASONS_PER_POLICY),
        "class_drops": _cells([0, *intent.classes.values()], REASONS_PER_CLASS),
        "class_marked": [0, *intent.classes.values()],
        "untracked_connections": [0],
        "applicability_segments": range(16),
        "applicability_connections": range(8),
        "applicability_sends": range(32),
        "applicability_before": range(1024),
        "conversation_enqueued": range(64),
        "conversation_transmitted": range(64),
        "conversation_early_drops": range(64),
        "port_transmit": [IN, OUT],
    }
    return {name: device.counter(name, indexes) for name, indexes in cells.items()}


def _cells(numbers, width):
    return [number * width + cell for number in numbers for cell in range(width)]


def alike(text, packets):
    """Assert that both switches did the same; return the frames that left and the counters."""
    ours, theirs = through_both(text, packets)
    for number, (left, other) in enumerate(zip(ours.left, theirs.left, strict=True)):
        assert left == other, f"packet {number}"
    assert ours.counted == theirs.counted
    return ours
