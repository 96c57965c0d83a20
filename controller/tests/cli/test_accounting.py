"""``phb accounting``: who had what, in which time, as table, CSV and JSON."""

import csv
import io
import json

import pytest

from controller.tests.monitor.made_up_history import write_history


@pytest.fixture
def history(tmp_path):
    path = tmp_path / "history.sqlite"
    write_history(path, ("edge", "core"))
    return path


def asked(phb, history, *words):
    return phb("accounting", "--history", history, "--time-zone", "Europe/Berlin", *words)


def as_json(phb, history, *words):
    code, out, err = asked(phb, history, "--json", *words)
    assert (code, err) == (0, "")
    return json.loads(out)


@pytest.mark.parametrize(("month", "minutes"), [("2026-11", 10), ("2026-10", 10), ("2026-12", 0)])
def test_a_month_begins_where_its_zone_says(phb, history, month, minutes):
    found = as_json(phb, history, "--by", "class", "--month", month)
    assert [each["came_packets"] for each in found["accounts"]] == [1000 * minutes] * (2 if minutes else 0)
    assert found["total"]["came_packets"] == 2000 * minutes
    assert [gap["counted"] for gap in found["gaps"]] == ([month == "2026-11"] * 2 if minutes else [])


def test_by_policy(phb, history):
    found = as_json(phb, history, "--by", "policy", "--month", "2026-11", "--switch", "edge")
    assert [(each["switch"], each["name"], each["direction"]) for each in found["accounts"]] == [
        ("edge", "voice", ""),
        ("edge", "web", "outgoing"),
    ]
    account = found["accounts"][0]
    assert (account["came_packets"], account["came_bytes"], account["mean_delay_ms"]) == (5000, 5000 * 500, None)
    assert (found["from"], found["to"]) == ("2026-11-01T00:00+0100", "2026-12-01T00:00+0100")


@pytest.mark.parametrize("by", ["policy", "stream"])
def test_what_no_rule_took_has_a_name(phb, tmp_path, by):
    path = tmp_path / "no-rule.sqlite"
    write_history(path, rules=("", "web"))
    wanted = ("--by", by, "--month", "2026-11")
    expected = {"policy": ["(no rule)", "web"], "stream": ["metered"]}[by]
    assert [each["name"] for each in as_json(phb, path, *wanted)["accounts"]] == expected
    _, out, _ = asked(phb, path, "--csv", *wanted)
    assert [row["name"] for row in csv.DictReader(io.StringIO(out))] == expected
    _, out, _ = asked(phb, path, *wanted)
    assert ("(no rule)" in out) is (by == "policy")
    named = as_json(phb, path, "--name", "(no rule)", *wanted)["accounts"]
    assert [each["came_packets"] for each in named] == ([5000] if by == "policy" else [])


def test_a_class_has_sums_of_all_figures_and_delays(phb, history):
    account = as_json(phb, history, "--by", "class", "--month", "2026-11", "--switch", "core")["accounts"][0]
    assert account == {
        "switch": "core",
        "name": "gold",
        "direction": "",
        "came_packets": 10_000,
        "came_bytes": 5_000_000,
        "sent_packets": 9000,
        "sent_bytes": 4_500_000,
        "dropped_packets": 1000,
        "dropped_bytes": 500_000,
        "marked_packets": 500,
        "mean_delay_ms": pytest.approx(1.3, rel=0.3),
        "delay_99_percent_ms": pytest.approx(25, rel=0.1),
    }


def test_subnets_and_switches_are_sums(phb, history):
    subnets = as_json(phb, history, "--by", "subnet", "--month", "2026-11")["accounts"]
    assert [(each["name"], each["came_packets"]) for each in subnets] == [
        ("10.1.0.0/16 > 10.2.0.0/16", 10_000),
        ("anywhere > anywhere", 10_000),
    ]
    switches = as_json(phb, history, "--by", "switch", "--month", "2026-11")["accounts"]
    assert [(each["switch"], each["came_packets"]) for each in switches] == [("core", 10_000), ("edge", 10_000)]


def test_minutes_of_a_span(phb, history):
    words = ("--by", "stream", "--from", "2026-11-01T00:02", "--to", "2026-11-01T00:05", "--switch", "edge")
    found = as_json(phb, history, *words)
    assert [(each["name"], each["came_packets"]) for each in found["accounts"]] == [("metered", 1500)]
    assert as_json(phb, history, "--by", "stream", "--from", "2026-10-31")["total"]["came_packets"] == 2 * 10_000


def test_table_and_csv(phb, history):
    code, out, err = asked(phb, history, "--month", "2026-11")
    assert (code, err) == (0, "")
    assert "web (outgoing)" in " ".join(out.split())
    assert "is counted at its end" in " ".join(out.split())
    assert "4 accounts, 2026-11-01T00:00+0100 to 2026-12-01T00:00+0100" in out
    _, out, _ = asked(phb, history, "--month", "2026-11", "--csv", "--by", "class")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["switch"], row["sent_packets"]) for row in rows] == [("core", "9000"), ("edge", "9000")]


def series(phb, history, *words):
    words = ("--by", "class", "--switch", "edge", "--json", *words)
    code, out, err = asked(phb, history, *words)
    assert (code, err) == (0, "")
    return [(line["time"], line["came_packets"]) for line in map(json.loads, out.splitlines())]


