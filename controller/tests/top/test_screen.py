"""The screen as text, and its keys."""

import os
import re
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from controller.tests.top.made_up_messages import BEGAN, away, detail, hello, network, tick
from phb.top.known import Item, Known
from phb.top.rows import By
from phb.top.screen import NOTHING_IS_WRITTEN, Top

PICTURE = Path(__file__).parents[3] / "docs" / "pictures" / "top.svg"
EVIL = "[red]x[/] \x1b[31m\n\u202e東"


def text_of(app):
    return "\n".join(strip.text.rstrip() for strip in app.screen._compositor.render_strips())


@asynccontextmanager
async def shown(messages, size=(80, 24), by=By.CLASS, attend=lambda switch: None):
    known = Known()
    for message in messages:
        known.take(message)
    app = Top(known, by, attend=attend)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield app, pilot


SCREEN = """\
phb top  10:00:02Z  3 switches
        okay [|||||||              1/3]  rate   24 Mbit/s
not achieved [|||||||              1/3]  drops  6/s
        away [|||||||              1/3]  99 %   3.6 ms at most, edge
switch, class▲         bit/s   pkt/s  drops/s  queued    mean    99 %      state
- core                   12M    1.5k        3      60          3.6 ms       okay
    bulk                  6M     750        2      30  1.2 ms  3.6 ms
    gold                  2M     250        0      10  400 us  1.2 ms       okay
    silver                4M     500        1      20  800 us  2.4 ms
- edge                   12M    1.5k        3      60          3.6 ms  1 not met
    bulk                  6M     750        2      30  1.2 ms  3.6 ms
    gold                  2M     250        0      10  400 us  1.2 ms  1 not met
    silver                4M     500        1      20  800 us  2.4 ms
  west                                                                      away

── events ──────────────────────────────────────────────────────────────────────
10:00:02Z west switch-away: it can't be reached






F1 Help F2 Setup F3 Search F4 Filter F5 Tree F6 Sort F7 By F8 Events F10 Quit"""


async def test_the_screen():
    async with shown([*network(["edge", "core", "west"], 2), *away("west", 2)]) as (app, _):
        assert text_of(app) == SCREEN


KEYS = {
    "order": (["P"], lambda app: [row.item.switch for row in app.listing.rows if not row.depth] == ["core", "edge"]),
    "inverted": (["N", "I"], lambda app: app.listing.rows[0].item == Item("edge")),
    "flat": (["f5", "T"], lambda app: app.listing.rows[0].item == Item("core", None, "bulk")),
    "by port": (["f7"], lambda app: app.listing.rows[1].item == Item("core", "lan")),
    "closed": (["minus"], lambda app: [row.opened for row in app.listing.rows if not row.depth] == [False, True]),
    "all closed": (["asterisk"], lambda app: len(app.listing.rows) == 2),
    "up to its switch": (["down", "down", "left"], lambda app: app.listing.chosen == Item("core")),
    "end": (["end"], lambda app: app.listing.chosen == Item("edge", None, "silver")),
    "past the end and back": (["pagedown", "down", "up", "home", "up"], lambda app: app.listing.cursor == 0),
    "search": (["f3", *"old", "enter", "n"], lambda app: app.listing.chosen == Item("edge", None, "gold")),
    "filter": (["f4", *"gold", "enter"], lambda app: len(app.listing.rows) == 4 and "filter: gold" in text_of(app)),
    "no filter": (["f4", *"gold", "escape"], lambda app: len(app.listing.rows) == 8),
    "trouble only": (["K"], lambda app: len(app.listing.rows) == 2),
    "tagged": (
        ["down", "space", "space"],
        lambda app: app.listing.tags == {Item("core", None, n) for n in ("bulk", "gold")},
    ),
    "untagged": (["space", "U"], lambda app: not app.listing.tags),
    "sorted by": (["f6", "down", "enter"], lambda app: (app.view.order, app.view.descending) == ("rate", True)),
    "columns": (
        ["f2", "space", "escape"],
        lambda app: "bit/s▲" not in text_of(app) and "rate" not in app.listing.columns,
    ),
    "help": (["h"], lambda app: "writes nothing" in text_of(app)),
    "help ended": (["f1", "escape"], lambda app: "writes nothing" not in text_of(app)),
    "killed": (["f9"], lambda app: NOTHING_IS_WRITTEN[:40] in text_of(app)),
    "the item": (["f8", "down", "down"], lambda app: "mean 400 us, 50 % 300 us" in text_of(app)),
    "a switch": (["f8"], lambda app: "class 'gold': 99 % of delay 1.2, bound 1 ms: okay" in text_of(app)),
    "a port": (["f8", "f7", "down", "down"], lambda app: "up, 10 Mbit/s, 120% used, 60 packets wait" in text_of(app)),
}


