"""Pairs of policies: what is alike however it is said, and what each difference is called.

The texts are in differences.txt; with PHB_RECORD=1 they are written anew.
"""

import os
import re
from pathlib import Path

import pytest

from controller.tests.comparing.pairs import ALIKE, AT, DIFFERENT, compared, policy_text
from phb.comparing import checking

GOLDEN = Path(__file__).with_name("differences.txt")


def golden():
    parts = re.split(r"^## (.*)\n", GOLDEN.read_text(), flags=re.MULTILINE) if GOLDEN.exists() else [""]
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@pytest.mark.parametrize("name", ALIKE)
@pytest.mark.parametrize("swapped", [False, True], ids=["", "swapped"])
def test_said_differently_is_alike(name, swapped):
    a, b = ALIKE[name][::-1] if swapped else ALIKE[name]
    told = compared(a, b)
    assert told.regions == ()
    assert told.alike


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_is_told(phb, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for side, text in zip("AB", DIFFERENT[name], strict=True):
        Path(side).write_text(policy_text(text))
    code, out, err = phb("diff", "A", "B", "--at", AT.isoformat(), "--format", "yaml")
    assert (code, err) == (1, "")
    if os.environ.get("PHB_RECORD"):
        texts = golden() | {name: out}
        GOLDEN.write_text("".join(f"## {each}\n{texts[each]}" for each in DIFFERENT if each in texts))
    assert out == golden()[name]


def test_the_other_way_round_the_same_packets_differ():
    for a, b in DIFFERENT.values():
        one, other = compared(a, b), compared(b, a)
        assert {region.packets for region in one.regions} == {region.packets for region in other.regions}


def test_hours_are_compared_at_every_moment():
    rule = "rules: [{{name: r, permission: blocked, valid: {{time: 8:00-{}, time-zone: UTC}}}}]"
    told = compared(rule.format("18:00"), rule.format("17:00"))
    (region,) = told.regions
    assert region.packets == ("IP, in line or lan, 17:00-18:00",)
    assert region.example.at == "2026-11-24T17:00:00+00:00"
    assert compared(rule.format("18:00"), rule.format("17:00"), always=False).alike


def test_an_example_that_does_not_show_its_region_is_told_loudly(phb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checking, "shown", lambda what, a, b: (None, False))
    for side, text in zip("AB", DIFFERENT["marks"], strict=True):
        Path(side).write_text(policy_text(text))
    code, out, err = phb("diff", "A", "B", "--format", "yaml")
    assert code == 1
    assert "1 region differs" in out
    wrong = "region 1: phb explain shows no difference of ToS for the example"
    assert err == f"phb: error of phb itself, please report it: {wrong}\n"


def test_no_other_pair_has_a_text():
    assert list(golden()) == list(DIFFERENT)


def test_a_share_changes_by_the_weight_of_another_class():
    queues = "{{class: voice, bandwidth: {{weight: 40}}}}, {{class: class-default, bandwidth: {{weight: {}}}}}"
    text = (
        "classes: [{name: voice}]\nactions: [{name: a, class: voice}]\n"
        "rules: [{name: r, match: {protocol: udp}, actions: [a]}]\n"
        "queueing: [{port: line, schedule: {kind: classes, queues: [%s]}}]\n"
    )
    told = compared(*(text % queues.format(weight) for weight in (60, 20)))
    assert [[each.what for each in region.differences] for region in told.regions] == [["share"], ["share"]]
