"""Switches for rollouts, and a state."""

import pytest

from controller.tests.rollout.fleet import FencedSwitch
from phb.state import State


@pytest.fixture
def switches():
    """Start some switches, and stop them after the test."""
    stops = []

    def start(count):
        started = [FencedSwitch() for _ in range(count)]
        stops.extend(switch.start() for switch in started)
        return started

    yield start
    for stop in stops:
        stop()


@pytest.fixture
def place(request, tmp_path):
    """Where a state may be made: a file, or with `postgresql` as its parameter a real database."""
    kind = getattr(request, "param", "sqlite")
    return str(tmp_path / "state.sqlite") if kind == "sqlite" else request.getfixturevalue("database")


@pytest.fixture
def state(place):
    """An open state."""
    with State(place) as opened:
        yield opened
