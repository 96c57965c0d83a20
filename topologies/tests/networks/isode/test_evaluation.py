from dataclasses import replace

import pytest

from phb_lab.errors import LabError
from phb_lab.experiment import run_test
from phb_lab.figures import Figure
from phb_lab.networks.isode import STUDY
from phb_lab.networks.isode.evaluation import evaluate
from phb_lab.networks.isode.pictures import BIN_S, draw_rates, draw_throughput
from phb_lab.networks.isode.tables import circumstances_table, transfer_table
from phb_lab.networks.isode.tests import Asked, Sending
from phb_lab.networks.isode.words import conclusions
from phb_lab.outcome import NANOSECONDS, Delivery, Outcome, Transaction

NETWORK = STUDY.network(STUDY.find_test("shaped"), seed=1, options=STUDY.defaults())
LOADED = "round2_shaped_512k.two_queues_cs1_50_cs2_50.with_cs1_background"


def outcome(*seconds, deliveries=()):
    """Messages of one connection that took so long, one after another."""
    transactions = []
    now = 0
    for taken in seconds:
        transactions.append(Transaction("immediate", "immediate", now, now + round(taken * NANOSECONDS)))
        now += round(taken * NANOSECONDS)
    return Outcome(
        transactions=tuple(transactions),
        deliveries=deliveries,
        conservation=(),
        shared={},
        adapters={},
        snapshots={},
        wall_s=0.0,
    )


def figures(path, sendings, given, duration_s=100):
    found = evaluate(path, sendings, NETWORK, given, captures=None, destination="10.10.80.10", duration_s=duration_s)
    return {figure.quantity: figure for figure in found.figures}


def test_the_fastest_of_several_messages_counts_beside_what_is_published():
    sendings = [Sending("immediate", "1M", at, "1M") for at in (1, 40)]
    found = figures("round2_shaped_512k.single", sendings, outcome(25, 20))
    assert (found["1M.s"].measured, found["1M.s"].published) == (20, 22.25)
    assert (found["1M.kbps"].measured, found["1M.kbps"].published) == (400, 359)


def test_a_share_is_of_the_message_that_it_names():
    sendings = [
        Sending("immediate", "1M", 1, "alone"),
        Sending("immediate", "1M", 40, "immediate_1M", base="alone", asked=Asked(low=0.9)),
    ]
    found = figures(LOADED, sendings, outcome(20, 40))
    share = found["immediate_1M.of_base"]
    assert (share.measured, share.published, share.met) == (0.5, 0.55, False)
    assert found["immediate_1M.kbps"].met is None


def test_parallel_messages_are_published_as_seconds_and_rates():
    path = "round1_unshaped_2mbps.parallel_10M_s.2"
    found = figures(path, [Sending("immediate", "10M", 1, "immediate")], outcome(80))
    assert (found["immediate"].measured, found["immediate"].published) == (80, 172.594)
    assert (found["immediate.kbps"].measured, found["immediate.kbps"].published) == (1000, 464)


def test_a_bound_is_told_in_words():
    found = figures(LOADED, [Sending("immediate", "10k", 1, "priority_10k")], outcome(50))
    assert found["priority_10k.s"].published is None
    assert found["priority_10k.s"].note == "published: >180"


def test_calibrated_figures_say_so():
    found = figures("round1_unshaped_2mbps.single", [Sending("immediate", "10M", 1, "10M")], outcome(90))
    assert found["10M.kbps"].note == "calibrated: the frames that the WAN loses"


def test_the_load_of_a_test_that_shares_its_table_has_the_tests_name():
    load = Delivery("load-1", "load", 100, 10_000, 20, 2_000, (0, 10, 20, 30, 40, 50, 100, 100))
    found = figures("answer", [], outcome(deliveries=(load,)), duration_s=8)
    assert [quantity.rpartition(".")[2] for quantity in found] == ["background_utilisation_bps"]
    assert all(quantity.count(".") == 1 for quantity in found)


def test_the_load_counts_once_it_has_settled():
    load = Delivery("load-1", "load", 100, 10_000, 20, 2_000, (0, 10, 20, 30, 40, 50, 100, 100))
    found = figures("round2_shaped_512k", [], outcome(deliveries=(load, replace(load, flow="load-2"))), duration_s=8)
    assert found["background_utilisation_bps"].measured == 1600
    assert found["background_utilisation_bps"].published == 500_000


def test_a_run_without_a_figure_is_refused():
    with pytest.raises(LabError, match="isode/shaped: no message was delivered in 3 s"):
        figures("round2_shaped_512k.single", [Sending("immediate", "1M", 1, "1M")], outcome(), duration_s=3)


@pytest.fixture(scope="module")
def short():
    """A loaded test, so short that its second message is under way."""
    return run_test(STUDY, STUDY.find_test("one-queue-load-printed"), duration_s=40)


def test_captures_say_what_the_message_went_through(short):
    alone, loaded = short.details.transfers
    assert alone.transaction is not None
    assert alone.segments == 685  # 1,000,000 bytes by 1,460
    assert (alone.lost, alone.repeated) == (0, 0)
    assert alone.ip_bytes == 1_000_000 + 685 * 40
    assert loaded.transaction is None
    assert loaded.inside_s > 2 * alone.inside_s
    without_data = sum(short.details.carried["immediate"]) - alone.ip_bytes - loaded.ip_bytes
    assert 80 <= without_data < 400  # the connection's opening, and acknowledgements of answers


def test_a_message_under_way_has_no_time(short):
    with pytest.raises(ValueError, match="standard_wred is under way"):
        _ = short.details.transfers[1].seconds


def test_tables_have_a_row_for_every_message(short):
    assert transfer_table([short]).row_count == 3
    table = circumstances_table([short, replace(short, options=short.options | {"loads": 2})], STUDY.defaults())
    assert list(table.columns[1].cells) == ["as above", "loads 2"]
    assert next(iter(table.columns[2].cells)).endswith("standard wred -")


def test_conclusions_are_about_the_runs_that_were_made(short):
    (said,) = conclusions([short])
    assert said.endswith("the message was not delivered in this run.")
    assert conclusions([]) == []


def test_pictures_are_drawn_the_same_each_time(tmp_path):
    rates = [
        Figure("round2_shaped_512k.single", "1M.kbps", "kbit/s", 400.0, 359.0),
        Figure("round2_shaped_512k.single", "1M.s", "s", 20.0, 22.25),
    ]
    drawn = []
    for folder in ("first", "second"):
        paths = draw_rates(rates, tmp_path / folder / "rates")
        paths += draw_throughput("t", {"immediate": [1000] * (2 * BIN_S + 1)}, 512, tmp_path / folder / "throughput")
        drawn.append([path.read_bytes() for path in paths])
    assert drawn[0] == drawn[1]
    assert drawn[0][0].startswith(b"\x89PNG")


def test_a_run_without_any_rate_of_messages_has_no_picture_of_them(tmp_path):
    assert (
        draw_rates([Figure("round2_shaped_512k", "background_utilisation_bps", "bit/s", 480_571, 500_000)], tmp_path)
        == []
    )
    alone = run_test(STUDY, STUDY.find_test("load-alone"), duration_s=20)
    assert {path.stem for path in STUDY.pictures([alone], [], tmp_path)} == {"load-alone"}
