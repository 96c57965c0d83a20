"""The agent, with time as an argument: neighbours' life, limits, and what a packet of each kind becomes."""

from datetime import datetime
from ipaddress import ip_address
from pathlib import Path

import pytest
from scapy.layers.inet import ICMP, IP, UDP, IPOption, IPOption_LSRR, IPOption_NOP, IPOption_SSRR
from scapy.layers.inet6 import (
    ICMPv6DestUnreach,
    ICMPv6EchoReply,
    ICMPv6EchoRequest,
    ICMPv6ND_NA,
    ICMPv6ND_NS,
    ICMPv6NDOptDstLLAddr,
    ICMPv6NDOptSrcLLAddr,
    ICMPv6ParamProblem,
    IPv6,
)
from scapy.layers.l2 import ARP, Ether

import phb
from phb.pipeline_names import ForwardingException as Reason
from phb.router.agent import Agent
from phb.router.neighbours import ASK_TIMES, CONFIRM_EVERY_S, MOST_ASKED_AT_ONCE, MOST_ASKED_FOR, MOST_WAITING
from phb.router.view import View

MAC, HOST, FAR = "02:00:00:00:01:fe", "02:00:00:00:01:01", "02:00:00:00:02:01"
POLICY = f"""\
phb: 1
node: r1
ports:
  - {{number: 1, name: lan, mac: "{MAC}", addresses: [10.0.1.254/24, "2001:db8:1::fe/64"]}}
  - {{number: 2, name: line, mac: "02:00:00:00:02:fe", addresses: [10.2.2.254/16, "2001:db8:2::fe/64"], mtu: 1300}}
routes:
  - {{destination: 10.9.0.0/16, next-hop: 10.2.2.1}}
"""


def view(write_file, artifact, text=POLICY):
    return View.of(phb.load_intent([Path(write_file("policy.yaml", text))], artifact, at=datetime(2026, 1, 5)).entries)


@pytest.fixture
def agent(write_file, artifact):
    """One that knows the host at port 1."""
    agent = Agent(view(write_file, artifact))
    agent.neighbours.adopt(
        ((1, bytes(each)), bytes.fromhex(HOST.replace(":", "")))
        for each in (b"\x0a\0\x01\x01", bytes.fromhex("20010db8000100000000000000000001"))
    )
    for known in agent.neighbours.known.values():
        known.confirmed = 0.0
    return agent


def packet(payload, source=HOST):
    return bytes(Ether(src=source, dst=MAC) / payload)


def sent(out):
    return [(port, Ether(frame)) for port, frame in out]


def arp_from(address, mac=FAR):
    return packet(ARP(op=2, hwsrc=mac, psrc=address, hwdst=MAC, pdst="10.2.2.254"), mac)


TO_FAR = packet(IP(src="10.0.1.1", dst="10.9.0.1", ttl=9) / UDP())


def test_a_next_hop_is_asked_for_and_then_reached(agent):
    ((port, question),) = sent(agent.packet_in(1, 1, Reason.NO_NEIGHBOUR, TO_FAR))
    assert (port, question[ARP].pdst, question[ARP].psrc, question.dst) == (
        2, "10.2.2.1", "10.2.2.254", "ff:ff:ff:ff:ff:ff",
    )  # fmt: skip
    for _ in range(5):
        assert agent.packet_in(1, 1, Reason.NO_NEIGHBOUR, TO_FAR) == []
    waited = sent(agent.packet_in(1, 2, Reason.FOR_ROUTER, arp_from("10.2.2.1")))
    assert [(port, frame.dst, frame[IP].ttl) for port, frame in waited] == [(2, FAR, 8)] * MOST_WAITING
    assert sent(agent.packet_in(1, 1, Reason.NO_NEIGHBOUR, TO_FAR))[0][1].dst == FAR


def test_a_next_hop_that_never_answers_is_told_about_and_forgotten(agent):
    agent.packet_in(0, 1, Reason.NO_NEIGHBOUR, TO_FAR)
    assert [len(agent.tick(0.5 + each)) for each in range(ASK_TIMES + 1)] == [0, 1, 1, 1]
    assert (2, b"\x0a\x02\x02\x01") not in agent.neighbours.known
    agent.packet_in(5, 1, Reason.NO_NEIGHBOUR, TO_FAR)
    (told,) = [frame for each in range(5) for _, frame in sent(agent.tick(5.5 + each)) if ICMP in frame]
    assert (told[ICMP].type, told[ICMP].code, told[IP].dst) == (3, 1, "10.0.1.1")


