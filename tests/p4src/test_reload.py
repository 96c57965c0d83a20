"""A program that is loaded anew drops what waits; what it carries over must not count that as queued."""

import pytest
from finsy.proto import p4r

from phb_device.control import Control
from phb_switch import P4RuntimeServer, PortConfig, Switch

from .conftest import IN, OUT, datagram
from .test_overload import OCCUPANCY, held

QUEUEING = """
queueing:
  - port: line
    schedule: {kind: fair-queue, dialect: ios-hqf, dynamic-conversations: 16}
    hold-queue: 50
"""


@pytest.mark.parametrize("action", ["VERIFY_AND_COMMIT", "RECONCILE_AND_COMMIT"])
def test_nothing_stays_counted_when_the_program_is_loaded_again(push, action):
    switch = Switch("dut", {OUT: PortConfig(0), IN: PortConfig()})
    push(switch, QUEUEING)
    for number in range(50):
        switch.process(IN, datagram(number, flow=number), 0)
    assert sum(held(switch, "port_occupancy").values()) == 49
    server = P4RuntimeServer(switch, device_id=1)
    try:
        with Control(f"127.0.0.1:{server.start()}", election_id=2) as control:
            control.set_program(p4r.SetForwardingPipelineConfigRequest.Action.Value(action))
    finally:
        server.stop()
    assert {name: held(switch, name) for name in OCCUPANCY} == {name: {} for name in OCCUPANCY}
    statistics = switch.statistics()
    assert statistics["dropped"]["reloaded"] == 49
    assert switch.check() == 0