def test_minutes_hours_and_days_one_by_one(phb, history):
    minutes = series(phb, history, "--month", "2026-11", "--each", "minute")
    assert minutes == [(f"2026-11-01T00:0{minute}:00+0100", 1000) for minute in range(10)]
    assert series(phb, history, "--month", "2026-11", "--each", "hour") == [("2026-11-01T00:00:00+0100", 10_000)]
    # Days are those of UTC.
    assert series(phb, history, "--from", "2026-10-01", "--each", "day") == [("2026-10-31T01:00:00+0100", 20_000)]
    assert series(phb, history, "--month", "2026-11", "--each", "second") == []
    assert series(phb, history, "--month", "2026-11", "--each", "hour", "--name", "silver") == []


def test_a_series_is_comma_separated(phb, history):
    _, out, _ = asked(phb, history, "--month", "2026-11", "--each", "hour", "--name", "voice", "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["time"], row["switch"], row["name"], row["came_packets"]) for row in rows] == [
        ("2026-11-01T00:00:00+0100", "core", "voice", "5000"),
        ("2026-11-01T00:00:00+0100", "edge", "voice", "5000"),
    ]


def test_one_name(phb, history):
    found = as_json(phb, history, "--month", "2026-11", "--name", "voice")
    assert [(each["switch"], each["name"]) for each in found["accounts"]] == [("core", "voice"), ("edge", "voice")]
    assert found["total"]["came_packets"] == 10_000


def test_a_csv_has_no_formulas(phb, tmp_path):
    write_history(tmp_path / "h", ("=1+1",), ("@voice", "web"))
    _, out, _ = asked(phb, tmp_path / "h", "--month", "2026-11", "--csv")
    assert [row[:2] for row in csv.reader(io.StringIO(out))][1:] == [["'=1+1", "'@voice"], ["'=1+1", "web"]]


WRONG = {
    ("--month", "November"): "--month: found 'November', expected a month such as 2026-11",
    ("--month", "2026-13"): "--month: found '2026-13', expected a month such as 2026-11",
    ("--month", "2026-11", "--from", "2026-11-01"): "--month: found '2026-11' beside --from, expected one of them",
    ("--to", "2026-11-01"): "--to: found '2026-11-01' without --from, expected both, or --month",
    ("--from", "noon"): "--from: found 'noon', expected an ISO 8601 time of a whole minute such as 2026-11-01T08:00",
    (
        "--from",
        "2026-11-01T00:00:30",
    ): "--from: found '2026-11-01T00:00:30', expected an ISO 8601 time of a whole minute such as 2026-11-01T08:00",
    (
        "--from",
        "2026-11-02",
        "--to",
        "2026-11-01",
    ): "--to: found '2026-11-01' that isn't after '2026-11-02', expected a later time",
    ("--switch", "other", "--month", "2026-11"): "--switch: found 'other', expected one of core, edge",
    ("--csv", "--json"): "--csv: found --csv beside --json, expected one of them",
    ("--time-zone", "Mars"): "--time-zone: found 'Mars', expected a time zone such as Europe/Berlin, or UTC",
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_words(phb, history, words):
    code, out, err = phb("accounting", "--history", history, *words)
    assert (code, out, err) == (2, "", f"phb: {WRONG[words]}\n")


def test_a_file_that_is_not_there(phb, tmp_path):
    code, _, err = phb("accounting", "--history", tmp_path / "none")
    assert code == 2
    assert err == f"phb: {tmp_path}/none: found no such file, expected a file that phb monitor --history has written\n"
    (tmp_path / "text").write_text("no database " * 100)
    code, _, err = phb("accounting", "--history", tmp_path / "text")
    assert (code, "found a damaged file" in err) == (2, True)


def test_the_database_that_controllers_share(phb, tmp_path, database, postgresql, monkeypatch):
    write_history(tmp_path / "h", ("core",))
    write_history(database, ("edge", "core"))
    month = ("--month", "2026-11", "--by", "class", "--json", "--time-zone", "Europe/Berlin")
    whole = {("edge", 10_000), ("core", 10_000)}
    for said, environment, expected in (
        (("--history", database), {}, whole),
        (("--state", database), {}, whole),
        ((), {"PHB_STATE": database}, whole),
        ((), {"PHB_STATE": database, "PHB_HISTORY": str(tmp_path / "h")}, {("core", 10_000)}),
        (("--history", tmp_path / "h"), {"PHB_STATE": database}, {("core", 10_000)}),
    ):
        with monkeypatch.context() as patch:
            for name, value in environment.items():
                patch.setenv(name, value)
            code, out, err = phb("accounting", *said, *month)
        assert (code, err) == (0, "")
        found = json.loads(out)
        assert {(each["switch"], each["came_packets"]) for each in found["accounts"]} == expected
        assert {gap["switch"] for gap in found["gaps"]} == {switch for switch, _ in expected}
    empty = postgresql.url(postgresql.fresh(), tcp=False)
    code, _, err = phb("accounting", "--history", empty, *month)
    assert (code, "found a database without a history of phb" in err) == (2, True)
    code, _, err = phb("accounting", "--history", "postgresql://postgres@127.0.0.1:1/x", *month)
    assert (code, "the database doesn't answer" in err) == (1, True)
