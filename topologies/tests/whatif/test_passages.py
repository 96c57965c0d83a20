import random

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether

from phb_lab.whatif.passages import Passage, Seen, identify, measure, pair

MS = 1_000_000


def tcp(number, **changes):
    header = IP(src="192.0.2.1", dst="198.51.100.2", id=number, tos=changes.get("tos", 0), ttl=changes.get("ttl", 64))
    segment = TCP(sport=700, dport=1282, seq=number, window=changes.get("window", 100))
    return bytes(Ether(src=changes.get("mac", "02:00:00:00:00:01")) / header / segment / b"x")


@pytest.mark.parametrize("changes", [{"tos": 252}, {"ttl": 63}, {"window": 7}, {"mac": "02:00:00:00:00:09"}])
def test_what_a_switch_may_change_is_no_part_of_a_packet(changes):
    assert identify(tcp(5)) == identify(tcp(5, **changes)) != identify(tcp(6, **changes))


@pytest.mark.parametrize(
    "made",
    [
        lambda text: Ether() / IPv6() / UDP(sport=5, dport=6) / text,
        lambda text: Ether() / Dot1Q(vlan=3) / IP() / UDP(sport=5, dport=6) / text,
        lambda text: Ether() / IP(proto=47) / text,
        lambda text: Ether() / IP(frag=3) / text,
    ],
)
def test_other_packets_differ_by_what_they_carry(made):
    assert identify(bytes(made(b"one"))) == identify(bytes(made(b"one"))) != identify(bytes(made(b"two")))


def test_padding_is_no_part_of_a_packet():
    assert identify(tcp(5) + bytes(9)) == identify(tcp(5))


@pytest.mark.parametrize("frame", [b"", bytes(60), bytes(12) + b"\x08\x00" + bytes(10)])
def test_what_is_no_ip_packet_is_none(frame):
    assert identify(frame) is None


def test_packets_through_a_random_queue_are_paired_with_themselves():
    """Against what was done to them: each stays or is lost at random, and every one is sent twice."""
    drawn = random.Random(7)
    entered, left, expected, leaves_at = [], [], [], 0
    for place in range(300):
        arrived = place * MS
        frame = tcp(place // 2)  # every packet is sent twice
        entered.append(Seen(arrived, 1, frame, place))
        if drawn.random() < 0.3:
            expected.append(None)
            continue
        leaves_at = max(leaves_at, arrived) + drawn.randrange(MS // 2)
        expected.append(leaves_at)
        left.append(Seen(leaves_at, 2, frame))
    found = pair(entered, left)
    assert [seen.place for seen, _, _ in found] == list(range(300))
    # Of two equal packets of which one was lost nobody can tell which: what counts is how many left, and when.
    for first, second in zip(found[::2], found[1::2], strict=True):
        told = [first[2].left_ns, second[2].left_ns]
        happened = expected[first[0].place : first[0].place + 2]
        assert sorted(at for at in told if at is not None) == sorted(at for at in happened if at is not None)


def test_a_packet_does_not_leave_before_it_came():
    ((_, _, passage),) = pair([Seen(5, 1, tcp(1))], [Seen(4, 2, tcp(1))])
    assert passage.left_ns is None


def test_measures_of_a_class():
    values = measure([Passage(0, 2 * MS, 1000), Passage(0, 4 * MS, 1000), Passage(1, None, 500)], 2.0)
    assert values["packets_per_s"] == 1.5
    assert values["throughput_bps"] == 8000
    assert values["loss"] == pytest.approx(1 / 3)
    assert (values["delay_mean_s"], values["delay_p95_s"]) == (0.003, 0.004)


def test_a_class_of_which_all_is_lost_has_no_delay():
    assert measure([Passage(0, None, 1)], 1.0) == {"packets_per_s": 1, "throughput_bps": 0, "loss": 1}


@pytest.mark.parametrize(("cut_off_ns", "loss"), [(None, 2 / 3), (20 * MS, 1 / 2), (6 * MS, 0)])
def test_what_may_still_wait_at_the_end_is_not_lost(cut_off_ns, loss):
    passages = [Passage(0, 9 * MS, 1), Passage(10 * MS, None, 1), Passage(15 * MS, None, 1)]
    assert measure(passages, 1.0, cut_off_ns=cut_off_ns)["loss"] == pytest.approx(loss)
