"""The source's appendix E: what ``show queue`` tells while three transfers fill a Cisco 7513's serial line."""

import re

import pytest
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from phb.cli import run
from phb_switch import Network, P4RuntimeServer, PortConfig, Switch

SERIAL, ETHERNET = 1, 3
FILES = ["c7513.yaml", "c7513-routes-osa2.yaml", "c7513-wfq.yaml"]
FLOWS = {700: 1282, 701: 1285, 702: 1287}
REPLY = 1400  # bytes of TCP payload, 1444 at a PPP line
MILLISECOND = 1_000_000


def reply(port, tos):
    ip = IP(src="133.10.30.1", dst="133.10.50.2", tos=tos, ttl=64)
    return bytes(Ether(dst="02:00:00:00:00:09") / ip / TCP(sport=port, dport=FLOWS[port]) / Raw(bytes(REPLY)))


@pytest.mark.parametrize(("tos", "weight"), [(252, 512), (192, 585)], ids=["differentiated services", "precedence"])
def test_conversations_that_wait(tos, weight, examples, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(examples)
    monkeypatch.setenv("PHB_STATE", str(tmp_path / "state.sqlite"))
    switch = Switch("c7513", {port: PortConfig(256_000 if port == SERIAL else None) for port in range(1, 5)})
    server = P4RuntimeServer(switch, device_id=1)
    where = ["--address", f"127.0.0.1:{server.start()}"]
    try:
        assert run(["push", *where, *FILES]) == 0
        network = Network(1)
        network.add_switch(switch)
        # Three of each flow within a millisecond; one of them is on the wire for 45.
        frames = [reply(port, tos) for _ in range(3) for port in FLOWS]
        network.add_replay("host", [((1 + number) * MILLISECOND // 10, frame) for number, frame in enumerate(frames)])
        network.add_replay("line", [])
        network.connect("host", 0, "c7513", ETHERNET)
        network.connect("line", 0, "c7513", SERIAL)
        network.run(20 * MILLISECOND)
        capsys.readouterr()
        assert run(["show", "queue", *where, *FILES, "--port", "Serial5/0/0"]) == 0
    finally:
        server.stop()
    words = capsys.readouterr().out
    told = re.findall(
        r"\(depth/weight/discards/tail drops/interleaves\) (\d)/(\d+)/0/0/0\n"
        r" +Conversation \d+, linktype: ip, length: (\d+)\n"
        r" +source: 133\.10\.30\.1, destination: 133\.10\.50\.2,\n"
        rf" +TOS: {tos} prot: 6, source port (\d+), destination port (\d+)\n",
        words,
    )
    waiting = sorted((int(source), int(destination), int(depth)) for depth, _, _, source, destination in told)
    assert waiting == [(700, 1282, 2), (701, 1285, 3), (702, 1287, 3)], words
    assert {(int(weight), int(length)) for _, weight, length, _, _ in told} == {(weight, REPLY + 44)}
    assert "Output queue: 8/150/0 (size/max total/drops)" in words
