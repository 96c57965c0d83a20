"""Datasets of the SMC Applicability Tool: what they say, and what is wrong with one."""

import pytest

from phb.errors import InputError
from phb.formats import read_content, smcat

EXAMPLE = "SMCATCFG INTERVAL 120  \nIPADDR  \nC5::1:2:3:4/126  \n9.67.113.61\n"


def read(text):
    return smcat.read(text, "f").applicability


def test_the_example_of_the_source():
    asked = read_content(EXAMPLE.encode(), "USER99.TCPIP.SMCAT1").applicability
    assert asked.interval_minutes == 120
    assert [str(peer) for peer in asked.peers] == ["c5::1:2:3:4/126", "9.67.113.61"]
    assert (asked.ports, asked.direct_networks) == ((), ())
    assert str(asked.origin("peers")) == "USER99.TCPIP.SMCAT1:2"


def test_the_interval_is_an_hour_where_nothing_is_said():
    assert read("SMCATCFG IPADDR 9.67.113.61").interval_minutes == 60


def test_words_may_stand_in_any_order_case_and_line():
    asked = read("; two peers\nsmcatcfg ipaddr 9.67.113.61 9.67.113.62 ; of the office\n interval\n 5")
    assert (asked.interval_minutes, len(asked.peers)) == (5, 2)


WRONG = {
    "empty": ("", "f: found nothing, expected SMCATCFG"),
    "another statement": ("TCPIP\n", "f:1: found 'TCPIP', expected SMCATCFG"),
    "no addresses": ("SMCATCFG\nINTERVAL 5", "f:1: found SMCATCFG without IPADDR, expected the addresses of peers"),
    "another keyword": ("SMCATCFG\nSUBNET 9.0.0.0/8", "f:2: found 'SUBNET', expected INTERVAL or IPADDR, each once"),
    "a keyword twice": (
        "SMCATCFG\nIPADDR 9.0.0.1\nINTERVAL 5\nIPADDR 9.0.0.2",
        "f:4: found 'IPADDR', expected INTERVAL or IPADDR, each once",
    ),
    "a list of none": ("SMCATCFG\nIPADDR\n", "f:2: found IPADDR with 0 words, expected 1 to 256 addresses"),
    "too many": (
        "SMCATCFG IPADDR\n" + "9.67.113.61\n" * 257,
        "f:1: found IPADDR with 257 words, expected 1 to 256 addresses",
    ),
    "an hour too long": (
        "SMCATCFG IPADDR 9.0.0.1 INTERVAL 1441",
        "f:1: found INTERVAL '1441', expected minutes, from 1 to 1440",
    ),
    "no number": ("SMCATCFG INTERVAL\nIPADDR 9.0.0.1", "f:1: found INTERVAL '', expected minutes, from 1 to 1440"),
    **{
        word: (
            f"SMCATCFG\nIPADDR\n{word}",
            f"f:3: found '{word}', expected an IPv4 or IPv6 address, or a subnet such as 9.67.113.0/24, host bits zero",
        )
        for word in ("9.67.113", "9.67.113.61/24", "9.0.0.1-9.0.0.2", "host", "C5::/129")
    },
}


@pytest.mark.parametrize(("text", "expected"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_said_with_its_line(text, expected):
    with pytest.raises(InputError) as caught:
        read(text)
    assert str(caught.value) == expected
