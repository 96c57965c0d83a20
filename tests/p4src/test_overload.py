"""Any policy, any overload, any pause: then an idle line carries every flow, at once, and nothing is counted as queued.

What a switch drops where no program looks (its own limit of a port, a priority that has no queue) must not stay in the
program's account of what is queued: a port that seems full for ever is closed for ever.
"""

import random
from dataclasses import dataclass

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from phb.pipeline_names import OCCUPANCY
from phb_switch import Network, PortConfig, Switch
from tests.examples import share

from .conftest import IN, LINE_OVERHEAD, OUT, datagram

CLASSES = ("c0", "c1", "c2")
SECOND = 1_000_000_000
PROBES = 64
FIRST_PROBE = 1_000_000
# An average queue of early detection has to go down first, from however many packets: an hour of an idle line does it.
PAUSE_AFTER_EARLY_DETECTION = 3600 * SECOND


@dataclass(frozen=True)
class Policy:
    """Text of a queueing section, and whether it drops by an average that outlives its queue."""

    text: str
    early: bool


def fair(draw):
    dialect = draw(st.sampled_from(["ios-11.3", "ios-12", "ios-hqf"]))
    slots = draw(st.sampled_from([16, 256]))
    threshold = draw(st.sampled_from([1, 3, 64, 4096]))
    return f"dialect: {dialect}, dynamic-conversations: {slots}, congestive-discard-threshold: {threshold}"


def early_detection(draw):
    weight, minimum = draw(st.integers(1, 9)), draw(st.integers(1, 20))
    maximum = minimum + draw(st.integers(1, 20))
    return f"{{average-weight: {weight}, profiles: [{{minimum: {minimum}, maximum: {maximum}}}]}}"


def class_queue(draw, name, weighs):
    parts = [f"class: {name}"]
    if not weighs and draw(st.booleans()):
        parts.append(f"level: {draw(st.integers(0, 2))}")
    else:
        parts.append(f"bandwidth: {{weight: {draw(st.integers(1, 60))}}}")
        if draw(st.booleans()):
            parts.append("fair-queue: {" + fair(draw).replace("ios-11.3", "ios-hqf").replace("ios-12", "ios-hqf") + "}")
    # Without a limit the port's is the only one.
    if draw(st.booleans()):
        parts.append(f"queue-limit: {draw(st.integers(1, 60))}")
    early = draw(st.booleans()) and "level" not in parts[1]
    if early:
        parts.append(f"early-detection: {early_detection(draw)}")
    return "{" + ", ".join(parts) + "}", early


@st.composite
def policies(draw):
    """A policy whose packets go into classes by their precedence: 0, 1 and 2."""
    lines = [f"classes: [{', '.join(f'{{name: {name}}}' for name in CLASSES)}]", "actions:"]
    lines += [f"  - {{name: to-{name}, class: {name}}}" for name in CLASSES]
    lines.append("rules:")
    lines += [
        f"  - {{name: {name}, match: {{precedence: {number}}}, actions: [to-{name}]}}"
        for number, name in enumerate(CLASSES)
    ]
    lines += ["queueing:", "  - port: line"]
    hold = draw(st.sampled_from([None, 1, 20, 4000]))
    if hold:
        lines.append(f"    hold-queue: {hold}")
        lines.append(f"    push-out: {str(draw(st.booleans())).lower()}")
    kind = draw(st.sampled_from(["fifo", "fair-queue", "classes"]))
    early = False
    if kind == "classes":
        lines += ["    schedule:", "      kind: classes", "      queues:"]
        for number, name in enumerate((*CLASSES[: draw(st.integers(1, 3))], "class-default")):
            queue, drops_early = class_queue(draw, name, weighs=name == "class-default" or number == 2)
            lines.append(f"        - {queue}")
            early |= drops_early
    elif kind == "fair-queue":
        lines.append(f"    schedule: {{kind: fair-queue, {fair(draw)}}}")
    else:
        lines.append("    schedule: {kind: fifo}")
        early = draw(st.booleans())
        if early:
            lines.append(f"    early-detection: {early_detection(draw)}")
    if draw(st.booleans()):
        # Every packet alone has room in the pool.
        lines += ["    buffers:", f"      shared-bytes: {draw(st.integers(3000, 40_000))}", "      holes: 2"]
        lines.append(f"      private: [{{action: to-c0, bytes: {draw(st.integers(0, 5000))}}}]")
    return Policy("\n".join(lines) + "\n", early)


@st.composite
def port_configs(draw):
    """How a switch limits a port itself: by a PIFO, or by queues of priorities, not each of which may have one."""
    rate = draw(st.sampled_from([256_000, 2_000_000, 100_000_000]))
    buffer = draw(st.sampled_from([1, 5, 50, 4096]))
    ring = draw(st.sampled_from([0, 4]))
    if draw(st.booleans()):
        return {"rate_bps": rate, "buffer_packets": buffer, "transmit_ring": ring}
    depth = draw(st.sampled_from([1, 5, 64]))
    queues = draw(st.sampled_from([1, 3, 8]))
    strict = {"strict_priority": True, "queues": queues, "queue_depth": depth}
    return {"rate_bps": rate, "buffer_packets": buffer, "transmit_ring": ring, **strict}


