import pytest

from phb_lab.measures import Groups, Spread
from phb_lab.outcome import Delivery, Outcome, Transaction

MS = 1_000_000


def outcome(transactions=(), deliveries=()):
    return Outcome(tuple(transactions), tuple(deliveries), (), {}, {}, {}, 0.0)


def test_quantiles_are_samples_that_enough_of_the_others_do_not_exceed():
    spread = Spread.of([4.0, 1.0, 3.0, 2.0])
    assert [spread.quantile(share) for share in (0, 0.25, 0.5, 0.51, 0.95, 1)] == [1, 1, 2, 3, 4, 4]


def test_a_group_of_transactions():
    done = [Transaction("a", "asked", 0, n * 100 * MS) for n in range(1, 101)]
    group = Groups.of(["asked"], outcome(done), duration_s=10)["asked"]
    assert (group.n, group.per_s, group.p50_s, group.p95_s, group.p99_s, group.max_s) == (100, 10, 5, 9.5, 9.9, 10)
    assert group.mean_s == pytest.approx(5.05)


def test_a_group_of_datagrams():
    delivery = Delivery("u", "load", 10, 1000, 8, 800, (400, 400), ((5, 1 * MS), (6, 3 * MS)))
    group = Groups.of(["load"], outcome(deliveries=[delivery]), duration_s=2)["load"]
    assert (group.throughput_bps, group.delays.mean, group.delays.quantile(1)) == (3200, 0.002, 0.003)
    assert group.loss == pytest.approx(0.2)
    assert group.values()["loss"] == pytest.approx(0.2)


def test_what_is_in_flight_at_the_end_is_not_lost():
    delivery = Delivery("u", "load", 10, 1000, 6, 600, (600,), in_flight_packets=2)
    assert (delivery.lost_packets, delivery.arrived) == (2, 0.75)
    assert Groups.of(["load"], outcome(deliveries=[delivery]), duration_s=1)["load"].loss == 0.25
    alone = Delivery("u", "load", 2, 200, 0, 0, (0,), in_flight_packets=2)
    assert "loss" not in Groups.of(["load"], outcome(deliveries=[alone]), duration_s=1)["load"].values()


def test_a_group_that_got_nothing_shows_and_has_no_zero_for_what_was_not_measured():
    groups = Groups.of(["asked"], outcome(), duration_s=2)
    assert groups["asked"].n == 0
    assert groups["asked"].values() == {}
    for ask in ("mean_s", "p95_s", "throughput_bps", "loss", "delays"):
        with pytest.raises(LookupError, match="asked: no "):
            getattr(groups["asked"], ask)


def test_an_unknown_group_names_the_known_ones():
    with pytest.raises(KeyError, match="group x: expected one of: a, b"):
        Groups.of(["a", "b", "a"], outcome(), duration_s=2)["x"]