def test_a_neighbour_is_confirmed_and_forgotten_when_it_is_silent(agent):
    assert agent.tick(CONFIRM_EVERY_S - 1) == []
    questions = sent(agent.tick(CONFIRM_EVERY_S))
    assert [frame[ARP].pdst if ARP in frame else frame[ICMPv6ND_NS].tgt for _, frame in questions] == [
        "10.0.1.1", "2001:db8:1::1",
    ]  # fmt: skip
    agent.packet_in(CONFIRM_EVERY_S, 1, Reason.FOR_ROUTER, arp_from("10.0.1.1", HOST))
    for each in range(1, ASK_TIMES + 1):
        agent.tick(CONFIRM_EVERY_S + each)
    assert [len(address) for _, address in agent.neighbours.known] == [4]


@pytest.mark.parametrize(("override", "learnt"), [(1, "02:00:00:00:07:07"), (0, HOST)])
def test_an_advertisement_replaces_a_mac_address_only_where_it_says_so(agent, override, learnt):
    message = ICMPv6ND_NA(tgt="2001:db8:1::1", S=1, O=override) / ICMPv6NDOptDstLLAddr(lladdr="02:00:00:00:07:07")
    datagram = IPv6(src="2001:db8:1::1", dst="2001:db8:1::fe", hlim=255) / message
    agent.packet_in(1, 1, Reason.FOR_ROUTER, packet(datagram))
    (known,) = [each for (_, address), each in agent.neighbours.known.items() if len(address) == 16]
    assert known.mac == bytes.fromhex(learnt.replace(":", ""))


@pytest.mark.parametrize(("asker", "answers"), [("10.77.0.1", 1), ("0.0.0.0", 1), ("127.0.0.1", 0), ("224.0.0.1", 0)])
def test_who_asks_from_off_the_link_is_answered_and_not_learnt(agent, asker, answers):
    asked = ARP(op=1, hwsrc=FAR, psrc=asker, pdst="10.0.1.254")
    out = sent(agent.packet_in(1, 1, Reason.FOR_ROUTER, packet(asked)))
    assert [(frame.dst, frame[ARP].pdst) for _, frame in out] == [(FAR, asker)] * answers
    assert len(agent.neighbours.known) == 2


@pytest.mark.parametrize("mac", [MAC, "00:00:00:00:00:00", "01:00:5e:00:00:01"])
def test_no_neighbour_has_the_routers_address_none_or_a_groups(agent, mac):
    asked = ARP(op=1, hwsrc=mac, psrc="10.0.1.9", pdst="10.0.1.254")
    agent.packet_in(1, 1, Reason.FOR_ROUTER, packet(asked))
    solicited = ICMPv6ND_NS(tgt="2001:db8:1::fe") / ICMPv6NDOptSrcLLAddr(lladdr=mac)
    agent.packet_in(
        1, 1, Reason.FOR_ROUTER, packet(IPv6(src="2001:db8:1::9", dst="2001:db8:1::fe", hlim=255) / solicited)
    )
    assert len(agent.neighbours.known) == 2


@pytest.mark.parametrize(
    ("claim", "address"),
    [
        (ARP(op=1, hwsrc=FAR, psrc="10.0.1.254", pdst="10.0.1.254"), "10.0.1.254"),
        (
            IPv6(src="2001:db8:1::fe", dst="ff02::1", hlim=255) / ICMPv6ND_NA(tgt="2001:db8:1::fe", S=0),
            "2001:db8:1::fe",
        ),
    ],
)
def test_who_claims_an_address_of_ours_is_noted(agent, claim, address):
    agent.packet_in(1, 1, Reason.FOR_ROUTER, packet(claim, MAC))
    if ARP not in claim:
        assert agent.neighbours.duplicates == {}
    agent.packet_in(1, 1, Reason.FOR_ROUTER, packet(claim, FAR))
    assert agent.neighbours.duplicates == {(1, ip_address(address).packed): bytes.fromhex(FAR.replace(":", ""))}