@pytest.mark.parametrize("case", KEYS)
async def test_keys(case):
    keys, holds = KEYS[case]
    async with shown(network(["edge", "core"], 2)) as (app, pilot):
        await pilot.press(*keys)
        await pilot.pause()
        assert holds(app), text_of(app)


async def test_what_comes_is_shown_but_while_it_is_paused():
    async with shown(network(["edge"], 1)) as (app, pilot):
        await pilot.press("Z")
        app.known.take(tick("edge", 9))
        app._look()
        await pilot.pause()
        assert "PAUSED" in text_of(app)
        assert "60M" not in text_of(app)
        await pilot.press("Z")
        await pilot.pause()
        assert "60M" in text_of(app)


@pytest.mark.parametrize("key", [("f10", 0), ("q", 0), ("ctrl+c", 130), ("ctrl+q", None)])
async def test_the_end(key):
    async with shown(network(["edge"])) as (app, pilot):
        await pilot.press(key[0])
    assert app.return_value == key[1]


async def test_the_cursor_stays_with_its_item_and_the_mouse_works():
    attended = []
    async with shown(network(["edge", "core"], 2), attend=attended.append) as (app, pilot):
        await pilot.press("down", "down")
        assert app.listing.chosen == Item("core", None, "gold")
        await pilot.click(app.listing, offset=(25, 0))  # the heading of the rate
        assert (app.view.order, app.listing.chosen) == ("rate", Item("core", None, "gold"))
        await pilot.click(app.listing, offset=(25, 0))
        assert not app.view.descending
        await pilot.click(app.listing, offset=(0, 5))
        await pilot.pause()
        assert app.listing.chosen == Item("edge")
        assert not app.view.is_open(Item("edge"))
        assert attended == ["core", "edge"]


@pytest.mark.parametrize("size", [(30, 6), (80, 24), (200, 60)])
async def test_any_size_and_200_switches(size):
    names = [f"switch-{number}" for number in range(200)]
    async with shown(network(names), size=size) as (app, pilot):
        assert len(app.listing.rows) == 200  # closed
        await pilot.press("end")
        await pilot.pause()
        assert "switch-199" in text_of(app)
        await pilot.resize_terminal(40, 10)
        await pilot.pause()
        assert "switch-199" in text_of(app)
        app.known.take(hello(names[:3]))
        app._look()
        await pilot.pause()
        assert app.listing.chosen == Item("switch-2")


async def test_names_are_shown_as_they_are():
    messages = [hello([EVIL]), tick(EVIL, 0), detail(EVIL, 0, unmet=True, classes=(EVIL, "b"))]
    messages += away(EVIL, 1)[2:]
    async with shown(messages, size=(100, 30)) as (app, pilot):
        for keys in ([], ["f8"], ["down"], ["f7"], ["f4", "x"]):
            await pilot.press(*keys)
            await pilot.pause()
            assert "[red]x[/] \\x1b[31m\\n\\u202e東" in text_of(app)


async def test_numbers_that_nobody_measures_are_shown_somehow():
    huge = detail("edge", 0, unmet=True)
    huge["t"] = huge["objectives"][0]["since"] = 1e300
    for each in (*huge["ports"].values(), *huge["ports"]["wan"]["queues"].values(), *huge["classes"].values()):
        each |= {"bps": 1.7e308, "pps": 1.7e308, "queued": 10**18, "speed": 10**18}
    summary = tick("edge", 0)
    summary["switches"]["edge"] |= {"bps": 1e308, "dropped": -1.0, "delay": 1e300}
    async with shown([hello(["edge"]), summary, huge, summary]) as (app, pilot):
        for keys in (["f8"], ["down"], ["down", "P"], ["f7"], ["down"], ["down"]):
            await pilot.press(*keys)
            await pilot.pause()
            assert "--:--:--Z" in text_of(app)


async def test_the_picture():
    """With PHB_RECORD=1 the docs' picture is drawn anew, without the fonts that it would ask a network for."""
    messages = list(network(["core", "edge", "west"], 60))
    for message in messages:
        if message["kind"] == "detail":
            gold = message["classes"]["gold"]
            second = (message["t"] - BEGAN) / 1000
            gold["bps"] = 2e6 + 1e6 * (second % 7)
            gold["delays"] = gold["delays"] | {"99": 1200 + 300 * (second % 11)}
    async with shown([*messages, *away("west", 60)], size=(90, 30)) as (app, pilot):
        await pilot.press("f8", "down", "down")
        await pilot.pause()
        drawn = app.export_screenshot(title="phb top --inventory network.yaml")
    assert "gold" in drawn
    if os.environ.get("PHB_RECORD"):
        PICTURE.write_text(re.sub(r"@font-face \{.*?\}\n", "", drawn, flags=re.DOTALL))
    assert "font-face" not in PICTURE.read_text()


async def test_nothing_at_all():
    async with shown([]) as (app, pilot):
        await pilot.press("f8", "space", "enter", "end", "n", "minus", "P")
        await pilot.pause()
        assert "waiting for figures" in text_of(app)
