"""A thousand cases in which each port sends one packet and no more: all limits of queues, and early detection."""

import pytest

from .cases import on_full_ports
from .comparing import through_full_ports

BATCHES, CASES = 1, 1000

DROPS = ("HOLD_QUEUE", "QUEUE_LIMIT", "CONGESTIVE_DISCARD", "NO_BUFFER", "WRED")


@pytest.mark.parametrize("batch", range(BATCHES))
def test_model_and_switch_agree(run_cases, batch):
    run_cases(on_full_ports(), through_full_ports, CASES, batch)


def test_everything_came_up(tally):
    if tally["cases"] < BATCHES * CASES:
        pytest.skip("only some of the batches ran")
    print(tally)
    tally.expect(500, "waits", *(f"schedule {kind}" for kind in ("fifo", "fair-queue", "classes")))
    tally.expect(100, *(f"outcome {reason}" for reason in DROPS))