@pytest.mark.parametrize("reason", [Reason.TTL_EXPIRED, Reason.OPTIONS])
@pytest.mark.parametrize("to", ["10.2.255.255", "10.2.0.0"])
def test_nothing_is_told_about_a_directed_broadcast(agent, reason, to):
    datagram = IP(src="10.0.1.1", dst=to, ttl=1, options=[IPOption_NOP()] if reason is Reason.OPTIONS else []) / UDP()
    assert agent.packet_in(1, 1, reason, packet(datagram)) == []


def test_who_has_only_an_address_of_the_link_is_told_too(agent):
    agent.neighbours.adopt([((1, ip_address("fe80::1").packed), bytes.fromhex(HOST.replace(":", "")))])
    frame = packet(IPv6(src="fe80::1", dst="2001:db8:1::fe") / UDP())
    ((port, out),) = sent(agent.packet_in(1, 1, Reason.FOR_ROUTER, frame))
    assert (port, out.dst, out[IPv6].src, out[ICMPv6DestUnreach].code) == (1, HOST, "fe80::ff:fe00:1fe", 4)


@pytest.mark.parametrize(("group", "answers"), [("ff02::1", 1), ("ff02::2", 1), ("ff02::5", 0)])
def test_groups_that_the_router_is_in_are_answered(agent, group, answers):
    frame = packet(IPv6(src="2001:db8:1::1", dst=group) / ICMPv6EchoRequest())
    out = sent(agent.packet_in(1, 1, Reason.FOR_ROUTER, frame))
    assert [(each[IPv6].src, ICMPv6EchoReply in each) for _, each in out] == [("fe80::ff:fe00:1fe", True)] * answers


def test_what_is_behind_no_port_any_more_is_forgotten(agent, write_file, artifact):
    agent.neighbours.look(view(write_file, artifact, POLICY.replace("10.0.1.254/24", "10.7.1.254/24")))
    assert [len(address) for _, address in agent.neighbours.known] == [16]


def test_a_scan_of_a_network_is_bounded(agent):
    agent.slow.rate = agent.slow.burst = 1e9
    for number in range(3 * MOST_ASKED_FOR):
        datagram = IP(src="10.0.1.1", dst=f"10.2.{3 + number // 250}.{number % 250}") / UDP()
        agent.packet_in(1, 1, Reason.NO_NEIGHBOUR, packet(datagram))
    assert len(agent.neighbours.known) == MOST_ASKED_FOR + 2
    assert len(agent.tick(2)) == MOST_ASKED_AT_ONCE
    for each in range(200):
        agent.tick(3 + each)
    agent.packet_in(300, 1, Reason.NO_NEIGHBOUR, TO_FAR)
    assert (2, b"\x0a\x02\x02\x01") in agent.neighbours.known


@pytest.mark.parametrize(
    ("reason", "datagram", "limit"),
    [
        (Reason.TTL_EXPIRED, IP(src="10.0.1.1", dst="10.9.0.1") / UDP(), 20),
        (Reason.NO_ROUTE, IPv6(src="2001:db8:1::1", dst="2001:db8:77::1") / UDP(), 20),
        (Reason.FOR_ROUTER, IP(src="10.0.1.1", dst="10.0.1.254") / ICMP(), 100),
        (Reason.FOR_ROUTER, IPv6(src="2001:db8:1::1", dst="2001:db8:1::fe") / ICMPv6EchoRequest(), 100),
    ],
)
def test_so_many_at_once(agent, reason, datagram, limit):
    frame = packet(datagram)
    assert sum(len(agent.packet_in(1, 1, reason, frame)) for _ in range(1000)) == limit


def test_an_anycast_address_answers_as_one_station(agent):
    asked = packet(IPv6(src="2001:db8:1::1", dst="2001:db8:1::") / ICMPv6EchoRequest())
    ((_, frame),) = sent(agent.packet_in(1, 1, Reason.FOR_ROUTER, asked))
    assert (frame[IPv6].src, ICMPv6EchoReply in frame) == ("2001:db8:1::fe", True)


