"""In which order strict-priority queues give a batch: by level exactly, and by SP-PIFO as the model has it.

bmv2, skipped where it isn't installed, and the embedded switch with the same queues.
"""

import random

import pytest

from phb_conform.numbered import Flow, frame, number_of
from phb_conform.strict_queues import TARGET
from phb_device import CONNECTED, InProcess, Ports, missing, open_device
from phb_model.packets import Job
from phb_model.sp_pifo import Ranked, StrictQueues

NAMES = [f"c{number}" for number in range(7)]


def policy(queues):
    """Class i of source port 1000 + i; 7 is class-default."""
    rules = [
        f"  - {{name: {name}, match: {{egress-port: line, source-ports: {1000 + number}}}, actions: [{name}]}}\n"
        for number, name in enumerate(NAMES)
    ]
    return (
        f"{CONNECTED}classes: [{', '.join(f'{{name: {name}}}' for name in NAMES)}]\n"
        f"actions: [{', '.join(f'{{name: {name}, class: {name}}}' for name in NAMES)}]\n"
        f"rules:\n{''.join(rules)}"
        f"queueing: [{{port: line, hold-queue: 64, schedule: {{kind: classes, queues: [{', '.join(queues)}]}}}}]\n"
    )


@pytest.fixture(params=["bmv2", "phb-switch"])
def device(request):
    if request.param == "phb-switch":
        with InProcess(strict_priority=True) as device:
            device.reset()
            yield device
        return
    if reason := missing(TARGET, Ports.MEMORY):
        pytest.skip(reason)
    with open_device(TARGET) as device:
        device.reset()
        yield device


def departures(device, text, batch):
    """Places in a batch of (class, length), in the order in which they leave."""
    device.push(text, target=TARGET)
    frames = [frame(number, Flow(session, 1000 + session), length) for number, (session, length) in enumerate(batch)]
    return [number_of(data) for data in device.batch(frame(len(batch), Flow(7, 1007), 60), frames)]


def test_strict_levels_are_exact(device):
    batch = [(session, 60) for session in range(8) for _ in range(8)]
    random.Random(1).shuffle(batch)
    text = policy(f"{{class: {name}, level: {level}}}" for level, name in enumerate(NAMES))
    assert departures(device, text, batch) == sorted(range(len(batch)), key=lambda number: (batch[number][0], number))


SHARES = [30, 20, 15, 12, 10, 7, 5]  # percent; class-default has 1
WEIGHTS = {session: 420 // share for session, share in enumerate([*SHARES, 1])}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_ranks_leave_as_the_model_says(device, seed):
    draw = random.Random(seed)
    batch = [(draw.randrange(8), draw.choice((60, 300, 1000, 1514))) for _ in range(64)]
    # A packet-out has two bytes of header, which count where packets come so.
    model = Ranked(StrictQueues(8), WEIGHTS, bytes_added=0 if device.virtual else 2)
    for number, (session, length) in enumerate(batch):
        model.arrive(number, Job(0, session, length * 8))
    order = [model.take() for _ in batch]
    # docs/inside/scheduling.md has the sum of the three.
    assert model.disorder.inverted == 52
    text = policy(
        f"{{class: {name}, bandwidth: {{percent: {share}}}}}" for name, share in zip(NAMES, SHARES, strict=True)
    )
    assert departures(device, text, batch) == order
