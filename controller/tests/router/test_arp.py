"""RFC 826's packet, octet by octet."""

import pytest

from phb.router import arp

ASKER, OWN, ALL = bytes.fromhex("020000000101"), bytes.fromhex("0200000001fe"), b"\xff" * 6
HOST, ROUTER = bytes((10, 0, 1, 1)), bytes((10, 0, 1, 254))
REQUEST = bytes.fromhex("0001 0800 06 04 0001") + ASKER + HOST + bytes(6) + ROUTER


def test_a_request_is_read():
    assert arp.parse(REQUEST) == arp.Message(True, ASKER, HOST, ROUTER)


def test_the_answer_swaps_the_two():
    answer = arp.reply(arp.parse(REQUEST), OWN)
    assert answer == (
        ASKER + OWN + bytes.fromhex("0806 0001 0800 06 04 0002") + OWN + ROUTER + ASKER + HOST
    ).ljust(60, b"\0")  # fmt: skip
    assert arp.parse(answer[14:]) == arp.Message(False, OWN, ROUTER, HOST)


def test_a_request_goes_to_all_or_to_the_one_that_is_confirmed():
    assert arp.request(OWN, ROUTER, HOST)[:14] == ALL + OWN + b"\x08\x06"
    assert arp.request(OWN, ROUTER, HOST, ASKER)[:6] == ASKER
    assert arp.parse(arp.request(OWN, ROUTER, HOST)[14:]) == arp.Message(True, OWN, ROUTER, HOST)


@pytest.mark.parametrize(
    ("at", "octets"),
    [
        (0, "0006"),  # IEEE 802 rather than Ethernet
        (2, "86dd"),
        (4, "08"),
        (5, "10"),
        (6, "0003"),  # reverse ARP
        (8, "01"),  # from a group
    ],
)
def test_what_is_no_message_about_ipv4_on_ethernet(at, octets):
    other = bytes.fromhex(octets)
    assert arp.parse(REQUEST[:at] + other + REQUEST[at + len(other) :]) is None


def test_half_a_message_is_none():
    assert arp.parse(REQUEST[:27]) is None
