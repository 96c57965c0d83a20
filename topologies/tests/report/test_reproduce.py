from dataclasses import replace
from pathlib import Path

import pytest

from phb_lab.report.reproduce import command
from phb_lab.study import Option


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ""),
        ({"seed": 7}, ""),
        ({"duration_s": 60}, " --short"),
        ({"duration_s": 40}, " --duration 40"),
        ({"mode": "mininet", "target": "bmv2"}, " --mode mininet --target bmv2"),
        ({"options": {"transmit_ring": 6}}, " --set transmit_ring=6"),
        ({"options": {"transmit_ring": 1}}, ""),
    ],
)
def test_only_what_differs_from_the_defaults_is_said(study, runs, monkeypatch, changes, words):
    monkeypatch.setattr(type(study), "options", (Option("transmit_ring", 1, 0, 9, ""),))
    ran = [replace(run, **changes) for run in runs]
    assert command(study, ran, ()) == f"phb-lab run s390 --seed {changes.get('seed', 1)}{words}"


def test_some_tests_are_named_and_further_runs_are_said_where_they_are_no_default(study, runs, monkeypatch):
    assert command(study, runs[1:], ()) == "phb-lab run s390 --seed 1 --test wfq"
    assert command(study, runs[1:], runs) == "phb-lab run s390 --seed 1 --test wfq --extra"
    assert command(study, runs, runs) == "phb-lab run s390 --seed 1"
    monkeypatch.setattr(type(study), "extra_runs", lambda self, tests, options: [(tests[0], {})])
    assert command(study, runs, ()) == "phb-lab run s390 --seed 1 --no-extra"


def test_policies_of_ones_own_are_named(study, runs):
    changed = [
        replace(run, network=run.network.with_policies({"c3640": (Path("my own.yaml"), Path("b.yaml"))}))
        for run in runs
    ]
    assert command(study, changed, ()) == "phb-lab run s390 --seed 1 --policy 'c3640=my own.yaml,b.yaml'"
