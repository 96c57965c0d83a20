"""Capture files: times, lengths, interfaces, and what is refused."""

import gzip

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import PcapNgWriter, PcapWriter

from phb import InputError
from phb.explain.captures import read_capture


def packets():
    for number in range(3):
        packet = Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=number, dport=7) / bytes(100)
        packet.time = 1_000_000_000 + number / 1000
        yield packet


@pytest.mark.parametrize("nano", [False, True])
def test_pcap(tmp_path, nano):
    with PcapWriter(str(tmp_path / "a.pcap"), nano=nano) as writer:
        writer.write(list(packets()))
    read = list(read_capture(tmp_path / "a.pcap"))
    assert [arrival.time_ns - 10**18 for arrival in read] == pytest.approx([0, 10**6, 2 * 10**6], abs=1000)
    assert [arrival.frame for arrival in read] == [bytes(packet) for packet in packets()]
    assert [(arrival.port, arrival.length, arrival.origin.line) for arrival in read] == [
        (None, 142, number) for number in (1, 2, 3)
    ]


def test_gzip(tmp_path):
    with PcapWriter(str(tmp_path / "a.pcap")) as writer:
        writer.write(list(packets()))
    (tmp_path / "a.pcap.gz").write_bytes(gzip.compress((tmp_path / "a.pcap").read_bytes()))
    assert len(list(read_capture(tmp_path / "a.pcap.gz"))) == 3


def test_pcapng_names_its_interfaces(tmp_path):
    with PcapNgWriter(str(tmp_path / "a.pcapng")) as writer:
        for number, packet in enumerate(packets()):
            packet.sniffed_on = f"if{number % 2}"
            writer.write(packet)
    read = list(read_capture(tmp_path / "a.pcapng"))
    assert [arrival.port for arrival in read] == ["if0", "if1", "if0"]
    assert [arrival.time_ns - 10**18 for arrival in read] == pytest.approx([0, 10**6, 2 * 10**6], abs=1000)


def test_raw_ip_gets_the_header_that_schedulers_count(tmp_path):
    with PcapWriter(str(tmp_path / "a.pcap"), linktype=101) as writer:
        writer.write(IP(src="10.0.0.1", dst="10.0.0.2") / UDP())
    (arrival,) = read_capture(tmp_path / "a.pcap")
    assert Ether(arrival.frame)[IP].src == "10.0.0.1"
    assert arrival.length == 14 + 28


def test_a_snapped_packet_keeps_its_length(tmp_path):
    with PcapWriter(str(tmp_path / "a.pcap"), snaplen=40) as writer:
        packet = next(packets())
        writer.write_header(packet)
        writer.write_packet(bytes(packet)[:40], caplen=40, wirelen=1514)
    (arrival,) = read_capture(tmp_path / "a.pcap")
    assert (len(arrival.frame), arrival.length) == (40, 1514)


def test_what_is_no_capture_is_refused(tmp_path):
    (tmp_path / "text").write_text("not a capture")
    (tmp_path / "empty").write_text("")
    for name in ("text", "empty"):
        with pytest.raises(InputError, match="found a file that is no capture, expected pcap or pcapng"):
            list(read_capture(tmp_path / name))
    with pytest.raises(InputError, match="found no such file or directory"):
        list(read_capture(tmp_path / "absent"))
    with PcapWriter(str(tmp_path / "wifi.pcap"), linktype=105) as writer:
        writer.write(next(packets()))
    with pytest.raises(InputError, match=r"wifi.pcap:1: found a packet of link type 105, expected Ethernet"):
        list(read_capture(tmp_path / "wifi.pcap"))
