import io

import pytest
from rich.console import Console
from rich.table import Table

from phb_lab.figures import Figure
from phb_lab.report.table import notes, print_figures, print_table, summary

FIGURES = [
    Figure("ipprec-wfq-osa2", "interactive.avg", "s", 0.39, 0.96818, note="a packet of ring costs 0.1 s"),
    Figure("ipprec-wfq-osa2", "interactive.avg_pooled", "s", 0.39),
    Figure("round2_shaped_512k", "single_queue_ordered_dropping.cs1_background_vs_cs2_1M.first_settings.s", "s", 600.0,
           note="the source says more than 580", low=580.0),
    Figure("round2_shaped_512k", "single.1M.kbps", "kbit/s", 370.2, 359, note="a packet of ring costs 0.1 s"),
    Figure("throughput_percent_of_link", "AF4.router", "%", 12.9, 10.3, low=10.0, high=12.0),
]  # fmt: skip


def printed(width, figures=FIGURES, **options):
    stream = io.StringIO()
    console = Console(file=stream, width=width, markup=False, **options)
    print_figures(console, "some network", figures)
    return stream.getvalue()


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_name_and_no_number_is_cut(width):
    text = printed(width)
    assert "…" not in text
    joined = "".join(text.split())
    for word in ("ipprec-wfq-osa2", "interactive.avg", "359", "370.2", "10to12", "MISSED", "≥580.000"):
        assert word in joined
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.parametrize("width", [60, 80])
def test_a_long_name_is_folded(width):
    joined = "".join(printed(width, FIGURES[2:3]).split()).replace("-600.000-≥580.000met", "")
    assert joined.count("single_queue_ordered_dropping.cs1_background_vs_cs2_1M.first_settings.s") == 2


def test_published_figures_and_those_asked_for_are_shown_and_no_others():
    text = printed(120)
    assert "avg_pooled" not in text
    assert "12.90" in text
    assert "1.25" in text


def test_colour_is_for_terminals_only():
    assert "\x1b[" not in printed(100)
    assert "\x1b[" in printed(100, force_terminal=True, color_system="standard")


def test_a_note_is_told_once_with_all_its_figures():
    assert notes(FIGURES) == {
        "a packet of ring costs 0.1 s": ["ipprec-wfq-osa2 interactive.avg", "round2_shaped_512k single.1M.kbps"],
        "the source says more than 580": [
            "round2_shaped_512k single_queue_ordered_dropping.cs1_background_vs_cs2_1M.first_settings.s"
        ],
    }


def test_the_summary_counts():
    assert summary(FIGURES) == "1 of 3 published figures within 25%; 1 of 2 figures as asked"
    assert summary([Figure("t", "q", "s", 1.0)]) == "no figure is published"


def test_a_table_that_several_runs_fill_is_one():
    figures = [Figure(test, quantity, "s", 1.0, 1.0) for quantity in ("a", "b") for test in ("first", "second")]
    text = printed(80, figures)
    assert [line.split()[0] for line in text.splitlines() if line.split()][3:9] == [
        "first", "a", "b", "second", "a", "b",
    ]  # fmt: skip


def test_nothing_is_asked_then_there_is_no_such_column():
    assert "asked" not in printed(80, FIGURES[:2])


def test_sentences_of_a_networks_own_table_are_folded():
    stream = io.StringIO()
    table = Table("test", "some heading")
    table.add_row("a rather long name of a test", "another rather long cell")
    print_table(Console(file=stream, width=30), table)
    assert "…" not in stream.getvalue()
    assert max(map(len, stream.getvalue().splitlines())) <= 30


def test_a_name_that_does_not_fit_goes_on_after_a_seam():
    lines = printed(60, FIGURES[2:3]).splitlines()
    parts = [line.split()[0] for line in lines if line.startswith("  ")]
    assert "".join(parts).startswith("single_queue_ordered_dropping.cs1_background_vs_cs2_1M.first_settings.s")
    assert all(part[-1] in "._" for part in parts[:-1] if part != "[s]"), parts


def test_a_table_is_never_narrower_than_its_words():
    table = Table("test, message", title="words")
    table.add_column("seconds", no_wrap=True)
    table.add_row("queues-load-immediate", "12,345.678")
    stream = io.StringIO()
    print_table(Console(file=stream, width=20), table)
    assert "queues-load-immediate" in stream.getvalue()
    assert "12,345.678" in stream.getvalue()
