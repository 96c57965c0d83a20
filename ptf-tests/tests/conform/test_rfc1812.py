"""The checks of RFC 1812: what phb does as a router, what it doesn't do and why; and each check can fail, or pass."""

import re

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether

from phb_conform import rfc1812  # noqa: F401
from phb_conform.check import Verdict
from phb_conform.probing import IN
from phb_device import Departure, entry

from .broken import Meddling, Misread, Swapping, Tampering, Through, octet
from .checks import found, must_fail, must_pass, named, of

NAMES = of("RFC 1812")
ELSEWHERE = {
    "directed_broadcasts_are_dropped": "ports have no networks",
    "long_packets_are_fragmented": "ports have no MTU",
}
LACKING = {
    "truncated_packets_are_dropped": "not with the frame",
    "route_options_are_processed": "have no addresses to fill in",
    "time_exceeded_is_sent": "nothing in phb answers with ICMP",
    "destination_unreachable_is_sent": "nothing in phb answers with ICMP",
    "martians_are_dropped": "forwarded: from 0.0.0.0,",
    "limited_broadcasts_are_dropped": "forwarded: to 255.255.255.255",
    "link_broadcasts_are_dropped": "forwarded: to ff:ff:ff:ff:ff:ff",
}


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {*LACKING, *ELSEWHERE}])
def test_it_is_there(any_device, name):
    must_pass(any_device, name)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_it_does_not_apply(any_device, name):
    finding = found(any_device, name)
    assert (finding.verdict, ELSEWHERE[name] in finding.measured) == (Verdict.NOT_APPLICABLE, True)


@pytest.mark.parametrize("name", LACKING)
def test_it_is_not_there_and_why(device, name):
    finding = found(device, name)
    assert (finding.verdict, LACKING[name] in finding.measured) == (Verdict.FAIL, True), finding.measured


class Answering(Through):
    """A router that answers with ICMP where nothing leaves."""

    def __init__(self, device, kind):
        super().__init__(device)
        self.kind = kind

    def receive(self, expected):
        left = super().receive(expected)
        answer = Ether() / IP(src="10.0.1.254", dst="10.0.1.1") / ICMP(type=self.kind) / bytes(28)
        return left or [Departure(0, IN, bytes(answer))]


@pytest.mark.parametrize(("name", "kind"), [("time_exceeded_is_sent", 11), ("destination_unreachable_is_sent", 3)])
def test_a_router_that_answers_passes(device, name, kind):
    broken = Answering(device, kind)
    broken.reset()
    assert named(name).look(broken).verdict is Verdict.PASS


def dropping(*patterns):
    """For `Tampering`: a sound router behind one that forwards what it should not."""
    return lambda frame: None if any(re.search(pattern, frame, re.DOTALL) for pattern in patterns) else frame


ADDRESSES = [bytes([*each]) for each in ((127, 0, 0, 1), (240, 0, 0, 1), (224, 0, 0, 1), (0, 0, 0, 1))]
SOUND = {
    "truncated_packets_are_dropped": lambda frame: frame if len(frame) == 200 else None,
    "martians_are_dropped": dropping(*(re.escape(each) for each in ADDRESSES), b"\\xff{4}", b"^.{26}\\0{4}"),
    "limited_broadcasts_are_dropped": dropping(b"\\xff{4}"),
}


@pytest.mark.parametrize("name", SOUND)
def test_a_router_that_drops_them_passes(device, name):
    broken = Tampering(device, SOUND[name])
    broken.reset()
    finding = named(name).look(broken)
    assert (finding.verdict, broken.changed > 0) == (Verdict.PASS, True), finding.measured


CROSS_CONNECTED = "routes:\n", "cross-connects: [{between: [line, lan]}]\nroutes:\n"
BROKEN = {
    "impossible_headers_are_dropped": lambda device: Misread(device, *CROSS_CONNECTED),
    "hops_are_counted": lambda device: Misread(device, *CROSS_CONNECTED),
    "expired_packets_are_dropped": lambda device: Misread(device, *CROSS_CONNECTED),
    "the_longest_prefix_is_taken": lambda device: Misread(device, "10.0.2.128/25", "10.0.2.192/26"),
    "unknown_options_are_kept": lambda device: Tampering(device, lambda frame: frame[:34] + b"\x01" + frame[35:]),
    "packets_without_a_route_are_dropped": lambda device: Misread(device, "10.0.2.0/24", "10.0.0.0/8"),
    "sources_can_be_validated": lambda device: Misread(device, "source: 10.0.1.0/24", "source: 10.0.0.0/16"),
    "all_precedences_are_forwarded": lambda device: Tampering(device, octet(lambda tos: 0 if tos == 0xE0 else tos)),
    "higher_precedences_leave_first": lambda device: Misread(device, "precedence: 4,", "precedence: 0,"),
    "precedence_order_can_be_switched_off": Swapping,
    "lower_precedences_are_dropped_first": lambda device: Misread(device, "push-out: true", "push-out: false"),
    "expired_packets_reach_the_control_plane": lambda device: Misread(device, *CROSS_CONNECTED),
    "unroutable_packets_reach_the_control_plane": lambda device: Misread(device, "10.0.2.0/24", "10.0.0.0/8"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_switch_fails(device, name):
    must_fail(BROKEN[name](device), name)


def test_a_switch_that_mends_checksums_fails(device):
    """The checksum is made anew in front of the switch."""

    class Mending(Through):
        changed = 1

        def send(self, port, frame):
            super().send(port, octet(lambda tos: tos)(frame))

    must_fail(Mending(device), "wrong_checksums_are_dropped")


def test_each_is_seen_to_fail():
    assert {*BROKEN, *LACKING, *ELSEWHERE, "wrong_checksums_are_dropped"} == set(NAMES)


def test_an_entry_by_hand_is_found_at_fault(device):
    """A default route that nobody asked for."""
    route = entry("forward.ipv6_route", {}, "route", port=1, source_mac=1, destination_mac=2)
    must_fail(Meddling(device, route), "packets_without_a_route_are_dropped")
