"""What routers say beside QoS and access lists in words like those: read, or left out, but never an error."""

import pytest

from phb.errors import InputError
from phb.formats import ReadOptions
from phb.formats.ios import read
from phb.model import Dialect

QUIET = {
    "what is counted": "mls qos statistics-export interval 300\n",
    "compiled lists": "access-list compiled\n",
    "a list of rates": "access-list rate-limit 5 100\n",
    "settings of routes": "ip route static bfd Fa0/0 10.0.0.1\nip route profile\nipv6 route static bfd Fa0/0 FE80::1\n",
    "marks of calls": "mgcp ip qos dscp cs3 signaling\n",
    "the route processor's queue": "ip spd queue min-threshold 70\n",
    "what is not there": "interface Fa0/0\n no rate-limit input\n no bgp-policy destination\n no priority-group\n",
    "bandwidth of the other way": "interface Fa0/0\n bandwidth receive 5000\n bandwidth inherit\n",
    "translation where nothing is asked": "interface Fa0/0\n ip nat inside\n",
}


@pytest.mark.parametrize("case", QUIET)
def test_only_notes(ios, case):
    notices = ios(QUIET[case]).notices
    assert notices
    assert all(notice.aside for notice in notices), [notice.message for notice in notices]


WARNED = {
    "interface Fa0/0\n auto qos voip trust\n": "'auto qos voip trust' has no effect: what it made counts",
    "auto qos srnd4\n": "'auto qos srnd4' has no effect: what it made counts",
    "interface Fa0/0\n ip address xxx.xxx.xxx.xxx 255.255.255.0\n": "the address of FastEthernet0/0 is blotted out",
    "interface Fa0/0\n ip address <removed>\n": "the address of FastEthernet0/0 is blotted out",
    "ip route 0.0.0.0 0.0.0.0 X.X.X.X\n": "of X.X.X.X; write it in YAML",
    "ip route *.*.*.* 255.0.0.0 10.0.0.1\n": "its destination is blotted out",
    "interface Dialer1\n hold-queue 500 out\n": "'hold-queue 500 out' has no effect: Dialer1 is no port of a switch",
    "ip route 0.0.0.0 0.0.0.0 dhcp\n": "of the gateway that DHCP names;",
    "ipv6 route ::/0 2001:DB8::1\n": "the route to ::/0 has no effect: an IOS configuration doesn't know the MAC",
    "ipv6 route ::/0 Gi0/0 FE80::1\n": "of interface GigabitEthernet0/0;",
    "ipv6 route vrf x ::/0 2001:DB8::1\n": "a route of a VRF has no effect",
    "interface Fa0/0\n ip address pool p\n": "has an address that only the router learns",
    "interface Fa0/0\n ip nat inside\n ip access-group 1 in\naccess-list 1 permit any\n": "phb doesn't translate",
    "hostname a\nend\n!\nip domain-name b\npolicy-map p\n": "'ip domain-name b' has no effect, nor has what follows",
}


@pytest.mark.parametrize("text", WARNED)
def test_one_warning(ios, text):
    (warning,) = [notice.message for notice in ios(text).notices if not notice.aside]
    assert WARNED[text] in warning


@pytest.mark.parametrize("rest", ["R1#exit\nConnection closed by foreign host.\n", "!\n\n"])
def test_end_of_a_session_is_not_listed(ios, rest):
    policy = ios(f"hostname a\nend\n{rest}hostnam\n")
    assert (policy.node, policy.notices) == ("a", ())


def test_ipv6_route_to_null_discards(ios):
    (route,) = ios("ipv6 route 2001:DB8::/32 Null0\n").routes
    assert (str(route.destination), route.discard) == ("2001:db8::/32", True)


@pytest.mark.parametrize("statement", ["version 1", "version 2"])
def test_version_of_rip_says_no_dialect(statement):
    text = f"router rip\n {statement}\nhostname a\n"
    assert read(text, "f", ReadOptions(dialect=Dialect.IOS_12)).node == "a"


def test_statements_behind_prompts(ios):
    """As a session shows them: `end` leaves the configuration mode, and more may follow."""
    rows = ("class-map c", "match dscp ef", "end", "policy-map p", "class c", "set cos 5", "interface Fa0/0")
    policy = ios("".join(f"R1(config-x)#{row}\n" for row in (*rows, "service-policy input p")))
    assert [(rule.name, policy.actions[0].set_pcp.value) for rule in policy.rules] == [("p/c", 5)]


@pytest.mark.parametrize(
    "bandwidths", ["bandwidth qos-reference 2000\n bandwidth 9000", "bandwidth 9000\n bandwidth qos-reference 2000"]
)
def test_percentages_are_of_the_reference(ios, bandwidths):
    policy = ios(
        f"policy-map p\n class class-default\n  police cir percent 10\n"
        f"interface Fa0/0\n {bandwidths}\n service-policy input p\n"
    )
    assert str(policy.actions[0].meter.committed_rate.value) == "200"


@pytest.mark.parametrize(("said", "rate"), [("10m", 10_000), ("1.5M", 1500), ("512k", 512), ("2g", 2_000_000)])
def test_rate_with_a_postfix(ios, said, rate):
    policy = ios(
        f"policy-map p\n class class-default\n  police cir {said}\n"
        f"policy-map q\n class class-default\n  shape average {said}\n"
        "interface Fa0/0\n service-policy input p\n service-policy output q\n"
    )
    assert (policy.actions[0].meter.committed_rate.value, policy.queueing[0].shaper.rate.value) == (rate, rate)


@pytest.mark.parametrize("said", ["1k", "401g", "0.5m5", "m"])
def test_rate_out_of_bounds(ios, said):
    with pytest.raises(InputError, match="expected a rate in bit/s from 8000 to 400000000000"):
        ios(f"policy-map p\n class class-default\n  police {said}\ninterface Fa0/0\n service-policy input p\n")


def test_burst_of_a_fast_policer_stays_in_its_bounds(ios):
    said = "policy-map p\n class class-default\n  police {}\ninterface Fa0/0\n service-policy input p\n"
    assert ios(said.format("100g")).actions[0].meter.committed_burst_bytes == 2_000_000_000
    with pytest.raises(InputError, match="f:3: found 2000 ms, which is a burst of 2500000000 bytes, expected at most"):
        ios(said.format("10g bc 2000 ms"))
