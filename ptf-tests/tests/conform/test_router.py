"""The control plane beside a switch, as hosts see it."""

import time

import pytest
from scapy.layers.inet import ICMP, IP, UDP, IPOption_RR
from scapy.layers.l2 import ARP, Ether
from scapy.packet import Raw

from phb_conform.router import MAC, ROUTER, control_plane
from phb_device.in_process import InProcess

HOST, FAR = "02:00:00:00:01:01", "02:00:00:00:00:0a"


@pytest.fixture(scope="module")
def router():
    with InProcess() as device:
        device.push(ROUTER + "  - {destination: 0.0.0.0/0, next-hop: 10.0.2.1}\n")
        with control_plane(device):
            for port, mac, address, own in ((2, HOST, "10.0.1.1", "10.0.1.254"), (1, FAR, "10.0.2.1", "10.0.2.254")):
                asked = Ether(src=mac, dst="ff:ff:ff:ff:ff:ff") / ARP(op=1, hwsrc=mac, psrc=address, pdst=own)
                answer = wait(device, port, bytes(asked), 1)
                assert Ether(answer[0][1])[ARP].psrc == own
            time.sleep(1)
            yield device


def wait(device, port, frame, count):
    return device.exchange(port, frame, count)


def datagram(payload=b"x" * 30, *, mac=MAC, **fields):
    return bytes(
        Ether(src=HOST, dst=mac) / IP(**{"src": "10.0.1.1", "dst": "10.0.2.1"} | fields) / UDP(dport=9) / payload
    )


def test_a_learnt_next_hop_is_forwarded_to(router):
    ((port, frame),) = wait(router, 2, datagram(), 1)
    assert (port, Ether(frame).dst, Ether(frame).src, Ether(frame)[IP].ttl) == (1, FAR, "02:00:00:00:00:08", 63)


def test_another_stations_frames_are_ignored(router):
    assert wait(router, 2, datagram(mac="02:00:00:00:99:99"), 0) == []


def test_echo(router):
    request = Ether(src=HOST, dst=MAC) / IP(src="10.0.1.1", dst="10.0.2.254", tos=0x28) / ICMP() / b"abcdef"
    ((port, frame),) = wait(router, 2, bytes(request), 1)
    answer = Ether(frame)[IP]
    assert (port, answer.src, answer.tos, answer[ICMP].type, bytes(answer[ICMP].payload)[:6]) == (
        2, "10.0.2.254", 0x28, 0, b"abcdef",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"ttl": 1}, (11, 0)),
        ({"dst": "10.0.2.254"}, (3, 3)),
        ({"flags": "DF", "payload": b"x" * 1400}, (3, 4)),
    ],
)
def test_errors_go_to_the_sender(router, fields, kind):
    ((port, frame),) = wait(router, 2, datagram(**fields), 1)
    answer = Ether(frame)[IP]
    assert (port, answer.src, answer.dst, answer[ICMP].type, answer[ICMP].code) == (2, "10.0.1.254", "10.0.1.1", *kind)
    assert answer.tos == 0xC0


def test_no_error_about_an_error_or_a_later_fragment(router):
    error = Ether(src=HOST, dst=MAC) / IP(src="10.0.1.1", dst="10.0.2.1", ttl=1) / ICMP(type=3) / Raw(b"x" * 28)
    assert wait(router, 2, bytes(error), 0) == []
    assert wait(router, 2, datagram(ttl=1, frag=5), 0) == []


def test_fragments(router):
    parts = [Ether(frame)[IP] for _, frame in wait(router, 2, datagram(b"y" * 1400), 2)]
    parts.sort(key=lambda part: part.frag)
    assert [part.len for part in parts] == [996, 452]
    assert [int(part.flags) for part in parts] == [1, 0]
    assert b"".join(bytes(part.payload)[: part.len - 20] for part in parts)[8:] == b"y" * 1400


def test_a_record_route_is_filled_in(router):
    ((_, frame),) = wait(router, 2, datagram(options=[IPOption_RR(routers=["0.0.0.0", "0.0.0.0"])]), 1)
    assert Ether(frame)[IP].options[0].pointer == 8
    assert Ether(frame)[IP].options[0].routers[0] == "10.0.2.254"


@pytest.mark.parametrize(
    "frame",
    [
        *(datagram(src=each) for each in ("0.0.0.0", "127.0.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255")),
        *(datagram(dst=each) for each in ("0.0.0.1", "127.0.0.1", "240.0.0.1", "255.255.255.255", "10.0.2.255")),
        datagram(mac="ff:ff:ff:ff:ff:ff"),
        datagram(b"z" * 200)[:-1],
    ],
)
def test_what_is_not_forwarded(router, frame):
    assert wait(router, 2, frame, 0) == []
