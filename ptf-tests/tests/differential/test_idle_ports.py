"""Two thousand cases in which each packet has left before the next one comes: every stage but what needs a queue."""

from itertools import product

import pytest

from phb.model import MARKS

from .cases import on_idle_ports
from .comparing import through_idle_ports

BATCHES, CASES = 2, 1000
HOOKS = ("input", "output")
METERS = ("single-rate", "two-rate", "two-rate-separate")
SIGHTS = ("aware", "blind")
COLOURS = ("green", "yellow", "red")
DROPS = ("NOT_IP", "BAD_CHECKSUM", "NO_ROUTE", "TTL_EXPIRED", "DISCARD_ROUTE", "BLOCKED", "POLICED", "NO_BUFFER")


@pytest.mark.parametrize("batch", range(BATCHES))
def test_model_and_switch_agree(run_cases, batch):
    run_cases(on_idle_ports(), through_idle_ports, CASES, batch)


def test_everything_came_up(tally):
    if tally["cases"] < BATCHES * CASES:
        pytest.skip("only some of the batches ran")
    print(tally)
    tally.expect(125, *(f"{hook} rule of IPv{version}" for hook in HOOKS for version in (4, 6)))
    tally.expect(12, *(f"{hook} aggregate of {kind}" for hook in HOOKS for kind in ("IPv4", "IPv6", "no IP")))
    tally.expect(25, "input direction outgoing", "input direction incoming")
    tally.expect(2, *(" ".join(each) for each in product(["input"], METERS, SIGHTS, COLOURS)))
    # At an output a third as many are metered, some of these in two or three cases of a run.
    for meter, sight, colour in product(METERS, SIGHTS, COLOURS):
        count = tally[f"output {meter} {sight} {colour}"]
        tally[f"output {meter} {colour}"] += count
        tally[f"output {sight} {colour}"] += count
    tally.expect(2, *(f"output {kind} {colour}" for kind in (*METERS, *SIGHTS) for colour in COLOURS))
    tally.expect(12, *(f"{hook} mark{by} {mark}" for hook in HOOKS for by in ("", " by colour") for mark in MARKS))
    tally.expect(125, "cross-connect", "route of IPv4", "route of IPv6", "packet-out", "to the controller")
    tally.expect(250, "no schedule", *(f"schedule {kind}" for kind in ("fifo", "fair-queue", "classes")))
    tally.expect(75, *(f"outcome {reason}" for reason in DROPS))
    tally.expect(2, "outcome CONNECTION_LIMIT")
