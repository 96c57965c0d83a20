"""`shape` of a class beside others: what leaves phb-switch, in virtual time, for a configuration."""

import asyncio

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

import phb
from phb_switch import Network, P4RuntimeServer, PortConfig, Switch

NODE = """\
phb: 1
ports: [{number: 1, name: FastEthernet0/1}, {number: 2, name: FastEthernet0/2}]
cross-connects: [{between: [FastEthernet0/1, FastEthernet0/2]}]
"""
IOS = """\
! phb: dialect ios-hqf
class-map match-all held
 match ip dscp af11
class-map match-all late
 match ip dscp af21
policy-map out
 class held
%s  queue-limit 4096
 class late
  queue-limit 4096
 class class-default
  queue-limit 4096
interface FastEthernet0/2
 bandwidth 10000
 hold-queue 4096 out
 service-policy output out
"""
LINE_BPS = 10_000_000
BITS = 8000  # of each frame
TOS = {"held": 0x28, "late": 0x48, "others": 0}


def frame(number, name):
    payload = number.to_bytes(4, "big").ljust(BITS // 8 - 42, b"\0")
    packet = IP(src="10.0.0.1", dst="10.0.0.2", tos=TOS[name]) / UDP(sport=1, dport=2) / payload
    return bytes(Ether(src="02:00:00:00:00:aa", dst="02:00:00:00:00:bb") / packet)


def leaving(tmp_path, statements, arrivals):
    """When and in which order packets leave, as (ns, number): `arrivals` are (ns, number, class)."""
    (tmp_path / "node.yaml").write_text(NODE)
    (tmp_path / "router.cfg").write_text(IOS % "".join(f"  {line}\n" for line in statements))
    ports = {1: PortConfig(), 2: PortConfig(rate_bps=LINE_BPS)}
    switch = Switch("router", ports)
    server = P4RuntimeServer(switch, device_id=1)
    try:
        asyncio.run(phb.push(f"127.0.0.1:{server.start()}", [tmp_path / "node.yaml", tmp_path / "router.cfg"]))
    finally:
        server.stop()
    network = Network(1)
    network.add_switch(switch)
    network.add_replay("lan", [(at, frame(number, name)) for at, number, name in arrivals])
    network.add_replay("line", [])
    network.connect("lan", 0, "router", 1)
    network.connect("line", 0, "router", 2)
    network.run(20_000_000_000)
    return [(at, int.from_bytes(bytes(left)[42:46], "big")) for at, left in network.received("line")]


@pytest.mark.parametrize(
    ("statements", "rate_bps", "burst_bits"),
    [
        (["shape average 1000000"], 1_000_000, 8000),
        (["shape average 1000000 80000 0"], 1_000_000, 80_000),
        (["bandwidth percent 50", "shape average 2000000 16000 0"], 2_000_000, 16_000),
        (["shape average percent 20"], 2_000_000, 8000),
        (["bandwidth percent 1", "shape average 4000000 40000 0"], 4_000_000, 40_000),
    ],
)
def test_a_class_gets_no_more_than_its_rate_and_the_others_the_rest(tmp_path, statements, rate_bps, burst_bits):
    held, others = range(300), range(1000, 1600)
    arrivals = [(0, number, "held") for number in held] + [(0, number, "others") for number in others]
    left = leaving(tmp_path, statements, arrivals)

    assert [number for _, number in left if number in held] == list(held)
    assert [number for _, number in left if number in others] == list(others)
    # What leaves for the class in any interval is what the rate brings in it, and a burst.
    times = [at for at, number in left if number in held]
    for first in range(len(times)):
        for last in range(first, len(times)):
            assert (last - first + 1) * BITS * 10**9 <= rate_bps * (times[last] - times[first] + 1) + burst_bits * 10**9
    # The line has no pause until the others have left.
    frame_ns = BITS * 10**9 // LINE_BPS
    until = max(place for place, (_, number) in enumerate(left) if number in others)
    assert [at for at, _ in left[: until + 1]] == [
        (place + 1) * frame_ns + left[0][0] - frame_ns for place in range(until + 1)
    ]
    # And the class gets its rate, once it is alone.
    assert times[-1] - times[-2] == BITS * 10**9 // rate_bps


def test_what_a_class_was_held_back_for_is_nobody_elses_lead(tmp_path):
    """Virtual time has passed the tags of what is held back; who comes later begins where those are who went on."""
    arrivals = [(0, number, "held") for number in range(60)] + [(0, number, "others") for number in range(1000, 1400)]
    arrivals += [(160_400_000, number, "late") for number in range(2000, 2050)]
    left = leaving(tmp_path, ["shape average 1000000 8000 0"], arrivals)
    after = [number for at, number in left if at > 162_000_000 and number >= 1000]
    assert abs(sum(number >= 2000 for number in after[:40]) - 20) <= 1
