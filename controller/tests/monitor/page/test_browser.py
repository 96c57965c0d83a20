"""The page in a real browser, told by a server that says what a test wants."""

import json
import os
import re
from itertools import pairwise
from operator import contains, eq
from time import monotonic, sleep
from urllib.parse import urlencode

import pytest
from made_up_messages import (
    BEGAN,
    CLASSES,
    a_mark,
    an_event,
    detail,
    hello,
    minutes,
    tick,
)
from page_server import Refusal, page_server

from phb.monitor.page import page_of
from tests.browser import TOO_PALE, TOO_WIDE, viewing

MANY = [f"{site}-{number:02d}" for site in ("paris", "lyon", "lille", "nice", "brest") for number in range(40)]
LINES = [
    "rules:",
    "  - name: voice",
    "    match: {protocol: udp}",
    "  - name: bulk",
    "    match: {protocol: tcp}",
    "ports:",
]
RULES = [
    {"rule": name, "direction": "outgoing", "file": "edge.yaml", "line": line}
    for name, line in (("voice", 2), ("bulk", 4))
]
EXPLAINED = {
    "packets": [
        {
            "packet": 1, "ingress_port": "lan", "endpoints": "10.0.0.1:700 > 10.1.0.2:1282", "length": 114,
            "input_rule": None, "output_rule": {"rule": "voice", "file": "edge.yaml", "line": 2, "fields": []},
            "tokens": {"committed": {"before": 8000, "after": 7886}}, "colour": "green", "class": "voice",
            "dscp": {"before": "CS0", "after": "EF"}, "egress_port": "wan", "queue": "class-wfq conversation 20",
            "level": 7, "weight": 2, "rank": 8070450532247929060, "drop_reason": None, "decided_by": "schedule",
            "steps": [{"stage": "classify", "words": "rule 'bulk' comes later", "file": "edge.yaml", "line": 4}],
            "objectives": [],
        }
    ],
    "warnings": [],
}  # fmt: skip
QUEUES = {
    "ports": [
        {
            "port": 2, "name": "wan", "strategy": "class-based", "depth": 4, "hold_queue": 256, "drops": 9,
            "queues": [
                {
                    "class": "voice", "strategy": "fifo", "level": 0, "depth": 4, "limit": 64, "drops": 9,
                    "conversations": [
                        {
                            "conversation": 1, "depth": 4, "weight": 21,
                            "flow": {
                                "source": "192.0.2.1", "destination": "203.0.113.80", "protocol": 6, "tos": 0,
                                "source_port": 1024, "destination_port": 443,
                            },
                        }
                    ],
                }
            ],
        }
    ]
}  # fmt: skip
TIMES = """() => performance.getEntriesByName('draw').map(entry => entry.duration)"""
NARROW_BOXES = ["#tabs"]
HANGS_S = 40


@pytest.fixture(scope="module")
def driven(tmp_path_factory):
    with viewing(tmp_path_factory.mktemp("profile"), "html[data-ready]", loopback=True) as viewer:
        viewer.tab.set_default_timeout(HANGS_S * 1000)
        yield viewer


@pytest.fixture
def server():
    with page_server() as server:
        yield server


@pytest.fixture
def viewer(driven, server):
    """The browser; whatever a test did, the page complained of connections alone, and asked only its server."""
    yield driven
    driven.tab.goto("about:blank")
    told = [text for text in driven.told if "Failed to load resource" not in text and "ERR_" not in text]
    assert told == []
    assert [url for url in driven.asked if not url.startswith((server.url, "file:", "about:", "data:"))] == []


def about_edge(server, *messages, names=("edge",), past=(), **others):
    server.first = [hello(names, **others), tick(names, BEGAN), *messages]
    server.answers["/api/switches/edge/series"] = list(past)
    server.answers["/api/switches/edge/policy"] = {"files": [{"path": "edge.yaml", "lines": LINES}], "rules": RULES}
    server.answers["/api/switches/edge/queues"] = QUEUES
    server.answers["/api/explain"] = EXPLAINED


def at(**state):
    return f"#{urlencode(state)}"


