"""Fifty of the cases through bmv2 as well: model, embedded switch and bmv2 do the same to every packet.

bmv2's time is real, so meters get 1 bit/s: less than a byte within a case, which decides nothing. (RFC 4115 asks for
more tokens than bytes, which a part of a byte may decide; its meters are left to other tests.) Packets come over gRPC,
which takes no empty ones, one after the other.
"""

import json
import time

import pytest

from phb_device import Ports, missing, open_device
from phb_model.pipeline import Node

from .cases import on_idle_ports
from .comparing import DisagreementError, compare_counters, expectation, through_idle_ports
from .counting import layout, sums
from .policies import Shape
from .programmed import NOON, PORTS, read

CASES, BATCHES = 50, 1
SHAPE = Shape(rates=(1,), meters=("single-rate", "two-rate"), simple=True)
LEAVES_WITHIN_S = 30
COUNTED_WITHIN_S = 30


@pytest.fixture(scope="module")
def bmv2():
    reason = missing("bmv2", Ports.MEMORY)
    if reason:
        pytest.skip(reason)
    with open_device("bmv2", Ports.MEMORY) as device:
        yield device


@pytest.mark.parametrize("batch", range(BATCHES))
def test_model_and_both_switches_agree(run_cases, bmv2, batch):
    def through(device, case, tally):
        through_idle_ports(device, case, tally)
        bmv2.reset()
        _through_bmv2(bmv2, case)

    run_cases(on_idle_ports(SHAPE, 8, controller=False), through, CASES, batch)


def _through_bmv2(bmv2, case):
    intent = bmv2.push(json.dumps(case.policy))
    cells = layout(intent, PORTS)
    node = Node(read(case.policy), NOON)
    for number, sent in enumerate(case.sent):
        if not sent.frame:
            continue
        outcome = node.arrive(0, sent.port, sent.frame)
        bmv2.send(sent.port, sent.frame)
        # What is dropped is not waited for: should it leave after all, it is found in the next one's place.
        wanted = expectation(outcome, sent)[0]
        left = [bmv2.poll(LEAVES_WITHIN_S) for _ in wanted]
        found = [(each.port, each.frame.hex()) for each in left if each is not None]
        if found != wanted:
            what = f"packet {number}, or one before it that should have been dropped\nbmv2  {found}\nmodel {wanted}"
            what += f"\nafter that: {bmv2.poll(LEAVES_WITHIN_S)}; the process: {bmv2.process.ended or 'runs'}"
            raise DisagreementError(what, case, case.sent[: number + 1], outcome)
    deadline = time.monotonic() + COUNTED_WITHIN_S
    while True:
        # A dropped packet may still be on its way to its counters.
        try:
            compare_counters(node, sums(cells, _values(bmv2, cells)), case)
            break
        except DisagreementError:
            if time.monotonic() > deadline:
                raise
    late = bmv2.poll(0)
    if late is not None:
        raise DisagreementError(f"bmv2 sent what the model drops: {late}", case, case.sent)


def _values(bmv2, cells):
    """Packets and bytes of all cells, by one read."""
    wanted = {}
    for each in cells:
        wanted.setdefault(each.name.rpartition(".")[2], []).extend(range(each.first, each.first + each.count))
    read = bmv2.counters(wanted)
    values = []
    for each in cells:
        counted = read[each.name.rpartition(".")[2]]
        found = [counted.get(index, (0, 0)) for index in range(each.first, each.first + each.count)]
        values.append((sum(packets for packets, _ in found), sum(octets for _, octets in found)))
    return values
