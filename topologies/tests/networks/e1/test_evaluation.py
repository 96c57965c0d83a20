from types import SimpleNamespace

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

from phb_lab.errors import LabError
from phb_lab.networks.e1 import STUDY, evaluation, words
from phb_lab.outcome import Conservation, Delivery, Outcome

SOURCE = STUDY.published
RECEIVERS = {stream: f"203.0.113.{number}" for number, stream in enumerate(evaluation.STREAMS, 1)}
LINE_BPS = 2_048_000
SECOND = 1_000_000_000


def frame(stream, payload, at_s, transport=None):
    made = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
    made /= IP(src="192.0.2.2", dst=RECEIVERS[stream]) / (transport or UDP(sport=1, dport=2)) / bytes(payload)
    made.time = at_s
    return made


@pytest.mark.parametrize(
    ("times", "counted"),
    [((9.9, 10.0, 10.5), 2), ((11.999, 12.0, 13.0), 1), ((), 0)],
)
def test_octets_are_those_between_two_times_with_the_links_header(tmp_path, times, counted):
    capture = tmp_path / "line.pcap"
    other = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02") / IP(src=RECEIVERS["AF1"], dst="192.0.2.2") / UDP()
    other.time = 11
    wrpcap(str(capture), [*(frame("AF1", 100, at) for at in times), other], nano=True)
    sent = evaluation.read_sent(capture, RECEIVERS, -10, 10 * SECOND, 12 * SECOND)
    assert sent.octets == dict.fromkeys(RECEIVERS, 0) | {"AF1": counted * (100 + 28 + 4)}


@pytest.mark.parametrize(
    ("times", "silent_s"),
    [((10.1, 10.9, 11.7), 0), ((10.1, 11.2, 11.5), 1.1), ((10.95,), 0.95), ((5.0, 10.5, 13.0), 0)],
)
def test_a_connection_is_silent_where_its_timer_is_what_it_waits_for(tmp_path, times, silent_s):
    capture = tmp_path / "line.pcap"
    # Probes to the same receiver are no sign of life of the connection.
    frames = [frame("AF2", 40, at, TCP(sport=1, dport=2)) for at in times]
    frames += [frame("AF2", 28, at) for at in (10.2, 10.6)]
    wrpcap(str(capture), sorted(frames, key=lambda each: each.time), nano=True)
    sent = evaluation.read_sent(capture, RECEIVERS, -10, 10 * SECOND, 12 * SECOND)
    assert sent.silent_ns["AF2"] == pytest.approx(silent_s * SECOND, abs=1000)


def outcome(by_second):
    """All streams alike; every datagram took its number in ms."""
    names = [
        name
        for stream in evaluation.STREAMS
        for name in ((stream,) if stream == "EF" else (stream, evaluation.probe(stream)))
    ]
    delays = tuple((at * SECOND, at * 1_000_000) for at in range(5, 12))
    deliveries = tuple(Delivery(name, name, 0, 0, 0, 0, by_second, delays) for name in names)
    router = Conservation("ibm2212", 10, 3, {"no_buffer": 7}, 0)
    return Outcome((), deliveries, (router,), {}, {}, {}, 0.0)


def evaluate(tmp_path, mtu=500, key="delay_ms_by_mtu", duration_s=12):
    capture = tmp_path / "line.pcap"
    # 2,560 bytes in two seconds are half a percent of the line.
    wrpcap(str(capture), [frame("AF1", 1280 - 32, 10 + n) for n in range(2)], nano=True)
    return evaluation.evaluate(
        "point",
        outcome([1000] * 10 + [2560] * 2),
        SOURCE,
        delays_key=key,
        mtu=mtu,
        line=capture,
        line_bps=LINE_BPS,
        link_bytes=-10,
        receivers=RECEIVERS,
        duration_s=duration_s,
    )


def test_shares_and_delays_leave_the_warm_up_out(tmp_path):
    found = evaluate(tmp_path)
    assert found.details.router == dict.fromkeys(evaluation.STREAMS, 0) | {"AF1": pytest.approx(0.5)}
    assert found.details.application == dict.fromkeys(evaluation.STREAMS, pytest.approx(1.0))
    figures = {figure.quantity: figure for figure in found.figures}
    assert figures["delay_ms_by_mtu.500.AF1"].measured == pytest.approx(10.5)  # those of 10 and 11 s
    assert figures["delay_ms_by_mtu.500.AF1.p99"].measured == pytest.approx(11)
    assert found.remarks[0] == "the 2212 dropped (packets): 7 no buffer"


@pytest.mark.parametrize(
    ("key", "mtu"), [(key, mtu) for key in ("delay_ms_by_mtu", "delay_ms_by_mtu_large_buffers") for mtu in SOURCE[key]]
)
def test_every_figure_but_the_percentiles_stands_beside_a_published_one(tmp_path, key, mtu):
    for figure in evaluate(tmp_path, mtu, key).figures:
        assert (figure.published is None) == figure.quantity.endswith(".p99")


@pytest.mark.parametrize(
    ("quantity", "low", "high"),
    [
        ("throughput_percent_of_link.EF.router", 18.95, 20.05),
        ("throughput_percent_of_link.AF1.router", 18.95, 21.05),
        ("throughput_percent_of_link.AF4.router", 9.95, 12.05),
        ("throughput_percent_of_link.AF4.application", None, None),
        ("delay_ms_by_mtu.500.EF", None, 6.0),
        ("delay_ms_by_mtu.500.AF1", None, None),
    ],
)
def test_what_is_asked(tmp_path, quantity, low, high):
    figure = next(figure for figure in evaluate(tmp_path).figures if figure.quantity == quantity)
    assert (figure.low, figure.high) == (pytest.approx(low), pytest.approx(high))


def test_a_run_that_is_all_warm_up_says_so(tmp_path):
    with pytest.raises(LabError, match="point: 10 s are no more than the 10 s"):
        evaluate(tmp_path, duration_s=10)


def test_conclusions_name_what_is_missed(tmp_path):
    found = evaluate(tmp_path)
    point = SimpleNamespace(name="point")
    run = SimpleNamespace(test=point, figures=found.figures, details=found.details)
    first, *missed = words.conclusions([run])
    assert first == "0 of 7 figures lie where they were asked to"
    assert "point: throughput_percent_of_link.AF4.router is 0.00 %, asked was 9.95 to 12.05" in missed
    assert "point: delay_ms_by_mtu.500.EF is 10.50 ms, asked was at most 6" in missed
    assert missed[-1].startswith("point: of the time, connections waited for their retransmission timers: AF1 0 %, ")