def text_of(tab, selector):
    return re.sub(r"\s+", " ", tab.locator(selector).inner_text()).strip()


def reads(tab, selector, text, alike=eq):
    """Wait until an element's text is this, or contains it: what the server tells is drawn a little later."""
    end = monotonic() + HANGS_S
    while not alike(found := text_of(tab, selector), text):
        assert monotonic() < end, f"{selector}: found {found!r}, expected {text!r}"
        sleep(0.03)


def wait(tab, selector, text):
    tab.locator(selector, has_text=text).first.wait_for()


def becomes(tab, expression, deadline_s=HANGS_S):
    """Wait until JavaScript says yes. Playwright's own waiting evaluates text in the page, which its policy forbids."""
    end = monotonic() + deadline_s
    while not tab.evaluate(expression):
        assert monotonic() < end, expression
        sleep(0.03)


def shot(tab, name):
    if folder := os.environ.get("PHB_SCREENSHOTS"):
        tab.screenshot(path=f"{folder}/page-{name}.png")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_view_is_readable_at_any_width_in_light_and_dark(viewer, server, scheme):
    names = ["edge", *MANY[:6]]
    links = list(pairwise(names))
    past = minutes(seconds=300, slow_from=BEGAN - 100_000, gap=(BEGAN - 200_000, BEGAN - 180_000))
    happened = (an_event(BEGAN - 90_000, "class 'voice' is late"), a_mark(BEGAN - 95_000))
    about_edge(server, *happened, names=names, links=links, past=past, writable=True)
    server.first[1] = tick(names, BEGAN, {"edge": "not-achieved", MANY[2]: "away", MANY[3]: "waiting"})
    for width in (360, 1280):
        tab = viewer.show(server.url, width, scheme)
        for view in ("", "figures", "queues", "explain", "policy"):
            state = {"switch": "edge", "view": view, "packet": "udp", "file": "edge.yaml", "line": 4} if view else {}
            tab.evaluate("hash => location.hash = hash", at(**state))
            ready = {
                "": ".tile",
                "figures": ".legend .value",
                "queues": "meter",
                "explain": ".steps",
                "policy": "tr.never",
            }
            tab.wait_for_selector(ready[view])
            assert tab.evaluate("document.documentElement.scrollWidth") <= width
            assert tab.evaluate(TOO_WIDE, NARROW_BOXES) == []
            assert tab.evaluate(TOO_PALE) == []
            shot(tab, f"{view or 'network'}-{width}-{scheme}")


def test_figures_change_as_they_are_told(viewer, server):
    about_edge(server, names=("edge", "core"))
    tab = viewer.show(server.url)
    reads(tab, "#counts", "✓2 okay")
    rate = tab.locator(".tile", has_text="edge").locator(".rate")
    before = rate.inner_text()
    server.tell(tick(("edge", "core"), BEGAN + 20_000))
    becomes(tab, f"document.querySelectorAll('.rate')[1].textContent !== {json.dumps(before)}")
    tab.locator(".tile", has_text="edge").click()
    wait(tab, "#switch-h", "edge")
    server.tell(detail(t=BEGAN + 21_000))
    wait(tab, "#port-legend, .legend .name", "voice")
    points = "document.querySelector('figure .area').getAttribute('d').length"
    length = tab.evaluate(points)
    server.tell(detail(t=BEGAN + 22_000))
    becomes(tab, f"{points} > {length}")


