import errno
import json
from pathlib import Path

import jsonschema
import pytest

from phb_lab import data_files
from phb_lab.figures import Figure, byte_figures, group_figures, with_published
from phb_lab.networks.s390 import STUDY
from phb_lab.outcome import NANOSECONDS, Transaction
from phb_lab.report.document import results
from phb_lab.report.files import write_json

SECOND = NANOSECONDS
PAIRS = {"ftp": 2, "interactive": 1}


def transactions():
    # Pair a answers twice as fast as pair b: the mean over pairs is not the mean over transactions.
    return [
        Transaction("a", "ftp", 0, 1 * SECOND),
        Transaction("a", "ftp", 1 * SECOND, 2 * SECOND),
        Transaction("b", "ftp", 0, 4 * SECOND),
        Transaction("i", "interactive", 0, SECOND // 2),
    ]


def by_quantity(figures):
    return {figure.quantity: figure.measured for figure in figures}


def test_averages_are_over_pairs_as_the_sources_tool_has_them():
    figures = by_quantity(group_figures("t", transactions(), PAIRS))
    assert figures["ftp.avg"] == pytest.approx(2.5)
    assert figures["ftp.avg_pooled"] == pytest.approx(2.0)
    assert figures["total.avg"] == pytest.approx((1 + 4 + 0.5) / 3)


def test_numbers_extremes_and_the_worst_served_pair():
    figures = by_quantity(group_figures("t", transactions(), PAIRS))
    assert (figures["ftp.n"], figures["ftp.min"], figures["ftp.max"]) == (3, 1.0, 4.0)
    assert figures["ftp.pair_min_n"] == 1
    assert figures["total.n"] == 4


def test_bytes_follow_from_completed_transactions():
    figures = by_quantity(byte_figures("t", transactions(), {"ftp": (100, 10_000), "interactive": (100, 1_400)}))
    assert figures == {"total.bytes_sent": 400, "total.bytes_received": 31_400}


@pytest.mark.parametrize("test", STUDY.published["tests"], ids=lambda test: test["name"])
def test_the_sources_total_rows_are_means_over_pairs(test):
    mean = (3 * test["interactive"]["avg"] + 30 * test["ftp"]["avg"]) / 33
    assert mean == pytest.approx(test["total"]["avg"], rel=1e-4)


def test_published_values_are_found_by_path():
    published = {"ftp": {"avg": 2.0}, "total": {"n": 5}}
    figures = with_published([Figure("t", "ftp.avg", "s", 1.0), Figure("t", "ftp.none", "s", 1.0)], published)
    assert [figure.published for figure in figures] == [2.0, None]
    assert figures[0].ratio == pytest.approx(0.5)


def test_the_results_file_follows_its_schema_and_replaces_the_old_one(tmp_path):
    path = tmp_path / "deep" / "results.json"
    document = results(
        network="s390",
        mode="virtual",
        target="phb-switch",
        seed=1,
        wall_s=0.12345,
        simulated_s=300.0,
        figures=group_figures("t", transactions(), PAIRS),
        more={},
    )
    write_json(path, {"old": True})
    write_json(path, document)
    jsonschema.validate(json.loads(path.read_text()), data_files.results_schema())
    assert [entry.name for entry in path.parent.iterdir()] == ["results.json"]


def test_a_pair_that_completed_nothing_is_starved():
    figures = by_quantity(group_figures("t", transactions(), {"ftp": 3, "interactive": 1}))
    assert figures["ftp.pair_min_n"] == 0
    assert figures["interactive.pair_min_n"] == 1


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    write_json(Path("/dev/null"), {})
    assert Path("/dev/null").is_char_device()
    (tmp_path / "link.json").symlink_to(tmp_path / "target.json")
    write_json(tmp_path / "link.json", {"new": True})
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "target.json").read_text()) == {"new": True}


@pytest.mark.parametrize(
    ("measured", "stored"), [(0.000031117123, 0.0000311171), (0.0, 0.0), (8929200.1234567, 8929200.123457), (1.5, 1.5)]
)
def test_a_small_figure_is_stored_with_six_digits(measured, stored):
    document = results(
        network="n", mode="virtual", target="phb-switch", seed=1, wall_s=0.0, simulated_s=1, more={},
        figures=[Figure("t", "q", "s", measured)],
    )  # fmt: skip
    assert document["figures"][0]["measured"] == stored


def test_a_full_disk_is_said_of_the_file_and_leaves_nothing_new(tmp_path, monkeypatch):
    path = tmp_path / "r.json"
    path.write_text("old")

    def write_half(self, text):
        with self.open("w") as file:
            file.write(text[:1])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", write_half)
    with pytest.raises(OSError, match="No space left on device") as raised:
        write_json(path, {"figures": []})
    assert raised.value.filename == str(path)
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("r.json", "old")]


def test_a_full_device_is_named_too():
    with pytest.raises(OSError, match="No space left on device") as raised:
        write_json(Path("/dev/full"), {"figures": []})
    assert raised.value.filename == "/dev/full"