@dataclass(frozen=True)
class Overload:
    """Random flows: how many packets, of how many flows, how far apart at most."""

    seed: int
    packets: int
    flows: int
    gap_ns: int

    def frames(self, start):
        draw = random.Random(self.seed)
        frames = []
        for _ in range(self.packets):
            start += draw.randint(0, self.gap_ns)
            flow, size = draw.randrange(self.flows), draw.choice([20, 500, 1400])
            frames.append((start, datagram(0, flow=flow, precedence=flow % 8, payload=size)))
        return frames


overloads = st.builds(
    Overload,
    seed=st.integers(0, 1 << 32),
    packets=st.integers(20, 250),
    flows=st.sampled_from([1, 8, 40, 2000]),
    gap_ns=st.sampled_from([0, 1000, 1_000_000]),
)


@given(
    policies(),
    st.none() | policies(),
    port_configs(),
    overloads,
    overloads,
    st.sampled_from([1, SECOND, 100 * SECOND]),
)
# What fails is printed as it was drawn: to look for a smaller one takes minutes, and these are small enough.
@settings(
    max_examples=share(60),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    phases=(Phase.generate,),
)
def test_after_any_overload_an_idle_line_carries_every_flow(push, policy, other, config, first, second, pause):
    rate = config["rate_bps"]
    line = PortConfig(overhead_bytes=LINE_OVERHEAD, **config)
    switch = Switch("dut", {OUT: line, IN: PortConfig()})
    push(switch, policy.text, rate)
    overload = first.frames(1000)
    pushed_at = overload[-1][0] + 1
    overload += second.frames(pushed_at)
    # All that waits is gone by then, be it every packet.
    drained = overload[-1][0] + 500 * 1500 * 8 * SECOND // rate
    pause += (policy.early or (other is not None and other.early)) * PAUSE_AFTER_EARLY_DETECTION
    at, probes, due = drained + pause, [], []
    for number in range(PROBES):
        frame = datagram(FIRST_PROBE + number, flow=7 * number, precedence=number % 8, payload=200)
        probes.append((at, frame))
        takes = (len(frame) + LINE_OVERHEAD) * 8 * SECOND // rate
        due.append((FIRST_PROBE + number, at + takes))
        at += takes + 2000
    network = Network(1)
    network.add_switch(switch)
    network.add_replay("sender", overload + probes)
    network.add_replay("receiver", [])
    network.connect("sender", 0, "dut", IN)
    network.connect("receiver", 0, "dut", OUT)

    network.run(pushed_at)
    if other is not None:
        push(switch, other.text, rate)
    network.run(drained)
    assert switch.statistics()["queued"] == 0
    assert {name: held(switch, name) for name in OCCUPANCY} == {name: {} for name in OCCUPANCY}
    if "queues" in config:
        # Now every priority has a queue: what never could pass is no flow that has to.
        switch.set_port(OUT, PortConfig(overhead_bytes=LINE_OVERHEAD, **{**config, "queues": 8}))
    network.run(at + SECOND)

    arrived = [
        (sequence, time)
        for time, frame in network.received("receiver")
        if (sequence := number_of(frame)) >= FIRST_PROBE
    ]
    assert [sequence for sequence, _ in arrived] == [sequence for sequence, _ in due]
    # At once: no tag of the time before makes a flow wait. A nanosecond for the rounding of both times.
    assert all(abs(time - when) <= 1 for (_, time), (_, when) in zip(arrived, due, strict=True))
    assert {name: held(switch, name) for name in OCCUPANCY} == {name: {} for name in OCCUPANCY}
    assert switch.check() == 0


@pytest.mark.parametrize("dialect", ["ios-11.3", "ios-12", "ios-hqf"])
def test_after_an_overload_flows_of_then_and_of_now_share_the_line(push, dialect):
    """Tags of the time before count no more: neither flow runs ahead of the other, nor waits for it."""
    old, new = 0, 999
    config = {"rate_bps": 2_000_000, "overhead_bytes": LINE_OVERHEAD}
    switch = Switch("dut", {OUT: PortConfig(buffer_packets=5, **config), IN: PortConfig()})
    push(
        switch,
        "queueing:\n  - port: line\n    hold-queue: 4000\n    schedule: {kind: fair-queue, "
        f"dialect: {dialect}, congestive-discard-threshold: 4096}}\n",
        config["rate_bps"],
    )
    overload = [(1000 + at, datagram(0, flow=old, payload=1400)) for at in range(200)]
    at = SECOND * 10
    # The first one goes to the line at once; the others wait behind it.
    later = [(at, datagram(FIRST_PROBE, flow=500, payload=200))]
    later += [(at + 1, datagram(FIRST_PROBE + 1 + number, flow=old, payload=200)) for number in range(10)]
    later += [(at + 1, datagram(FIRST_PROBE + 101 + number, flow=new, payload=200)) for number in range(10)]
    network = Network(1)
    network.add_switch(switch)
    network.add_replay("sender", overload + later)
    network.add_replay("receiver", [])
    network.connect("sender", 0, "dut", IN)
    network.connect("receiver", 0, "dut", OUT)
    network.run(at - 1)
    assert switch.statistics()["dropped"]["buffer"] > 100
    switch.set_port(OUT, PortConfig(**config))
    network.run(at + 10 * SECOND)
    left = [number_of(frame) - FIRST_PROBE for _, frame in network.received("receiver")]
    assert [number for number in left if number > 0] == [
        number for pair in zip(range(1, 11), range(101, 111), strict=True) for number in pair
    ]


def number_of(frame):
    return int.from_bytes(frame[42:46], "big")


def held(switch, register):
    """The cells that are not zero."""
    return {cell: value for cell, value in enumerate(switch.read_register(register)) if value}
