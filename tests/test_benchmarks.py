"""The limits that `make bench` checks its figures against; the figures are measured there, never here."""

import pytest

from benchmarks import lab
from benchmarks.figures import DEMANDS, Demand, Figure, parse, read, write


@pytest.mark.parametrize(
    ("demand", "values", "measured", "met"),
    [
        (Demand("a", at_least=3), {"a": 3.0}, 3.0, True),
        (Demand("a", at_least=3), {"a": 2.9}, 2.9, False),
        (Demand("a", at_most=3), {"a": 3.1}, 3.1, False),
        (Demand("a", over="b", at_least=6), {"a": 12.0, "b": 2.0}, 6.0, True),
        (Demand("a", over="b", at_most=2), {"a": 5.0, "b": 2.0}, 2.5, False),
    ],
)
def test_a_demand_is_met_or_not(demand, values, measured, met):
    assert demand.measured(values) == measured
    assert demand.met(measured) is met


def test_a_ratio_without_one_of_its_figures_is_not_measured():
    demand = Demand("a", over="b", at_least=6)
    assert demand.measured({"a": 1.0}) is None
    assert demand.measured({"b": 1.0}) is None
    assert demand.measured({"a": 1.0, "b": 0.0}) is None


def test_figures_are_read_as_written(tmp_path):
    figures = [Figure("pifo.1000.ops", 17e6, "1/s"), Figure("shaper.error", 0.0, "1")]
    write(tmp_path / "out" / "bench.json", figures)
    assert read(tmp_path / "out" / "bench.json") == figures


@pytest.mark.parametrize("text", ['{"a": 1}', '[{"name": "a"}]', "[1]", "nothing"])
def test_what_is_no_list_of_figures_is_refused(text):
    with pytest.raises(ValueError, match=r"list of name|Expecting"):
        parse(text)


def test_every_demand_names_one_bound():
    assert all((demand.at_least is None) != (demand.at_most is None) for demand in DEMANDS)


def test_the_sessions_make_the_transactions_that_the_speed_is_measured_with():
    network = lab.sessions(157)  # a pause of 0.2 s
    network.run(11_000_000_000)
    steady = [end for *_, end in network.transactions() if end >= 1_000_000_000]
    # Two wires of 1 ms beside the pause of 200 ms: 1 % less, and the edges of the ten seconds.
    assert 0.98 * lab.TRANSACTIONS_PER_S < len(steady) / 10 <= lab.TRANSACTIONS_PER_S
    assert network.statistics()["hosts"]["clients"]["connections_failed"] == 0
