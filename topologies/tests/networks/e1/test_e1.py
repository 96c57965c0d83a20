import pytest

from phb.formats import read_file
from phb_lab.description import Datagrams, Stream
from phb_lab.experiment import run_test
from phb_lab.networks.e1 import STUDY, description
from phb_lab.networks.e1.evaluation import STREAMS, WARM_UP_S

SOURCE = STUDY.published
PERCENT = {"ef": 19, "af1": 15, "af2": 10, "af3": 10, "af4": 5, "best-effort": 10}


def test_the_measurement_points_are_the_published_ones():
    points = {(test.published_delays, test.mtu_bytes) for test in STUDY.tests}
    keys = ("delay_ms_by_mtu", "delay_ms_by_mtu_large_buffers")
    assert points == {(key, mtu) for key in keys for mtu in SOURCE[key]}


@pytest.mark.parametrize("test", STUDY.tests, ids=lambda test: test.name)
def test_buffers_are_packets_or_bytes_whichever_are_less_and_parts_of_them_as_of_the_line(test):
    published = SOURCE[{"small": "buffers", "large": "buffers_large"}[test.buffers]]
    total = min(published["egress_packets"] * (test.mtu_bytes + 14), published["egress_bytes"])
    (queueing,) = read_file(test.buffers_file).queueing
    private = {buffer.action: buffer.bytes for buffer in queueing.buffers.private}
    assert private == {action: total * percent // 100 for action, percent in PERCENT.items()}
    assert queueing.buffers.shared_bytes == total * (100 - sum(PERCENT.values())) // 100
    shares = {queue.traffic_class: queue.bandwidth.weight for queue in queueing.schedule.queues}
    assert shares == {"premium": SOURCE["scheduler"]["queues"]["premium"], "class-default": 10}


def test_ef_is_policed_at_its_part_of_the_line_and_offers_more():
    streams = read_file(description.EXAMPLES / "streams.yaml")
    rate = next(action for action in streams.actions if action.name == "ef").meter.committed_rate
    assert rate.basis == "ppp"
    assert rate.bits_per_second * 100 == PERCENT["ef"] * description.LINE_BPS
    network = STUDY.network(STUDY.tests[0], seed=1, options=STUDY.defaults())
    offered = next(flow for flow in network.flows if flow.name == "EF")
    frame_bits = (offered.payload_bytes + 8 + 20 + description.PPP_HEADER) * 8
    assert frame_bits * description.SECOND / offered.interval_ns == pytest.approx(0.20 * description.LINE_BPS, rel=1e-5)


def test_each_tcp_stream_has_a_connection_and_a_probe_to_the_same_receiver():
    network = STUDY.network(STUDY.tests[0], seed=1, options=STUDY.defaults())
    for stream in STREAMS[1:]:
        kinds = {type(flow): flow for flow in network.flows if flow.group == stream}
        assert set(kinds) == {Stream, Datagrams}
        assert kinds[Stream].server_address == kinds[Datagrams].server_address


def test_another_reading_of_the_pool_is_the_same_policy_but_for_its_number():
    test = STUDY.tests[0]
    *others, buffers = STUDY.network(test, seed=1, options={**STUDY.defaults(), "holes": 6}).switches[0].policy_files
    *shipped, own = STUDY.network(test, seed=1, options=STUDY.defaults()).switches[0].policy_files
    assert others == shipped
    assert own == test.buffers_file
    (changed,), (default,) = read_file(buffers).queueing, read_file(own).queueing
    assert (default.buffers.holes, changed.buffers.holes) == (1, 6)
    assert changed.buffers.model_copy(update={"holes": 1}) == default.buffers


def test_windows_are_a_tenth_above_policy_and_expected_share():
    own, windows = (read_file(description.EXAMPLES / name) for name in ("streams.yaml", "streams-windows.yaml"))
    streams = dict(zip(PERCENT, STREAMS, strict=True))
    for action in windows.actions:
        if action.name != "ef":
            expected = SOURCE["throughput_percent_of_link"][streams[action.name]]["expected"]
            assert float(action.max_rate.bits_per_second) == pytest.approx(
                1.1 * expected / 100 * description.LINE_BPS, abs=500
            )
    assert [action.model_copy(update={"max_rate": None}) for action in windows.actions] == list(own.actions)
    assert windows.rules == own.rules


def test_windows_lose_nothing_where_buffers_hold_few_packets():
    test = STUDY.find_test("small-1500")
    router, _, buffers = STUDY.network(test, seed=1, options=STUDY.defaults()).switches[0].policy_files
    files = (router, description.EXAMPLES / "streams-windows.yaml", buffers)
    details = run_test(STUDY, test, policies={"ibm2212": files}, duration_s=30).details
    assert set(details.dropped) == {"policed"}
    assert set(details.silent.values()) == {0}
    assert all(details.router[s] > SOURCE["throughput_percent_of_link"][s]["policy"] - 0.05 for s in STREAMS)


def test_start_times_follow_from_the_seed():
    def starts(seed):
        network = STUDY.network(STUDY.tests[0], seed=seed, options=STUDY.defaults())
        return [flow.start_ns for flow in network.flows]

    assert starts(1) == starts(1)
    assert starts(1) != starts(2)


@pytest.fixture(scope="module")
def run():
    return run_test(STUDY, STUDY.find_test("large-1500"), seed=1, duration_s=60)


def test_every_stream_gets_at_least_its_policy_and_the_line_is_full(run):
    for stream in STREAMS:
        assert run.details.router[stream] > SOURCE["throughput_percent_of_link"][stream]["policy"] - 0.05
        assert run.details.application[stream] < run.details.router[stream]
    assert 98 < sum(run.details.router.values()) < 100


def test_the_policer_lets_through_its_rate_and_drops_the_rest(run):
    assert run.details.router["EF"] == pytest.approx(19.0, abs=0.01)
    seconds = run.duration_s
    assert run.details.dropped["policed"] == pytest.approx(
        0.05 * seconds * description.SECOND / description.EF_INTERVAL_NS, rel=0.05
    )


def test_ef_waits_for_a_packet_and_the_others_for_a_queue(run):
    packet_ms = 1507 * 8 / description.LINE_BPS * 1000
    ef = run.details.delays["EF"]
    assert ef.mean_s * 1000 < packet_ms
    assert all(run.details.delays[stream].mean_s > 40 * ef.mean_s for stream in STREAMS[1:])
    # As long as all that the buffers hold takes, at most: the larger buffers without what is kept for EF.
    longest_ms = 110_000 * 0.81 * 8 / (0.79 * description.LINE_BPS) * 1000
    assert all(run.details.delays[stream].sorted_ns[-1] / 1e6 < longest_ms for stream in STREAMS[1:])


def test_the_same_seed_gives_the_same_figures(run):
    short = [run_test(STUDY, STUDY.find_test("small-500"), seed=7, duration_s=WARM_UP_S + 2).figures for _ in range(2)]
    assert short[0] == short[1]
