"""bmv2 and the embedded switch tell flows apart by the same keys in the same way. Skipped where bmv2 isn't."""

from random import Random

import pytest

from phb_device import open_device
from tests.both_switches import starts
from tests.p4src.test_conversation_keys import packets

SLOTS = 4096
POLICY = f"""
phb: 1
ports: [{{number: 1, name: line}}, {{number: 2, name: lan}}]
cross-connects: [{{between: [line, lan]}}]
queueing:
  - port: line
    schedule: {{kind: fair-queue, dialect: ios-hqf, dynamic-conversations: {SLOTS}}}
"""


def conversations(name):
    """The slots that packets took, one after the other, so that none has to give way to another."""
    with open_device(name) as device:
        device.reset()
        device.push(POLICY, target="bmv2-sp-pifo", draw=Random(2).getrandbits)
        for frame in packets():
            device.exchange(2, frame, 1)
            if device.virtual:
                device.advance(0.01)
        return device.counter("conversation_enqueued", range(SLOTS))


@pytest.mark.skipif(not starts(), reason="simple_switch_grpc is not on the PATH")
def test_the_same_keys_give_the_same_conversations():
    ours = conversations("phb-switch")
    assert len(ours) == len(packets())
    assert conversations("bmv2-sp-pifo") == ours
