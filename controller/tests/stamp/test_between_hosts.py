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
        folder = tmp_path_factory.mktemp("policy")
        unix = ("--grpc-unix-socket", str(folder / "switch"))
        switch = Switch(stack, f"1@{left.port}", f"2@{right.port}", options=unix)
        policy = folder / "policy.yaml"
        policy.write_text(POLICY)
        push(switch.address, policy)
        inside = ("ip", "netns", "exec", right.space)
        reflectors = {host: Reflector(stack, inside=inside, bind=host) for host in ("10.0.0.2", "2001:db8::2")}
        yield left, reflectors, folder


@pytest.mark.parametrize("address", ["10.0.0.2", "2001:db8::2"])
def test_what_a_policy_does(network, address):
    left, reflectors, _ = network
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


INVENTORY = """\
phb-inventory: 1
switches:
  - {name: s, address: "unix:switch", policies: [policy.yaml]}
stamp:
  - {name: the call, class: voice, dscp: EF, path: [s], common-clock: true, REFLECTOR, size: 800, wait: 5}
  - {name: nobody, class: bulk, dscp: AF11, reflector: "10.0.0.2:9", size: 800, rate: 20, wait: 1}
"""


def test_beside_what_the_switch_counts(network):
    """The monitor is on a host, and reads the switch by its socket. The other session overloads the line."""
    left, reflectors, folder = network
    reflector = f'reflector: "{reflectors["10.0.0.2"].address}"'
    text = INVENTORY.replace("unix:switch", f"unix:{folder / 'switch'}").replace("REFLECTOR", reflector)
    (folder / "network.yaml").write_text(text)
    phb = [sys.executable, "-m", "phb", "monitor", "--inventory", str(folder / "network.yaml"), "--once", "--json"]
    ended = left.ended(*phb, "--interval", "1")
    assert ended.returncode == 1
    nobody, call = json.loads(ended.stdout)["sessions"]
    assert (nobody["session"], nobody["away"], nobody["figures"]) == ("nobody", True, None)
    assert (call["away"], call["figures"]["sent"], call["figures"]["replies"]) == (False, 10, 10)
    # As in the other test, a packet takes 84 ms on the line; before that it waits for one of the other class.
    assert call["figures"]["there_ms"]["min"] > 80 > call["figures"]["back_ms"]["min"]
    (on_the_way,) = call["path"]
    assert on_the_way["switch"] == "s"
    # What the switch counts is the wait alone; half of the packets are replies, for which nothing is in the way.
    assert 0 < on_the_way["delay_us"]["mean"] < 1000 * call["figures"]["there_ms"]["mean"]
