import json

import pytest

from phb_lab.errors import UsageError
from phb_lab.planning import capacity, requirement


@pytest.mark.parametrize(
    ("key", "text", "attribute", "value"),
    [
        ("transactions", "20M/h", "transactions_per_s", 20e6 / 3600),
        ("transactions", "3k/s", "transactions_per_s", 3000),
        ("transactions", "90/min", "transactions_per_s", 1.5),
        ("lus", "30000", "lus", 30_000),
        ("pus", "6000", "pus", 6000),
    ],
)
def test_units_are_read(key, text, attribute, value):
    asked = requirement.parse("given", {"mode": "csna", key: text}, "")
    assert getattr(asked, attribute) == pytest.approx(value)


def test_an_amount_of_data_has_its_window():
    asked = requirement.parse("given", {"mode": "cmpc", "data": "0.5 TB", "window": "90min"}, "")
    assert (asked.data_bytes, asked.window_s) == (5e11, 5400)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"mode": "csna"}, "f: nothing is asked for"),
        ({"lus": 5}, "f: mode: expected one of ip-datagram, csna, tn3270, cmpc"),
        ({"mode": "csna", "data": "5 GB"}, "f: data and window: found one of them, expected both"),
        ({"mode": "csna", "data": "5", "window": "3 h"}, "f: data: found '5', expected a positive amount"),
        ({"mode": "csna", "lus": "0"}, "f: lus: found '0', expected a whole number from 1"),
        ({"mode": "csna", "lus": 5, "active": "110 %"}, "f: active: found '110 %', expected at most 100 %"),
        ({"mode": "csna", "luss": 5}, "f: found the key 'luss', expected one of: title, mode"),
        ({"mode": "csna", "transactions": "0/s"}, "f: transactions: found '0/s', expected a positive rate"),
        ({"mode": "csna", "lus": 5, "spare-routers": "-1"}, "f: spare-routers: found '-1', expected a whole number"),
        (
            {"mode": "csna", "lus": "9" * 5_000},
            f"f: lus: found '{'9' * 5_000}', expected a whole number from 1 to 1,000,000,000",
        ),
        (
            {"mode": "csna", "transactions": "9" * 400 + "/s"},
            f"f: transactions: found '{'9' * 400}/s', expected a positive",
        ),
        ({"mode": " ", "lus": 5}, "f: mode: found nothing, expected a text"),
    ],
)
def test_a_wrong_key_or_value_is_named(data, message):
    with pytest.raises(UsageError) as raised:
        requirement.parse("f", data, "f")
    assert str(raised.value).startswith(message)


@pytest.mark.parametrize("text", ["- 1", "a: [", "published: {}"])
def test_a_file_that_is_no_requirement_is_one_message(tmp_path, text):
    path = tmp_path / "own.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"own.yaml: expected") as raised:
        requirement.from_file(path)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("20MB/s", ("bytes_per_s", 2e7)), ("711/s", ("transactions_per_s", 711)), ("16000 sessions", ("lus", 16_000))],
)
def test_a_capacity_of_ones_own_is_read_by_its_unit(text, expected):
    assert requirement.capacity(text) == expected


def test_an_unknown_mode_names_the_known_ones():
    with pytest.raises(UsageError, match="mode x: expected one of: ip-datagram, csna, tn3270, cmpc"):
        capacity.of_mode("x")


def test_a_results_file_takes_the_place_of_the_published_figures(tmp_path):
    path = tmp_path / "cip.json"
    figures = [{"test": "tn3270_server", "quantity": "lus_1000_tps", "measured": 800.0}]
    path.write_text(json.dumps({"network": "cip", "figures": figures}))
    rates = capacity.of_mode("tn3270", path)["transactions_per_s"]
    assert [rate.value for rate in rates] == [800, 711]
    assert rates[0].origin.startswith("simulated")
    assert rates[1].origin.startswith("published")


@pytest.mark.parametrize("text", ["", "[]", '{"network": "s390"}', '{"network": "cip"}'])
def test_another_file_in_its_place_is_one_message(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="--results"):
        capacity.of_mode("csna", path)
