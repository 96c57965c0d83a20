"""SP-PIFO by hand, and the P4 against it: every packet's queue, every bound, every departure."""

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from phb_conform.numbered import OUT, Flow, frame, number_of
from phb_conform.strict_queues import QUEUES, TARGET
from phb_device import CONNECTED, InProcess
from phb_model.packets import NANOSECONDS, Job, Line
from phb_model.service_order import serve
from phb_model.sp_pifo import Disorder, ExactRanks, Ranked, StrictQueues
from phb_switch import Network, PortConfig
from tests.examples import share

RATE_BPS = 8_000_000  # a byte takes a microsecond
SHARED_LEVEL = 7 << 60


def popped(queues):
    left = []
    while any(queues._queues):
        left.append(queues.pop()[1])
    return left


def test_bounds_rise_to_what_joins_and_fall_by_what_is_missed():
    queues = StrictQueues(3)
    for number, (rank, bounds) in enumerate(
        [
            (50, [50, 0, 0]),  # reaches the first bound
            (20, [50, 20, 0]),
            (60, [60, 20, 0]),
            (30, [60, 30, 0]),
            (25, [60, 30, 25]),
            (10, [45, 15, 10]),  # below all: joins the highest queue, 15 too late
            (45, [45, 15, 10]),
        ]
    ):
        queues.push(rank, number)
        assert queues.bounds == bounds
    assert popped(queues) == [4, 5, 1, 3, 0, 2, 6]


def test_bounds_begin_anew_when_nothing_waits():
    queues = StrictQueues(2)
    queues.push(900, 0)
    queues.push(700, 1)
    assert popped(queues) == [1, 0]
    queues.push(5, 2)
    assert queues.bounds == [5, 0]


def test_disorder_by_hand():
    # All at once. Ranks 40, 30, 20, 10, 50 in two queues: the first takes 40 and 50, the other the rest as they come.
    queue = Ranked(StrictQueues(2), {"a": 4, "b": 3, "c": 2, "d": 1})
    for number, session in enumerate("abcd"):
        queue.arrive(number, Job(0, session, 80))
    queue.arrive(4, Job(0, "d", 80 * 4))
    assert [queue.take() for _ in range(5)] == [1, 2, 3, 0, 4]
    # 30 left before 20 and 10, and 20 before 10.
    assert queue.disorder == Disorder(packets=5, inverted=2, overtaken=3, missed=20 + 10, reordered=0)


def test_a_later_packet_of_a_session_may_be_first():
    queue = Ranked(StrictQueues(2), {"a": 1, "b": 10})
    # a: 30 in the first queue. b: 100 raises the first bound. a again: 40 finds the second queue.
    for number, (session, length) in enumerate([("a", 30), ("b", 10), ("a", 10)]):
        queue.arrive(number, Job(0, session, length * 8))
    assert [queue.take() for _ in range(3)] == [2, 0, 1]
    assert queue.disorder == Disorder(packets=3, inverted=1, overtaken=1, missed=10, reordered=1)


def test_exact_ranks_have_no_disorder():
    queue = Ranked(ExactRanks(), {"a": 1, "b": 10})
    packets = [Job(100 * number, "ab"[number % 2], 8 * (100 + number)) for number in range(50)]
    assert len(serve(packets, queue, Line(RATE_BPS))) == 50
    assert queue.disorder == Disorder(50, 0, 0, 0, 0)


SHARES = {"a": 50, "b": 30, "class-default": 20}
WEIGHTS = {"a": 6, "b": 10, "class-default": 15}  # in inverse proportion
FLOWS = {session: Flow(session, 1001 + number) for number, session in enumerate(SHARES)}
POLICY = """classes: [{{name: a}}, {{name: b}}, {{name: strict}}]
actions: [{{name: to-a, class: a}}, {{name: to-b, class: b}}]
rules:
  - {{name: a, match: {{source-ports: 1001}}, actions: [to-a]}}
  - {{name: b, match: {{source-ports: 1002}}, actions: [to-b]}}
queueing:
  - port: line
    hold-queue: 64
    schedule:
      kind: classes
      queues:
        {level}
        - {{class: a, bandwidth: {{percent: 50}}}}
        - {{class: b, bandwidth: {{percent: 30}}}}
        - {{class: class-default, bandwidth: {{percent: 20}}}}
"""


class Recorded(StrictQueues):
    """Remembers the bounds after each packet."""

    def __init__(self, queues):
        super().__init__(queues)
        self.history = []

    def push(self, rank, number):
        super().push(rank, number)
        self.history.append([*self.bounds])


@pytest.fixture(scope="module", params=[2, 5, 8])
def device(request):
    """A port with so many queues for ranks. Tests follow each other on it: ranks begin anew as soon as it is empty."""
    level = f"- {{class: strict, level: {QUEUES - 1 - request.param}}}" if request.param < QUEUES else ""
    with InProcess(strict_priority=True) as device:
        device.reset()
        device.push(CONNECTED + POLICY.format(level=level), target=TARGET)
        device.switch.set_port(OUT, PortConfig(RATE_BPS, queues=QUEUES, strict_priority=True))
        device.queues = request.param
        yield device


@given(
    st.lists(
        st.tuples(st.integers(1, 2_000_000), st.sampled_from([*SHARES]), st.integers(60, 1514)), min_size=1, max_size=60
    ),
)
@settings(max_examples=share(40), deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
def test_the_p4_does_what_the_paper_says(device, drawn):
    start = time = device.now + 1
    packets, frames = [], []
    for number, (gap, session, length) in enumerate(drawn):
        time += gap
        packets.append(Job(time, session, length * 8))
        frames.append((time, frame(number, FLOWS[session], length)))
    model = Recorded(device.queues)
    served = serve(packets, Ranked(model, WEIGHTS, most_in_all=64), Line(RATE_BPS))

    network = Network(1)
    network.add_switch(device.switch)
    network.add_replay("sender", frames)
    network.add_replay("receiver", [])
    network.connect("sender", 0, "dut", 2)
    network.connect("receiver", 0, "dut", OUT)
    for packet, bounds in zip(packets, model.history, strict=True):
        network.run(packet.time_ns)
        held = device.switch.read_register("queue_bound", OUT * QUEUES, device.queues)
        # A rank has the level in its upper bits: shares are behind all strict levels.
        assert [bound and bound - SHARED_LEVEL for bound in held] == bounds
    network.run(start + 10 * NANOSECONDS)
    device.advance(11)
    assert [(number_of(data), time) for time, data in network.received("receiver")] == [
        (service.number, service.departure_ns) for service in served
    ]
