"""Two Linux hosts, a switch and `phb router` as processes between them: what a host's own stack believes."""

from contextlib import ExitStack

import pytest

from .hosts import Host, unavailable
from .processes import Router, Switch, push

REASON = unavailable()
pytestmark = pytest.mark.skipif(bool(REASON), reason=REASON or "available")

LEFT, RIGHT = "02:00:00:00:01:01", "02:00:00:00:02:01"
POLICY = """\
phb: 1
node: r1
ports:
  - {number: 1, name: lan, mac: "02:00:00:00:01:fe", addresses: [10.0.1.254/24, "2001:db8:1::fe/64"]}
  - {number: 2, name: line, mac: "02:00:00:00:02:fe", addresses: [10.0.2.254/24, "2001:db8:2::fe/64"], mtu: 1300}
routes:
  - {destination: 10.9.0.0/16, next-hop: 10.0.2.1}
  - {destination: "2001:db8:9::/64", next-hop: "2001:db8:2::1"}
  - {destination: 10.8.0.0/16, next-hop: 10.0.2.77}
"""


@pytest.fixture(scope="module")
def network(tmp_path_factory):
    with ExitStack() as stack:
        left = Host(stack, LEFT, "10.0.1.1/24", "2001:db8:1::1/64")
        right = Host(stack, RIGHT, "10.0.2.1/24", "2001:db8:2::1/64", "10.9.0.1/32", "2001:db8:9::1/128")
        for host, network in ((left, 1), (right, 2)):
            host.ip("route", "add", "default", "via", f"10.0.{network}.254")
            host.ip("route", "add", "default", "via", f"2001:db8:{network}::fe")
        switch = Switch(stack, f"1@{left.port}", f"2@{right.port}")
        policy = tmp_path_factory.mktemp("policy") / "policy.yaml"
        policy.write_text(POLICY)
        push(switch.address, policy)
        Router(stack, switch.address).until("answering")
        yield left, right


@pytest.fixture
def left(network):
    return network[0]


@pytest.fixture
def right(network):
    return network[1]


@pytest.mark.parametrize(
    ("own", "far", "behind"),
    [("10.0.1.254", "10.0.2.1", "10.9.0.1"), ("2001:db8:1::fe", "2001:db8:2::1", "2001:db8:9::1")],
)
def test_the_router_the_other_host_and_what_is_behind_it_answer(left, own, far, behind):
    for address in (own, far, behind):
        assert left.ping(address)["answer"] == address
    for address in (far, behind):
        assert left.ping(address)["hops"] in (63, None)


@pytest.mark.parametrize(
    ("address", "options", "error", "by", "mtu"),
    [
        ("10.0.2.1", ["--hops", "1"], [11, 0], "10.0.1.254", 0),
        ("10.77.0.1", [], [3, 0], "10.0.1.254", 0),
        ("10.8.0.1", [], [3, 1], "10.0.1.254", 0),
        ("10.0.2.1", ["--whole", "--bytes", "1472"], [3, 4], "10.0.1.254", 1300),
        ("2001:db8:2::1", ["--hops", "1"], [3, 0], "2001:db8:1::fe", 0),
        ("2001:db8:77::1", [], [1, 0], "2001:db8:1::fe", 0),
        ("2001:db8:2::77", [], [1, 3], "2001:db8:1::fe", 0),
        ("2001:db8:2::1", ["--whole", "--bytes", "1400"], [2, 0], "2001:db8:1::fe", 1300),
    ],
)
def test_errors_are_understood(left, address, options, error, by, mtu):
    assert left.ping(address, *options) == {"error": error, "by": by, "mtu": mtu}


def test_what_is_too_long_for_a_link_arrives_in_fragments(left, right):
    before = right.counted("Ip", "ReasmOKs")
    assert left.ping("10.0.2.1", "--bytes", "1472")["answer"] == "10.0.2.1"
    assert right.counted("Ip", "ReasmOKs") == before + 1
