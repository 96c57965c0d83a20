import json

import pytest
from typer.testing import CliRunner

from phb_lab.cli import app
from phb_lab.errors import UsageError


def phb_lab(*arguments):
    return CliRunner().invoke(app, arguments, catch_exceptions=True)


def test_without_arguments_all_five_solutions_are_worked_out():
    done = phb_lab("plan")
    assert done.exit_code == 0
    for number in range(1, 6):
        assert f"Solution {number}" in done.output
    assert "30 CIPs in 15 routers carry it; 7 of the routers may fail" in done.output


def test_numbers_of_ones_own(tmp_path):
    path = tmp_path / "plan.json"
    done = phb_lab("plan", "--mode", "ip-datagram", "--data", "250GB", "--window", "3h", "--cips", "2", "--json", path)
    assert done.exit_code == 0
    (plan,) = json.loads(path.read_text())["plans"]
    assert (plan["cips"], plan["routers"], plan["met"]) == (2, 1, True)
    hours = next(step for step in plan["steps"] if step["name"] == "hours")
    assert hours["value"] == pytest.approx(1.887, abs=0.001)
    assert hours["arithmetic"] == "250 GB / 132.48 GB/h"


def test_a_file_of_ones_own(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text("mode: tn3270\nlus: 40000\nactive: 50 %\ntransactions: 600/s\ntitle: ours\n")
    done = phb_lab("plan", "--file", path, "--capacity", "500/s")
    assert done.exit_code == 0
    assert "2 CIPs in 1 router" in done.output


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--mode", "tn3270", "--lus", "40000", "--active", "0.4 %"], "40,000 x 0.4 %"),
        (["--mode", "tn3270", "--lus", "1"], "1 CIP in 1 router carries it"),
        (["--mode", "tn3270", "--lus", "40000", "--cips", "1"], "- 1 CIP does not carry it: 3 are needed"),
        (["--mode", "csna", "--transactions", "0.001/s"], "0.001 transactions/s"),
    ],
)
def test_small_numbers_are_said_as_they_are(arguments, said):
    assert said in phb_lab("plan", *arguments).output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sysplex"], "solution sysplex: expected one of: bulk-backup"),
        (["bulk-backup", "--lus", "5"], "expected solutions, or --file, or numbers of your own"),
        (["--lus", "5"], "--mode: mode: expected one of"),
        (["--mode", "csna", "--lus", "x"], "--lus: found 'x', expected a whole number from 1"),
        (["bulk-backup", "--capacity", "fast"], "--capacity: found 'fast', expected such as 20MB/s"),
    ],
)
def test_bad_input_is_one_message(arguments, message):
    done = phb_lab("plan", *arguments)
    assert isinstance(done.exception, UsageError)
    assert message in str(done.exception)
    assert "\n" not in str(done.exception)
