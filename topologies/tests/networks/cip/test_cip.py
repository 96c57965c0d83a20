from dataclasses import replace

import pytest

from phb_lab.errors import LabError
from phb_lab.experiment import run_test
from phb_lab.networks.cip import STUDY, words
from phb_lab.report.page import page


def run(name, seconds, **options):
    return run_test(STUDY, STUDY.find_test(name), duration_s=seconds, options=options)


@pytest.mark.parametrize(
    ("name", "seconds", "quantities"),
    [
        ("ping-1", 3, ("ping_one_channel_MBps", "cip_cpu_percent_at_max")),
        ("ping-2", 3, ("ping_two_channels_MBps",)),
        ("csna-6000-pu", 16, ("pus", "pps_6000_pu", "cip_cpu_percent", "transactions_per_s")),
        ("csna-16000-lu", 20, ("lus", "pps_16000_lu")),
        ("csna-bulk", 5, ("bulk_MBps_at_half_cpu",)),
        ("tn3270-1000", 20, ("lus_1000_tps", "cip_cpu_percent")),
    ],
)
def test_figures_within_five_percent_of_the_published_ones(name, seconds, quantities):
    done = run(name, seconds)
    for quantity in quantities:
        assert done.figure(quantity).met, done.figure(quantity)


def test_an_acknowledgement_costs_the_channel_a_block():
    done = run("tcp-stream", 5, blocks_per_interrupt=1)
    # Each second segment is acknowledged: two of three of the channel's 3,023 blocks/s are data of 4,056 bytes.
    assert done.figure("tcp_stream_per_channel_MBps").measured == pytest.approx(12.383 * 2 / 3 * 4056 / 4096, rel=0.01)
    assert done.details.channel == pytest.approx(100, abs=0.5)


def test_a_larger_window_and_fewer_interrupts_carry_more():
    rates = [
        run("tcp-stream", 5, **options).details.rate
        for options in ({"blocks_per_interrupt": 1}, {}, {"window": 65_535})
    ]
    assert rates == sorted(rates)
    assert rates[0] < 18.4 < rates[1] < 2 * 12.383


def test_transfers_from_workstations_take_a_block_for_each_short_packet():
    alone, beside = run("ftp", 5), run("ftp-ping", 5)
    # Were every packet one of FDDI's, and none an acknowledgement, they could carry what the pings do.
    assert 0 < alone.figure("ftp_MBps").measured < 12.383 / 2
    assert alone.figure("ftp_MBps").published is None
    # The source saw the one channel not saturated, and the other saturated: the first is said to be missed.
    assert (alone.figure("channel_percent").met, beside.figure("channel_percent").met) == (False, True)
    # A ping of 2,500 packets/s takes what the transfers leave, and they some of what it would have had.
    assert beside.figure("channel_percent").measured == pytest.approx(100, abs=0.5)
    assert beside.figure("ftp_MBps").measured < alone.figure("ftp_MBps").measured
    assert 0 < beside.figure("ping_MBps").measured < 2_500 * 4_096 / 1e6
    assert [node for node in beside.outcome.conservation if not node.holds] == []
    lines = words.conclusions([alone, beside])
    assert [line.split(":")[0] for line in lines] == ["file transfers", "one ping beside the transfers"]


def test_cmpc_is_above_the_published_bound_and_says_that_it_is_one():
    done = run("cmpc", 5)
    figure = done.figure("MBps")
    assert (figure.published, figure.low, figure.high) == (10.85, 10.85, None)
    assert figure.measured == pytest.approx(12.383, rel=0.005)
    assert "in excess of" in figure.note
    assert words.conclusions([done])[0].startswith("CMPC: 12.38 MB/s is the rate of the pings' channel")


def test_more_stations_than_llc2_sessions_are_refused():
    test = STUDY.find_test("csna-6000-pu")
    network = STUDY.network(test, seed=1, options=STUDY.defaults())
    more = replace(network, stations=(replace(network.stations[0], pus=6_010),))

    class Larger(type(STUDY)):
        def network(self, test, *, seed, options):
            return more

    done = run_test(Larger(), test, duration_s=11)
    (counted,) = done.outcome.adapters.values()
    assert (counted["llc2_sessions"], counted["llc2_refused"]) == (6_000, 10)


def test_paced_sessions_are_real_connections_and_all_are_served():
    done = run("tn3270-16000", 60)
    assert done.details.cpu > 90
    host = next(node for node in done.outcome.conservation if node.node == "tn3270-0")
    assert host.dropped == {}
    assert len({transaction.flow for transaction in done.outcome.transactions}) == 16_000


def test_a_run_no_longer_than_its_warm_up_says_so():
    with pytest.raises(LabError, match="csna-bulk: 2 s are no longer than its warm-up of 2 s"):
        run("csna-bulk", 2)


def test_the_same_seed_gives_the_same_figures_and_pictures(tmp_path):
    runs = [run("csna-bulk", 4) for _ in range(2)]
    assert runs[0].figures == runs[1].figures
    pictures = [[path.read_bytes() for path in STUDY.pictures([each], [], tmp_path)] for each in runs]
    assert pictures[0] == pictures[1] != []


def test_the_same_seed_gives_the_same_page_which_tells_of_stations(tmp_path):
    first, second = (page(STUDY, [run("csna-bulk", 4)], []) for _ in range(2))
    assert first == second
    assert "sna, logical units of lpar1: 4,083 bytes asked and waits for nothing; LLC2 connections: 1," in first


def test_conclusions_count_predictions_and_explain_what_is_off():
    tcp = run("tcp-stream", 5, window=65_535)
    lines = words.conclusions([tcp])
    assert lines[0].startswith("0 of 3 predicted figures lie within 5% of the published ones")
    assert any(line.startswith("TCP from partition to partition") for line in lines)
    assert len(STUDY.tables([tcp], [tcp])) == 2
