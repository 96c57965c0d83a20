import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from phb_lab.errors import UsageError
from phb_lab.figures import Figure
from phb_lab.report import comparing
from phb_lab.report.document import ResultsFile


def results_file(name, *figures, network="s390"):
    made = tuple(Figure("t", quantity, "s", measured, published) for quantity, measured, published in figures)
    return ResultsFile(Path(name), network, "virtual", "phb-switch", 1, made)


A = results_file("a.json", ("i.avg", 1.0, 2.0), ("i.n", 10.0, None), ("zero", 0.0, None), ("only a", 1.0, None))
B = results_file("b.json", ("i.avg", 1.2, 2.0), ("i.n", 10.0, None), ("zero", 0.1, None), ("only b", 1.0, None))


def test_figures_in_common_are_compared_with_the_first_file():
    comparison = comparing.compare([A, B])
    assert [row.figures[0].quantity for row in comparison.rows] == ["i.avg", "i.n", "zero"]
    assert [row.ratios for row in comparison.rows] == [(1.2,), (1.0,), (None,)]
    assert [row.figures[0].quantity for row in comparison.beyond(0.25)] == ["zero"]
    assert [row.figures[0].quantity for row in comparison.beyond(0.1)] == ["i.avg", "zero"]


def test_a_file_with_two_figures_of_one_name_is_refused_for_one_of_them_would_not_be_compared():
    twice = results_file("twice.json", ("i.avg", 1.0, None), ("i.avg", 9.0, None), ("i.n", 10.0, None))
    for files in ([A, twice], [twice, A], [twice]):
        with pytest.raises(UsageError, match=r"twice.json: found two figures called t i.avg, expected one"):
            comparing.compare(files)


def test_a_single_file_is_compared_with_what_is_published():
    comparison = comparing.compare([A])
    assert comparison.rows[0].ratios == (0.5,)
    assert [row.figures[0].quantity for row in comparison.beyond(0.25)] == ["i.avg"]


@given(st.floats(0.001, 1e9), st.floats(0.001, 1e9), st.floats(0, 3))
def test_a_figure_differs_when_it_leaves_the_band_around_the_first(first, second, within):
    row = comparing.compare([results_file("a", ("q", first, None)), results_file("b", ("q", second, None))]).rows[0]
    low, high = first - within * first, first + within * first
    margin = 1e-9 * (first + second)
    if second < low - margin or second > high + margin:
        assert row.differs(within)
    elif low + margin < second < high - margin:
        assert not row.differs(within)


@pytest.mark.parametrize(
    ("only", "found"),
    [
        (["i.*"], ["i.avg", "i.n"]),
        (["zero", "i.avg"], ["i.avg", "zero"]),
        (["t i.?"], ["i.n"]),
    ],
)
def test_only_some_quantities(only, found):
    assert [row.figures[0].quantity for row in comparing.compare([A, B], only).rows] == found


@pytest.mark.parametrize(
    ("files", "only", "message"),
    [
        ([A, results_file("o.json", network="osa")], [], "o.json: found network osa, expected s390 as in a.json"),
        ([A, results_file("o.json", ("x", 1.0, None))], [], "o.json: found no figure in common with a.json"),
        ([results_file("e.json")], [], "e.json: found no figure"),
        ([A, B], ["x*"], "--only x*: found no such quantity, expected one of: i.avg, i.n, zero, ..."),
    ],
)
def test_what_cannot_be_compared_is_one_message(files, only, message):
    with pytest.raises(UsageError) as caught:
        comparing.compare(files, only)
    assert str(caught.value) == message


def test_the_table_and_its_legend_name_files_ratios_and_what_is_left_out():
    comparison = comparing.compare([A, B])
    stream = io.StringIO()
    Console(file=stream, width=80, markup=False).print(comparing.table(comparison, 0.1))
    text = stream.getvalue()
    line = next(line for line in text.splitlines() if "i.avg" in line)
    assert line.split() == ["i.avg", "[s]", "2.000", "1.000", "1.200", "1.20", "differs"]
    assert "B/A" in text
    assert comparing.legend(comparison) == [
        "A: a.json (s390, virtual, phb-switch, seed 1)",
        "   1 figure only there",
        "B: b.json (s390, virtual, phb-switch, seed 1)",
        "   1 figure only there",
    ]
