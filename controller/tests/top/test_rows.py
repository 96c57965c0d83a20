"""Items, their figures, and in which order they are listed."""

import math

import pytest

from controller.tests.top.made_up_messages import away, detail, hello, network, tick
from phb.top.known import EVENTS, PAST, Figures, Item, Known
from phb.top.rows import By, View


@pytest.fixture
def known():
    known = Known()
    for message in network(["b10", "b9", "c"], 2):
        known.take(message)
    return known


def names(view, known):
    return [".".join(name or "" for name in row.item).strip(".") for row in view.rows(known)]


VIEWS = {
    "classes": (View(), ["b9", "b9..bulk", "b9..gold", "b9..silver", "b10"]),
    "closed": (View(open_all=False), ["b9", "b10", "c"]),
    "one opened": (View(open_all=False, turned={Item("b9")}), ["b9", "b9..bulk", "b9..gold", "b9..silver", "b10"]),
    "ports": (View(By.PORT), ["b9", "b9.lan", "b9.wan", "b9.wan.bulk"]),
    "switches": (View(By.SWITCH, order="state", descending=True), ["b10", "b9", "c"]),
    "flat": (View(tree=False), ["b9..bulk", "b9..gold", "b9..silver", "b10..bulk"]),
    "flat ports": (View(By.PORT, tree=False), ["b9.lan", "b9.wan.bulk", "b9.wan.gold"]),
    "by rate": (View(tree=False, order="rate"), ["b9..gold", "b10..gold", "c..gold", "b9..silver"]),
    "by drops": (View(tree=False, order="dropped", descending=True), ["b9..bulk", "b10..bulk", "c..bulk"]),
    "those without last": (View(By.PORT, tree=False, order="dropped"), ["b9.wan.gold", "b10.wan.gold"]),
    "words": (View(words="GOLD"), ["b9", "b9..gold", "b10", "b10..gold", "c", "c..gold"]),
    "one of two words": (View(words="c|b9", by=By.SWITCH), ["b9", "c"]),
    "a group": (View(words="site-c", by=By.SWITCH), ["c"]),
    "nothing": (View(words="nothing"), []),
    "no idle ones": (View(By.PORT, idle=False), ["b9", "b9.wan", "b9.wan.bulk"]),
    "trouble only": (View(okay=False), ["b10", "b10..gold"]),
    "trouble at ports": (View(By.PORT, tree=False, okay=False), ["b9.lan", "b10.lan", "c.lan"]),
}


@pytest.mark.parametrize("case", VIEWS)
def test_what_is_listed(case, known):
    view, expected = VIEWS[case]
    listed = names(view, known)
    assert listed[: len(expected)] == expected
    if case in ("closed", "switches", "words", "one of two words", "a group", "nothing", "trouble only"):
        assert listed == expected


def test_numbers_are_in_their_order(known):
    known.take(hello(["2", "10"]))
    assert names(View(), known) == ["2", "10"]
    assert names(View(descending=True), known) == ["10", "2"]


def test_figures_of_each_kind_of_item(known):
    assert known.figures(Item("b10")) == Figures(12e6, 1500.0, 3.0, 60, None, 3600.0, 0, 1, 0, "not-achieved")
    assert known.figures(Item("b10", "wan")) == Figures(12e6, 1500.0, None, 60)
    assert known.figures(Item("b10", "lan")).condition == "down"
    assert known.figures(Item("b10", "wan", "bulk")) == Figures(6e6, 750.0, 2.0, 30)
    assert known.figures(Item("b10", None, "gold")) == Figures(2e6, 250.0, 0.0, 10, 400.0, 1200.0, 0, 1)
    assert [each["of"] for each in known.objectives(Item("b9", "wan", "gold"))] == ["class 'gold'"]
    assert list(known.objectives(Item("b9", "wan"))) == []


def test_a_switch_that_is_away_has_no_figures_and_a_gap_in_its_past(known):
    for message in away("c", 2):
        known.take(message)
    assert known.figures(Item("c")) == Figures(condition="away")
    assert known.figures(Item("c", None, "gold")) == Figures()
    bps = known.past(Item("c", None, "gold")).bps
    assert list(bps[:2]) == [1e6, 2e6]
    assert math.isnan(bps[2])
    assert len(known.events) == 1


def test_the_past_and_events_have_a_bound(known):
    for second in range(PAST + 5):
        known.take(detail("c", second))
        known.take(tick("c", second))
    assert len(known.past(Item("c", "wan")).bps) == len(known.past(Item("c")).bps) == PAST
    for second in range(EVENTS + 5):
        known.take(away("c", second)[-1])
        known.take(away("c", second)[-1])  # told again
    assert len(known.events) == EVENTS


def test_a_pushs_outcome_takes_its_place_and_who_is_gone_is_forgotten(known):
    mark = {"kind": "mark", "t": 1.0, "switch": "c", "number": 7, "command": "push", "user": "ann"}
    mark |= {"outcome": "started", "inserted": 0, "modified": 0, "deleted": 0}
    known.take(mark)
    known.take(mark | {"outcome": "applied", "inserted": 3})
    assert [(each["number"], each["outcome"]) for each in known.events] == [(7, "applied")]
    known.follow([])
    assert known.summaries == known.details == {}
    assert known.past(Item("c")) is None
