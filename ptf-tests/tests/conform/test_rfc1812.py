"""The checks of RFC 1812: what phb does as a router; and each check can fail."""

import pytest
from scapy.layers.inet import ICMP, IP
from scapy.layers.l2 import Ether

from phb_conform import rfc1812  # noqa: F401
from phb_conform.router import MAC
from phb_device import entry

from .broken import Meddling, Misread, Swapping, Tampering, Through, octet
from .checks import must_fail, must_pass, of

NAMES = of("RFC 1812")


@pytest.mark.parametrize("name", NAMES)
def test_it_is_there(any_device, name):
    must_pass(any_device, name)


class Rewriting(Through):
    """Frames are changed in front of the switch, so that what should be dropped or told is forwarded."""

    def __init__(self, device, change):
        super().__init__(device)
        self.change, self.changed = change, 0

    def send(self, port, frame):
        changed = self.change(frame)
        self.changed += changed != frame
        super().send(port, changed)


def header(**fields):
    """For `Rewriting`: IPv4 datagrams get these fields, and a checksum that is right for them."""

    def changed(frame):
        packet = Ether(frame)
        if IP not in packet or ICMP in packet:
            return frame
        for name, value in fields.items():
            packet[IP].setfieldval(name, value)
        del packet[IP].chksum
        return bytes(packet)

    return changed


def unanswered(frame):
    """For `Tampering`: ICMP is lost."""
    return None if frame[12:14] == b"\x08\x00" and frame[23] == 1 else frame


def misrecorded(frame):
    """For `Tampering`: an option of a route points to one address too far."""
    return frame[:36] + bytes([frame[36] + 4]) + frame[37:] if frame[14] == 0x4B or frame[14] == 0x48 else frame


def to_router_unless_arp(frame):
    """For `Rewriting`: the link's broadcasts become frames for the router."""
    return frame if frame[12:14] == b"\x08\x06" else bytes.fromhex(MAC.replace(":", "")) + frame[6:]


def sound(**fields):
    return lambda device: Rewriting(device, header(**fields))


CROSS_CONNECTED = "routes:\n", "cross-connects: [{between: [line, lan]}]\nroutes:\n"
BROKEN = {
    "truncated_packets_are_dropped": lambda device: Rewriting(device, lambda frame: frame.ljust(200, b"\0")),
    "route_options_are_processed": lambda device: Tampering(device, misrecorded),
    "time_exceeded_is_sent": sound(ttl=64),
    "destination_unreachable_is_sent": lambda device: Tampering(device, unanswered),
    "martians_are_dropped": sound(src="10.0.1.1", dst="10.0.2.1"),
    "limited_broadcasts_are_dropped": sound(dst="10.0.2.1"),
    "link_broadcasts_are_dropped": lambda device: Rewriting(device, to_router_unless_arp),
    "directed_broadcasts_are_dropped": sound(dst="10.0.2.1"),
    "long_packets_are_fragmented": lambda device: Misread(device, "mtu: 1000", "mtu: 9000"),
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
    assert {*BROKEN, "wrong_checksums_are_dropped"} == set(NAMES)


def test_an_entry_by_hand_is_found_at_fault(device):
    """A default route that nobody asked for."""
    route = entry("forward.ipv6_route", {}, "route", port=1, source_mac=1, destination_mac=2)
    must_fail(Meddling(device, route), "packets_without_a_route_are_dropped")