@pytest.mark.parametrize(("kind", "named"), [(132, 6), (59, None)])
def test_a_protocol_that_the_router_has_not(agent, kind, named):
    frame = packet(IPv6(src="2001:db8:1::1", dst="2001:db8:1::fe", nh=kind) / bytes(8))
    out = sent(agent.packet_in(1, 1, Reason.FOR_ROUTER, frame))
    assert [each[ICMPv6ParamProblem].ptr for _, each in out] == ([] if named is None else [named])


def test_an_answer_too_long_for_its_link_is_sent_in_fragments(agent):
    agent.neighbours.adopt([((2, b"\x0a\x02\x02\x01"), bytes.fromhex(FAR.replace(":", "")))])
    frame = packet(IP(src="10.2.2.1", dst="10.2.2.254", id=9) / ICMP() / bytes(1400))
    assert [each[IP].len for _, each in sent(agent.packet_in(1, 2, Reason.FOR_ROUTER, frame))] == [1300, 148]


@pytest.mark.parametrize(
    ("option", "goes", "error"),
    [
        (IPOption_LSRR(routers=["10.9.0.1"]), "10.9.0.1", None),
        (IPOption_SSRR(routers=["10.2.2.1"]), "10.2.2.1", None),
        (IPOption_SSRR(routers=["10.9.0.1"]), None, (3, 5)),
        (IPOption_LSRR(routers=["10.88.0.1"]), None, (3, 5)),
        (IPOption_SSRR(routers=["10.2.255.255"]), None, (3, 5)),
        (IPOption_LSRR(routers=["10.9.0.1"], pointer=3), None, (12, 0)),
    ],
)
def test_source_routes(agent, option, goes, error):
    agent.neighbours.adopt([((2, b"\x0a\x02\x02\x01"), bytes.fromhex(FAR.replace(":", "")))])
    frame = packet(IP(src="10.0.1.1", dst="10.0.1.254", options=[option]) / UDP())
    ((port, out),) = sent(agent.packet_in(1, 1, Reason.OPTIONS, frame))
    if error is not None:
        assert (port, out[ICMP].type, out[ICMP].code) == (1, *error)
    else:
        assert (port, out.dst, out[IP].dst, out[IP].options[0].routers, out[IP].options[0].pointer) == (
            2, FAR, goes, ["10.2.2.254"], 8,
        )  # fmt: skip


def test_a_source_route_may_lead_through_two_addresses_of_the_router(agent):
    agent.neighbours.adopt([((2, b"\x0a\x02\x02\x01"), bytes.fromhex(FAR.replace(":", "")))])
    route = IPOption_LSRR(routers=["10.2.2.254", "10.9.0.1"])
    ((_, out),) = sent(
        agent.packet_in(1, 1, Reason.OPTIONS, packet(IP(src="10.0.1.1", dst="10.0.1.254", options=[route]) / UDP()))
    )
    assert (out[IP].dst, out[IP].options[0].routers, out[IP].options[0].pointer) == (
        "10.9.0.1", ["10.2.2.254", "10.2.2.254"], 12,
    )  # fmt: skip


def test_an_echo_goes_back_the_way_that_it_came(agent):
    agent.neighbours.adopt([((2, b"\x0a\x02\x02\x01"), bytes.fromhex(FAR.replace(":", "")))])
    route = IPOption_LSRR(routers=["10.9.0.7", "10.9.0.8"], pointer=12)
    frame = packet(IP(src="10.0.1.1", dst="10.0.1.254", options=[route]) / ICMP())
    ((port, out),) = sent(agent.packet_in(1, 1, Reason.OPTIONS, frame))
    assert (port, out[IP].src, out[IP].dst, out[IP].options[0].routers) == (
        2, "10.0.1.254", "10.9.0.8", ["10.9.0.7", "10.0.1.1"],
    )  # fmt: skip


def test_options_that_can_not_be_are_told_about_on_the_way_to_others(agent):
    frame = packet(IP(src="10.0.1.1", dst="10.9.0.1", options=[IPOption(b"\x9e\x27\x04\x00")]) / UDP())
    ((_, out),) = sent(agent.packet_in(1, 1, Reason.OPTIONS, frame))
    assert (out[ICMP].type, out[ICMP].ptr) == (12, 21)
