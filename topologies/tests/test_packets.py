from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Raw
from scapy.utils import PcapWriter

from phb_lab.packets import Bottleneck

CLIENT = "133.10.50.2"
MILLISECOND = 1_000_000


def segment(sequence, payload=1000, destination=CLIENT, port=700):
    return (
        Ether()
        / IP(src="135.1.1.1", dst=destination)
        / TCP(sport=port, dport=1024, seq=sequence, flags="A")
        / Raw(b"x" * payload)
    )


def capture(path, timed):
    with PcapWriter(str(path), nano=True, linktype=1) as writer:
        for at_ns, packet in timed:
            packet.time = at_ns / 1e9
            writer.write(packet)
    return path


def bottleneck(tmp_path, entered, left):
    return Bottleneck(capture(tmp_path / "in.pcap", entered), capture(tmp_path / "out.pcap", left), CLIENT)


def test_time_inside_is_departure_less_arrival(tmp_path):
    found = bottleneck(
        tmp_path,
        [(0, segment(1)), (0, segment(2))],
        [(10 * MILLISECOND, segment(1)), (30 * MILLISECOND, segment(2))],
    )
    passage = found.passage(range(700, 720))
    assert (passage.segments, passage.lost, passage.repeated) == (2, 0, 0)
    assert abs(passage.mean_s - 0.020) < 1e-6
    assert abs(passage.max_s - 0.030) < 1e-6


def test_a_segment_that_never_leaves_is_lost_and_its_second_copy_is_a_repetition(tmp_path):
    entered = [(0, segment(1)), (1 * MILLISECOND, segment(2)), (500 * MILLISECOND, segment(2))]
    found = bottleneck(tmp_path, entered, [(5 * MILLISECOND, segment(1)), (510 * MILLISECOND, segment(2))])
    passage = found.passage(range(700, 720))
    assert (passage.segments, passage.lost, passage.repeated) == (3, 1, 1)
    assert abs(passage.max_s - 0.010) < 1e-6


def test_other_destinations_ports_and_bare_acknowledgements_do_not_count(tmp_path):
    entered = [
        (0, segment(1, destination="10.0.0.1")),
        (0, segment(2, payload=0)),
        (0, segment(3, port=5001)),
    ]
    found = bottleneck(tmp_path, entered, [(1, segment(2, payload=0)), (2, segment(3, port=5001))])
    assert found.passage(range(700, 720)) is None
    assert found.passage(range(5001, 5031)).segments == 1


def test_packets_inside_at_a_time(tmp_path):
    entered = [(0, segment(1)), (0, segment(2)), (0, segment(3))]
    left = [(10 * MILLISECOND, segment(1)), (20 * MILLISECOND, segment(2)), (30 * MILLISECOND, segment(3))]
    found = bottleneck(tmp_path, entered, left)
    assert [found.inside(at * MILLISECOND) for at in (5, 15, 25, 35)] == [3, 2, 1, 0]
