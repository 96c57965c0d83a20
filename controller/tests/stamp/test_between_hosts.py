"""Two Linux hosts and a switch between them: what test packets tell is what its policy does."""

import json
import sys
from contextlib import ExitStack

import pytest
from router.hosts import Host, unavailable
from router.processes import Switch, push

from .conftest import Reflector

REASON = unavailable()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON or "available")

# Bulk leaves with another mark; a tenth of a second is what a packet of 1,000 bytes takes on the slow line.
POLICY = """\
phb: 1
node: s
ports:
  - {name: left, number: 1}
  - {name: right, number: 2, rate: {value: 80, unit: kbit/s, basis: ethernet}}
cross-connects:
  - {between: [left, right]}
classes: [{name: voice}, {name: bulk}]
actions:
  - {name: voice, class: voice}
  - {name: bulk, class: bulk, set-dscp: CS1}
behaviour-aggregates:
  - {name: voice, dscp: EF, actions: [voice]}
  - {name: bulk, dscp: AF11, actions: [bulk]}
queueing:
  - port: right
    shaper: {rate: {value: 80, unit: kbit/s, basis: ethernet}}
    schedule:
      kind: classes
      queues: [{class: voice, level: 0}, {class: bulk, bandwidth: {weight: 1}}]
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    with ExitStack() as stack:
        left = Host(stack, "02:00:00:00:01:01", "10.0.0.1/24", "2001:db8::1/64")
        right = Host(stack, "02:00:00:00:02:01", "10.0.0.2/24", "2001:db8::2/64")
        switch = Switch(stack, f"1@{left.port}", f"2@{right.port}")
        policy = tmp_path_factory.mktemp("policy") / "policy.yaml"
        policy.write_text(POLICY)
        push(switch.address, policy)
        inside = ("ip", "netns", "exec", right.space)
        reflectors = {host: Reflector(stack, inside=inside, bind=host) for host in ("10.0.0.2", "2001:db8::2")}
        yield left, reflectors


@pytest.mark.parametrize("address", ["10.0.0.2", "2001:db8::2"])
def test_what_a_policy_does(network, address):
    left, reflectors = network
    phb = [sys.executable, "-m", "phb", "stamp", "send", reflectors[address].address, "--json"]
    asked = ("--dscp", "EF", "--dscp", "AF11", "--reply-dscp", "EF", "--size", "800")
    told = json.loads(left.run(*phb, *asked, "--count", "4", "--interval", "0.25"))
    voice, bulk = told["sessions"]
    assert (voice["replies"], bulk["replies"]) == (4, 4)
    assert (voice["request_dscps"], bulk["request_dscps"]) == ({"46": 4}, {"8": 4})
    assert bulk["reply_dscps"] == {"46": 4}
    # Both clocks are one machine's. Only the way there has a slow line: 84 ms and more for so many octets.
    for session in (voice, bulk):
        assert session["kernel_times"] == {"sent": 4, "returned": 4}
        assert session["there_ms"]["min"] > 80 > session["back_ms"]["min"]
