"""What becomes of the answers when policies are pushed, switches restart, agents die, and too much comes."""

import json
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from .hosts import PROCESS_ENVIRONMENT, Host, unavailable
from .processes import PHB, Router, Switch, push

REASON = unavailable()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON or "available")

POLICY = """\
phb: 1
node: r1
ports:
  - {number: 1, name: lan, mac: "02:00:00:00:01:fe", addresses: [10.0.1.254/24, "2001:db8:1::fe/64"]}
  - {number: 2, name: nobody, mac: "02:00:00:00:02:fe", addresses: [10.3.0.254/16]}
"""
MORE = POLICY + "routes: [{destination: 10.9.0.0/16, next-hop: 10.0.1.77}]\n"
FLOOD = Path(__file__).with_name("flood.py")


@pytest.fixture
def stack():
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def host(stack):
    host = Host(stack, "02:00:00:00:01:01", "10.0.1.1/24", "2001:db8:1::1/64")
    host.ip("route", "add", "default", "via", "10.0.1.254")
    return host


@pytest.fixture
def switch(stack, host, write_file):
    switch = Switch(stack, f"1@{host.port}")
    push(switch.address, Path(write_file("policy.yaml", POLICY)))
    return switch


@pytest.fixture
def router(stack, switch):
    router = Router(stack, switch.address)
    router.until("answering")
    return router


def neighbours(switch):
    """What the switch holds."""
    command = [*PHB, "show", "entries", "--address", switch.address, "--json"]
    shown = subprocess.run(command, env=PROCESS_ENVIRONMENT, check=True, capture_output=True, text=True).stdout
    return [entry["match"] for entry in json.loads(shown) if entry["table"].endswith(".neighbour")]


def answers(host):
    """Whether the router does, to a host that has forgotten it."""
    host.ip("neighbour", "flush", "dev", "eth0")
    return [host.ping(each).get("answer") for each in ("10.0.1.254", "2001:db8:1::fe")] == [
        "10.0.1.254",
        "2001:db8:1::fe",
    ]


def test_a_push_leaves_neighbours_where_they_are(host, switch, router, write_file):
    assert answers(host)
    held = neighbours(switch)
    assert len(held) >= 2
    push(switch.address, Path(write_file("more.yaml", MORE)))
    assert all(each in neighbours(switch) for each in held)
    assert answers(host)


def test_a_switch_that_restarts_is_answered_for_again(stack, host, switch, router, write_file):
    assert answers(host)
    switch.stop(signal.SIGKILL)
    router.until("unreachable")
    again = Switch(stack, f"1@{host.port}", address=switch.address)
    router.until("primary")
    push(again.address, Path(write_file("policy.yaml", POLICY)))
    router.until("answering")
    assert answers(host)


def test_an_agent_that_was_killed_is_followed_by_one_that_knows_what_it_knew(stack, host, switch, router):
    assert answers(host)
    held = neighbours(switch)
    router.stop(signal.SIGKILL)
    Router(stack, switch.address).until("answering")
    assert all(each in neighbours(switch) for each in held)
    assert answers(host)


def test_a_standby_takes_over_and_gives_back(stack, host, switch, router):
    second = Router(stack, switch.address, "--election-id", "2")
    second.until("answering")
    router.until("standby")
    assert answers(host)
    held = neighbours(switch)
    second.stop(signal.SIGKILL)
    router.until("answering")
    assert all(each in neighbours(switch) for each in held)
    assert answers(host)


@pytest.mark.parametrize(("what", "rate", "burst"), [("hops", 100, 20), ("echo", 500, 100), ("scan", 100, 20)])
def test_a_flood_is_answered_at_the_limited_rate_and_costs_no_memory(host, router, what, rate, burst):
    assert answers(host)
    before, began = router.resident_bytes(), time.monotonic()
    told = json.loads(host.run(sys.executable, str(FLOOD), what, "20000"))
    passed = time.monotonic() - began
    assert 0 < told["answers"] <= burst + rate * passed
    assert router.resident_bytes() < before + (64 << 20)
    assert answers(host)