def test_a_fault_is_seen_where_it_happens_and_what_was_pushed_before(viewer, server):
    names = ("edge", "core", "far")
    about_edge(server, names=names, past=minutes(seconds=60))
    tab = viewer.show(server.url + at(switch="edge"))
    wait(tab, "#switch-told", "okay")
    server.tell(
        a_mark(BEGAN + 1000, outcome="started"), a_mark(BEGAN + 1000), detail(t=BEGAN + 2000, load=1.6, unmet=True)
    )
    server.tell(tick(names, BEGAN + 2000, {"edge": "not-achieved", "far": "away"}))
    server.tell(an_event(BEGAN + 2000, "the switch doesn't answer", "far", "switch-away"))
    wait(tab, "#switch-told", "1 objective not achieved")
    reads(tab, "#counts", "✓1 okay ▲1 not achieved ✕1 away")
    reads(tab, "#event", "far: the switch doesn't answer", contains)
    reads(tab, ".happened", "push 12 by anna (push): 3 inserted, 1 modified, 2 deleted, applied", contains)
    assert tab.locator(".happened li").count() == 1
    reads(tab, ".objectives .not-achieved .name", "class 'voice': 99 % delay")
    reads(tab, ".objectives .not-achieved .value", "41.5 ms, at most 20.0 ms")
    reads(tab, "section:last-child .legend", "queue limit", contains)
    assert tab.evaluate("[...document.querySelectorAll('.plot .mark')].every(mark => mark.getAttribute('d'))")
    # The mark's words stand beside the crosshair.
    tab.locator(".happened button").hover()
    tab.wait_for_selector(".happened li.near")
    tab.locator("#back").click()
    for words in ("edge", "not achieved"):
        wait(tab, ".tile >> nth=0", words)
    tab.locator("#counts .away").click()
    wait(tab, "#found", "1 of 3 switches")
    reads(tab, "#tiles", "✕ far away", contains)


def test_why_a_switch_is_away_is_told_and_its_charts_have_a_gap(viewer, server):
    past = [*minutes(until=BEGAN - 30_000, seconds=30), *minutes(seconds=10)]
    about_edge(server, past=past)
    server.first[1] = tick(("edge",), BEGAN, {"edge": "away"})
    tab = viewer.show(server.url + at(switch="edge"))
    wait(tab, ".legend .name", "voice")
    # Each part of an area is a path of its own.
    assert tab.evaluate("document.querySelector('figure .area').getAttribute('d').match(/M/g).length") == 2
    server.tell(detail(t=BEGAN + 1000, away="connection refused"))
    wait(tab, "#switch-told", "away: connection refused")


