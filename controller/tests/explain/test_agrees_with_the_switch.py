"""The model decides what the switch decides: random policies, random packets, frame by frame."""

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from phb.pipeline_names import DropReason
from tests.examples import share

from .strategies import frames, policies

SECOND = 1_000_000_000

fifo = st.just({"port": "one", "schedule": {"kind": "fifo"}})
fair = st.builds(
    lambda dialect, port: {
        "port": port,
        "schedule": {"kind": "fair-queue", "dialect": dialect, "dynamic-conversations": 16},
        "length-basis": "ip",
    },
    st.sampled_from(["ios-11.3", "ios-12"]),
    st.sampled_from(["one", "two"]),
)
classes = st.builds(
    lambda gold, silver: {
        "port": "one",
        "schedule": {"kind": "classes", "queues": [{"class": "gold", **gold}, {"class": "silver", **silver}]},
    },
    st.sampled_from([{"level": 0}, {"bandwidth": {"percent": 30}}, {"level": 2}]),
    st.sampled_from(
        [
            {"bandwidth": {"percent": 20}},
            {"bandwidth": {"weight": 7}},
            {"fair-queue": {"dialect": "ios-hqf", "dynamic-conversations": 16}},
        ]
    ),
)
arrivals = st.lists(st.tuples(st.integers(1, 4), frames(), st.integers(1, SECOND)), min_size=1, max_size=12)


@given(policies(st.one_of(fifo, fair, classes)), arrivals)
@settings(max_examples=share(120), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_on_idle_ports(program, policy, drawn):
    both = program(policy)
    now = 0
    for port, frame, gap in drawn:
        now += gap
        drops = both.drops()
        packet = both.model.process(now, port, frame)
        cells = {4 * number for number in (packet.policy, packet.output_policy) if number} or {0}
        traffic = {cell: both.colours(cell) for cell in cells}
        sent = both.switch.process(port, frame, now)
        event(packet.drop_reason.name)
        dropped = [DropReason(reason) for reason, packets in enumerate(both.drops()) if packets > drops[reason]]
        assert dropped == ([packet.drop_reason] if packet.is_dropped() else [])
        for cell, before in traffic.items():
            counted = [after - once for after, once in zip(both.colours(cell), before, strict=True)]
            assert sum(counted) == 1
            # The input policy counts the colour that it gave; a later meter may give another one.
            if cell == 4 * (packet.output_policy or packet.policy):
                assert counted[packet.colour] == 1
        if packet.is_dropped():
            assert sent == []
            continue
        ((_, out, data),) = sent
        assert out == packet.egress_port
        assert data.hex() == packet.headers.frame.hex()
        slot = packet.schedule.slot
        if packet.schedule.rank:
            assert both.switch.read_register("conversation_finish", slot, 1) == [packet.schedule.finish]