def test_200_switches_are_shown_at_each_tick(viewer, server, record_property):
    links = [(MANY[number], MANY[number // 5]) for number in range(1, 200)]
    groups = {name: [name.partition("-")[0]] for name in MANY}
    server.first = [hello(MANY, links, groups), *(tick(MANY, BEGAN + second * 1000) for second in range(-119, 1))]
    tab = viewer.show(server.url)
    reads(tab, "#counts", "✓200 okay")
    for drawn in (".tile", "a.node"):
        becomes(tab, f"document.querySelectorAll('{drawn}').length === 200")
    times = []
    for second in range(1, 6):
        state = {MANY[second * 7]: "not-achieved", MANY[second * 11]: "away"}
        server.tell(tick(MANY, BEGAN + second * 1000, state))
        wait(tab, ".tile.not-achieved b", MANY[second * 7])
        times += tab.evaluate(TIMES)
    reads(tab, "#counts", "✓198 okay ▲1 not achieved ✕1 away")
    tab.locator("#find").fill("lille away")
    wait(tab, "#found", "0 of 200 switches")
    tab.locator("#find").fill("brest")
    wait(tab, "#found", "40 of 200 switches")
    tab.locator("#find").fill("")
    tab.locator("#sort").select_option("groups")
    wait(tab, "#tiles h3", "paris")
    assert tab.locator("#tiles h3").all_inner_texts() == ["brest", "lille", "lyon", "nice", "paris"]
    shot(tab, "200")
    record_property(
        "summary", f"page, 200 switches: {max(times):.0f} ms at most for a tick, {min(times):.0f} ms at least"
    )


EVIL = "<img src=x onerror=\"console.log('ran')\">\"'</script>\u202e"


def spoilt(value):
    if isinstance(value, dict):
        return {name: spoilt(one) for name, one in value.items()}
    if isinstance(value, list):
        return [spoilt(one) for one in value]
    return EVIL if isinstance(value, str) else value


def test_names_are_text_wherever_they_come_from(viewer, server):
    names = (EVIL, "edge")
    past = [detail(EVIL, BEGAN - second * 1000, (EVIL, *CLASSES), (EVIL,), 1.6) for second in range(5)]
    for one in past:
        for objective in one["objectives"]:
            objective.update(of=EVIL, measure=EVIL, unit=EVIL)
        for rule in one["policies"]:
            rule.update(rule=EVIL, direction=EVIL, traffic_class=EVIL)
        for figures in one["classes"].values():
            figures["dropped"] = {EVIL: 3.0}
    mark = a_mark(BEGAN - 1000, switch=EVIL, command=EVIL, user=EVIL, outcome=EVIL)
    server.first = [
        hello(names, [(EVIL, "edge"), ("edge", f"host {EVIL}")], {EVIL: [EVIL]}, title=EVIL, writable=True),
        tick(names, BEGAN), an_event(BEGAN - 2000, EVIL, EVIL, EVIL), an_event(BEGAN - 2000, EVIL, "", "test"), mark,
    ]  # fmt: skip
    server.first[0]["switches"][0]["address"] = EVIL
    base = f"/api/switches/{EVIL}"
    server.answers[f"{base}/series"] = past
    text = [EVIL, f"  - {EVIL}"]
    rules = [{"rule": EVIL, "direction": EVIL, "file": EVIL, "line": 1}]
    server.answers[f"{base}/policy"] = {"files": [{"path": EVIL, "lines": text}], "rules": rules}
    queues, explained = spoilt(QUEUES), spoilt(EXPLAINED)
    server.answers[f"{base}/queues"] = queues
    server.answers["/api/explain"] = explained
    tab = viewer.show(server.url)
    tab.locator("#find").fill(EVIL[:8])
    tab.locator("#sort").select_option("groups")
    tab.wait_for_selector(".tile")
    for view, ready in (("figures", ".legend .value"), ("queues", "table"), ("explain", ".steps"), ("policy", ".code")):
        tab.evaluate("hash => location.hash = hash", at(switch=EVIL, view=view, packet=EVIL))
        tab.wait_for_selector(ready)
    tab.locator("#switch-actions button").click()
    reads(tab, "dialog h2", "\\u{202e}", contains)
    tab.locator("dialog button").first.click()
    server.answers["/api/explain"] = {"error": EVIL}
    server.answers[f"{base}/queues"] = server.answers[f"{base}/policy"] = Refusal(500, EVIL)
    for view in ("explain", "queues", "policy"):
        tab.evaluate("hash => location.hash = hash", at(switch=EVIL, view=view, packet=EVIL))
        wait(tab, ".wrong", "img src")
    tab.evaluate("hash => location.hash = hash", at(switch=f"no {EVIL}"))
    wait(tab, "#switch-told", "There is no switch of this name")
    assert tab.locator("img").count() == 0
    assert "ran" not in viewer.told


@pytest.mark.parametrize(
    "given",
    [
        "#switch=%E0%A4%A&view=__proto__&window=constructor&sort=toString&from=NaN&only=valueOf",
        "#switch=__proto__&view=toString&port=constructor&class=__proto__&from=-1e300&window=all",
        f"#{'x' * 50_000}",
    ],
    ids=["unknown", "of every object", "long"],
)
def test_an_address_that_nobody_made_shows_what_there_is(viewer, server, given):
    names = ("edge", "__proto__", "constructor")
    server.first = [hello(names), tick(names, BEGAN)]
    server.answers["/api/switches/__proto__/series"] = minutes("__proto__", seconds=3, classes=names, ports=names)
    tab = viewer.show(server.url + given)
    wait(tab, "#state", "live")
    unknown = tab.locator("#switch-told", has_text="There is no switch of this name")
    tab.locator(".tile, .plot").or_(unknown).first.wait_for(state="attached")


def test_it_can_be_used_by_keys_alone(viewer, server):
    about_edge(server, a_mark(BEGAN - 5000), names=("edge", "core"), past=minutes(seconds=120))
    tab = viewer.show(server.url)
    tab.keyboard.press("/")
    tab.keyboard.type("edge")
    wait(tab, "#found", "1 of 2")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    tab.keyboard.press("Enter")
    wait(tab, "#switch-h", "edge")
    assert tab.evaluate("document.activeElement.id") == "switch-h"
    tab.wait_for_selector(".legend .value")
    wait(tab, ".happened", "push 12 by anna")
    tab.locator(".charts .plot").first.focus()
    tab.keyboard.press("Home")
    wait(tab, "#spoken", "Mbit/s of 100 Mbit/s")
    tab.keyboard.press("End")
    for _ in range(2):
        tab.keyboard.press("ArrowLeft")
    tab.wait_for_selector(".tip:not([hidden])")
    crosses = "[...document.querySelectorAll('figure:not([hidden]) .cross:not(.now)')]"
    assert tab.evaluate(f"{crosses}.length > 3 && {crosses}.every(cross => cross.getAttribute('d'))")
    wait(tab, ".tip", "push 12 by anna")
    tab.keyboard.press("Escape")
    tab.wait_for_selector(".tip", state="hidden")
    tab.keyboard.press("p")
    wait(tab, "#state", "paused at")
    tab.keyboard.press("p")
    wait(tab, "#state", "live")
    tab.keyboard.press("u")
    tab.wait_for_selector(".tile")


def test_an_address_shows_a_colleague_the_same_view(viewer, server):
    about_edge(server, past=minutes(seconds=600, ports=("wan", "dmz")))
    until = BEGAN - 240_000
    tab = viewer.show(server.url + at(switch="edge", port="wan", window=60, **{"from": int(until - 60_000)}))
    wait(tab, ".legend .name", "voice")
    expected = tab.evaluate("t => new Date(t).toTimeString().slice(0, 8)", until)
    reads(tab, "#state", f"paused at {expected}")
    assert tab.locator("figure h4").first.inner_text() == "wan"
    assert tab.locator(".charts.wide figure").count() == 1
    figures = text_of(tab, ".charts.wide figcaption")
    server.tell(detail(t=BEGAN + 1000, load=0.1))
    wait(tab, "#state", expected)
    assert text_of(tab, ".charts.wide figcaption") == figures
    tab.locator("#pause").click()
    wait(tab, "#state", "live")
    tab.get_by_role("button", name="all ports").click()
    tab.locator(".legend button", has_text="business").first.click()
    becomes(tab, "document.querySelectorAll('.charts:not(.wide) figure').length === 1")
    assert "class=business" in tab.url
    assert "from" not in tab.url


def test_a_lost_connection_is_told_and_its_figures_come_once(viewer, server):
    about_edge(server, past=minutes(seconds=30))
    tab = viewer.show(server.url + at(switch="edge"))
    wait(tab, ".legend .name", "voice")
    server.refusing = True
    server.cut()
    wait(tab, "#lost", "No connection since")
    wait(tab, "#state", "not connected")
    shot(tab, "lost")
    # A monitor that began anew knows nothing of before, and tells some of it twice.
    server.first = [hello(("edge",), now=BEGAN + 60_000), tick(("edge",), BEGAN + 60_000)]
    server.answers["/api/switches/edge/series"] = minutes(until=BEGAN + 60_000, seconds=4)
    server.refusing = False
    tab.wait_for_selector("#lost", state="hidden")
    for _ in range(2):
        server.tell(*minutes(until=BEGAN + 62_000, seconds=3))
    points = "document.querySelector('figure .area').getAttribute('d')"
    becomes(tab, f"{points}.match(/M/g).length === 2")
    # The newer part is 6 seconds: a point each, there and back, and one where it begins.
    becomes(tab, f"{points}.split('M').at(-1).match(/L/g).length === 2 * (6 + 1) - 1")
    assert server.opened[-1] == {"switch": "edge"}


def test_a_slow_server_keeps_nothing_else_waiting(viewer, server):
    about_edge(server, past=minutes(seconds=60))
    server.wait_s = 0.7
    tab = viewer.show(server.url + at(switch="edge"))
    wait(tab, "#switch-told", "reading the last minutes")
    server.tell(detail(t=BEGAN + 1000))
    wait(tab, ".legend .name", "voice")
    tab.evaluate("hash => location.hash = hash", at(switch="edge", view="queues"))
    wait(tab, "section", "Asking the switch")
    tab.wait_for_selector("meter")


def test_queues_show_who_waits_and_stay_open_while_they_change(viewer, server):
    about_edge(server)
    tab = viewer.show(server.url + at(switch="edge", view="queues"))
    tab.wait_for_selector("meter")
    reads(tab, "tbody tr:has(meter)", "voice 4 64 fifo, level 0 9 1 conversation", contains)
    tab.locator("summary").click()
    changed = json.loads(json.dumps(QUEUES).replace('"depth": 4', '"depth": 31'))
    server.answers["/api/switches/edge/queues"] = changed
    for second in range(1, 100):
        # Each tick is an occasion to ask, but the switch is asked once a second.
        server.tell(tick(("edge",), BEGAN + second * 1000))
        tab.wait_for_timeout(200)
        if tab.locator("td.number", has_text="31").count():
            break
    reads(tab, "details[open]", "tcp 192.0.2.1:1024 > 203.0.113.80:443", contains)


def test_a_packet_is_explained_and_leads_to_the_policys_lines(viewer, server):
    about_edge(server, past=minutes(seconds=3))
    server.first.append(detail(t=BEGAN))
    asked = []
    server.answers["/api/explain"] = lambda query: asked.append(query) or EXPLAINED
    tab = viewer.show(server.url + at(switch="edge", view="explain"))
    tab.locator(".examples button").first.click()
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".steps")
    assert asked == [{"switch": "edge", "packet": "tcp 192.0.2.1:1024 > 198.51.100.2:80 dscp af31 length 1440"}]
    told = text_of(tab, "article")
    for words in (
        "output rule voice edge.yaml:2", "marks CS0 → EF", "green, committed 8,000 → 7,886 bytes",
        "rank 8070450532247929060",
    ):  # fmt: skip
        assert words in told
    tab.get_by_role("link", name="edge.yaml:4").click()
    tab.wait_for_selector("tr[aria-current]")
    reads(tab, "tr[aria-current]", "4 never - name: bulk", contains)
    assert tab.locator("tr.never").count() == 2
    counted = r"2 [\d.]+k? packets/s · [\d.]+ Mbit/s"
    reads(tab, ".code tbody tr:nth-child(2)", counted, lambda found, pattern: re.match(pattern, found))
    assert "1,234,567 packets" in tab.locator(".counters").nth(1).get_attribute("title")
    server.answers["/api/explain"] = {"error": "found 'x', expected a packet"}
    tab.evaluate("hash => location.hash = hash", at(switch="edge", view="explain", packet="x"))
    wait(tab, ".wrong", "found 'x', expected a packet")


def test_only_a_page_that_may_write_takes_a_push_back_and_says_which(viewer, server):
    about_edge(server, a_mark(BEGAN - 5000), past=minutes(seconds=10))
    tab = viewer.show(server.url + at(switch="edge"))
    wait(tab, ".legend .name", "voice")
    assert not tab.locator("#switch-actions button").is_visible()
    server.tell(hello(("edge",), writable=True))
    tab.locator("#switch-actions button").click()
    reads(tab, "dialog", "Take back push 12 of edge?", contains)
    reads(tab, "dialog", "anna made it", contains)
    reads(tab, "dialog", "3 inserted, 1 modified, 2 deleted", contains)
    shot(tab, "taking-back")
    tab.get_by_role("button", name="Leave it").click()
    assert server.posted == []
    tab.locator("#switch-actions button").click()
    server.answers["/api/switches/edge/rollback"] = Refusal(409, "the switch refused it")
    tab.get_by_role("button", name="Take it back").click()
    wait(tab, "dialog .wrong", "It was not taken back: the switch refused it")
    server.answers["/api/switches/edge/rollback"] = {}
    tab.get_by_role("button", name="Take it back").click()
    tab.wait_for_selector("dialog", state="hidden")
    ((path, headers, body), again) = server.posted
    assert path == "/api/switches/edge/rollback"
    assert headers["X-Phb"] == "page"
    assert json.loads(body) == {"push": 12}
    assert again[2] == body


def recording(seconds=600):
    """A run in virtual time; `far` goes away after half of it."""
    names, span = ("edge", "far"), {"first": 0.0, "last": seconds * 1000.0}
    lines = [hello(names, [("edge", "far")], title="s390", now=seconds * 1000.0, recording=span)]
    lines += [an_event(0.0, "test 1: FIFO", "", "test"), an_event(seconds * 500.0, "test 2: WFQ", "", "test")]
    lines += minutes("edge", seconds * 1000.0, seconds, slow_from=seconds * 600.0)
    lines += minutes("far", seconds * 500.0, seconds // 2)
    lines += [detail("far", t * 1000.0, away="stopped") for t in range(seconds // 2 + 1, seconds + 1)]
    lines.append(a_mark(seconds * 600.0))
    return [json.dumps(line) for line in lines]


def replay(tab, shown):
    wait(tab, "#at", "10:00 of 10:00")
    reads(tab, "#counts", "✓0 okay ▲1 not achieved ✕1 away")
    tab.locator("#moment").fill("200000")
    wait(tab, "#at", "3:20 of 10:00")
    reads(tab, "#counts", "✓2 okay")
    reads(tab, "#state", "test 1: FIFO")
    tab.locator(".tile", has_text="edge").click()
    wait(tab, ".legend .name", "voice")
    reads(tab, ".objectives .okay:first-child .value", "4.20 ms, at most 20.0 ms")
    reads(tab, ".happened", "│ 0:00 test 1: FIFO")
    tab.locator("#moment").focus()
    tab.keyboard.press("End")
    wait(tab, ".happened", "push 12 by anna")
    tab.locator("#tests").select_option(label="test 2: WFQ")
    wait(tab, "#at", "5:00 of 10:00")
    wait(tab, "#state", "test 2: WFQ")
    tab.set_viewport_size({"width": 360, "height": 700})
    becomes(tab, "document.querySelector('.plot svg').clientWidth < 360")
    assert tab.evaluate(TOO_WIDE, NARROW_BOXES) == []
    shot(tab, shown)
    tab.locator("#speed").select_option("300")
    tab.locator("#play").click()
    wait(tab, "#at", "10:00 of 10:00")
    wait(tab, "#switch-told", "1 objective not achieved")
    assert tab.locator("#play").get_attribute("aria-label") == "play"


def test_a_recording_is_replayed_with_time_as_a_slider(viewer, server):
    lines = recording()
    server.first = [json.loads(lines[0])]
    server.answers["/recording"] = "\n".join(lines).encode()
    tab = viewer.show(server.url)
    replay(tab, "replay")
    # Nothing more comes: it asks for nothing more.
    assert len(server.opened) == 1


def test_a_run_that_ends_while_it_is_watched_becomes_a_recording(viewer, server):
    lines = recording()
    running = {**json.loads(lines[0]), "now": 300_000.0}
    running.pop("recording")
    server.first = [running, tick(("edge", "far"), 300_000.0)]
    tab = viewer.show(server.url)
    wait(tab, "#state", "live 5:00")
    server.answers["/recording"] = "\n".join(lines).encode()
    server.tell(json.loads(lines[0]))
    wait(tab, "#at", "10:00 of 10:00")


def test_one_file_replays_without_any_server(viewer, tmp_path):
    path = tmp_path / "run.html"
    path.write_text(page_of(recording()))
    tab = viewer.show(path)
    replay(tab, "file")
    assert [url for url in viewer.asked if not url.startswith(("file:", "data:"))] == []


def test_a_file_whose_recording_is_damaged_says_so(viewer, tmp_path):
    path = tmp_path / "run.html"
    path.write_text(page_of(recording(4)).replace('id="data">e', 'id="data">A', 1))
    viewer.ready = "#state"
    try:
        wait(viewer.show(path), "#state", "The recording can't be read")
    finally:
        viewer.ready = "html[data-ready]"
